package load

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// The picture of a ramp, in pixels.
const (
	width, height = 640, 320
	left, right   = 60, 20
	top, bottom   = 40, 50
	plotWidth     = width - left - right
	plotHeight    = height - top - bottom
)

// Picture writes a ramp as an SVG: over the rate, both on logarithmic scales, how late the pods
// are.
func Picture(out io.Writer, steps []Step) error {
	if len(steps) < 2 {
		return fmt.Errorf("a picture of a ramp needs two steps, and there are %d", len(steps))
	}
	x := logarithmic(steps[0].Rate, steps[len(steps)-1].Rate, left, left+plotWidth)
	y := logarithmic(0.01, 100, top+plotHeight, top)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="20">seconds from due to pod</text>`+"\n", left)
	for _, seconds := range []float64{0.01, 0.1, 1, 10, 100} {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n",
			left, left+plotWidth, y(seconds), y(seconds), left-8, y(seconds)+4, seconds)
	}
	for _, s := range steps {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", x(s.Rate), top+plotHeight+18, s.Rate)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">Ats a second</text>`+"\n", left+plotWidth/2, height-10)
	curve(&b, steps, "p50", "#326ce5", x, y, func(s Step) float64 { return s.P50 })
	curve(&b, steps, "p99", "#c0392b", x, y, func(s Step) float64 { return s.P99 })
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// curve draws a value of all steps, with its name at the end.
func curve(b *strings.Builder, steps []Step, name, colour string, x, y func(float64) float64, value func(Step) float64) {
	var points []string
	for _, s := range steps {
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(s.Rate), y(value(s))))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(s.Rate), y(value(s)), colour)
	}
	last := steps[len(steps)-1]
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end" fill="%s">%s</text>`+"\n", x(last.Rate)-8, y(value(last))-8, colour, name)
}

// logarithmic maps values from low to high to pixels; what is lower or higher, to the ends.
func logarithmic(low, high, from, to float64) func(float64) float64 {
	return func(value float64) float64 {
		share := math.Log(math.Max(value, low)/low) / math.Log(high/low)
		return from + math.Min(share, 1)*(to-from)
	}
}
