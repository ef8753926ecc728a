package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The source of a picture has one line for each thing in it:
//
//	title: What it is called
//	alt: What it says, for those who cannot see it
//	size 660x240
//	box api 20,40 130x56 server: API server | its first line is bold
//	text 85,120: words, centred there | and a second line
//	shell 20,160: $ what a terminal shows, as it is: | and ` and  spaces, too
//	arrow api.e cache.w: above it | below it
//	line 20,200 640,200 dashed
//
// A point is X,Y, or the middle of a side of a box (n, e, s, w), which +N or -N moves along
// that side. A _ for X or Y repeats that of the previous point. An arrow or a line goes
// through any number of points and has round corners. `Code` is in backquotes. The words
// after the geometry are classes of style.css. What is drawn later is on top. A line that
// begins with # is a comment.
//
// There is no automatic layout: look at the picture and change the numbers. Only the legend is drawn
// below by itself, if there's more than one colour, or green. A colour has one meaning: see meanings. What is green
// is what the picture is about, and a line says what that is:
//
//	legend shown: the leader

//go:embed style.css
var style string

type box struct{ x, y, w, h float64 }

type picture struct {
	title, alt string
	w, h       float64
	boxes      map[string]box
	colours    map[string]string // those that are used, and what they mean
	body       bytes.Buffer
}

// meanings are what the colours mean, in the order of a legend.
var meanings = []struct{ class, words string }{
	{"server", "the API server"}, {"yours", "code that you write"}, {"shown", ""}, {"bad", "what goes wrong"},
}

// draw returns the SVG. An error begins with the number of the line.
func draw(source string) ([]byte, error) {
	p := &picture{boxes: map[string]box{}, colours: map[string]string{}}
	for number, line := range strings.Split(source, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		head, text, _ := strings.Cut(line, ":")
		if err := p.add(strings.Fields(head), strings.TrimSpace(text)); err != nil {
			return nil, fmt.Errorf("%d: %w", number+1, err)
		}
	}
	if p.title == "" || p.alt == "" || p.w == 0 {
		return nil, fmt.Errorf("1: a picture needs a title, an alt and a size")
	}
	if err := p.legend(); err != nil {
		return nil, err
	}
	var svg bytes.Buffer
	fmt.Fprintf(&svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %[1]g %[2]g\" role=\"img\" aria-labelledby=\"title alt\">\n", p.w, p.h)
	fmt.Fprintf(&svg, "<title id=\"title\">%s</title>\n<desc id=\"alt\">%s</desc>\n<style>\n%s</style>\n", html.EscapeString(p.title), html.EscapeString(p.alt), style)
	for _, head := range []string{"head", "bad"} {
		fmt.Fprintf(&svg, "<marker id=\"%s\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"10\" markerHeight=\"10\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"%[1]s\" d=\"M0 0 10 5 0 10Z\"/></marker>\n", head)
	}
	fmt.Fprintf(&svg, "<rect class=\"page\" x=\".5\" y=\".5\" width=\"%g\" height=\"%g\" rx=\"8\"/>\n", p.w-1, p.h-1)
	svg.Write(p.body.Bytes())
	svg.WriteString("</svg>\n")
	return svg.Bytes(), nil
}

func (p *picture) add(words []string, text string) error {
	verb, args := strings.Join(words[:min(1, len(words))], ""), words[min(1, len(words)):]
	switch {
	case verb == "title":
		p.title = text
	case verb == "alt":
		p.alt = text
	case verb == "size" && len(args) == 1:
		var err error
		p.w, p.h, err = pair(args[0], "x")
		return err
	case verb == "box" && len(args) >= 3:
		p.use(args[3:])
		return p.box(args[0], args[1], args[2], args[3:], text)
	case verb == "legend" && len(args) == 1 && text != "":
		p.colours[args[0]] = text
	case verb == "text" && len(args) >= 1:
		p.use(args[1:])
		x, y, err := pair(args[0], ",")
		return cmp.Or(err, p.text(x, y, args[1:], text, p.page()))
	case verb == "shell" && len(args) == 1:
		x, y, err := pair(args[0], ",")
		return cmp.Or(err, p.shell(x, y, text))
	case (verb == "arrow" || verb == "line") && len(args) >= 2:
		return p.path(verb, args, text)
	default:
		return fmt.Errorf("cannot read %q; lines are title:, alt:, size WxH, box NAME X,Y WxH, text X,Y:, shell X,Y:, arrow FROM TO, line FROM TO and legend CLASS: TEXT", strings.Join(words, " "))
	}
	return nil
}

func (p *picture) box(name, at, size string, class []string, text string) error {
	x, y, err := pair(at, ",")
	if err != nil {
		return err
	}
	w, h, err := pair(size, "x")
	if err != nil {
		return err
	}
	if x < 0 || y < 0 || x+w > p.w || y+h > p.h {
		return fmt.Errorf("the box %s is not within the %gx%g of the picture", name, p.w, p.h)
	}
	p.boxes[name] = box{x, y, w, h}
	radius := 6.0
	if slices.Contains(class, "state") {
		radius = h / 2
	}
	fmt.Fprintf(&p.body, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"%g\"/>\n", strings.Join(append([]string{"box"}, class...), " "), x, y, w, h, radius)
	lines := strings.Count(text, "|")
	return p.text(x+w/2, y+h/2-float64(lines)*lineHeight/2, []string{"in"}, text, p.boxes[name])
}

// use notes the colours of a thing.
func (p *picture) use(class []string) {
	for _, m := range meanings {
		if _, known := p.colours[m.class]; !known && slices.Contains(class, m.class) {
			p.colours[m.class] = m.words
		}
	}
}

// legend says what the colours mean, below all else. One alone needs no words, but for green.
func (p *picture) legend() error {
	if words, is := p.colours["shown"]; is && words == "" {
		return fmt.Errorf("1: a box is green, and nothing says what that is; write legend shown: and a few words")
	}
	if len(p.colours) < 2 && p.colours["shown"] == "" {
		return nil
	}
	x, y := 30.0, p.h+2
	p.h += 28
	for _, m := range meanings {
		words, is := p.colours[m.class]
		if !is {
			continue
		}
		fmt.Fprintf(&p.body, "<rect class=\"box %s\" x=\"%g\" y=\"%g\" width=\"16\" height=\"14\" rx=\"3\"/>\n", m.class, x, y)
		if err := p.text(x+24, y+7, []string{"small", "start"}, words, p.page()); err != nil {
			return err
		}
		x += 24 + width(words, []string{"small"}) + 22
	}
	return nil
}

func (p *picture) page() box { return box{0, 0, p.w, p.h} }

const lineHeight = 20.0

var code = regexp.MustCompile("`([^`]*)`")

// text writes lines around x, the first one at the height of y. Each has to fit in what it's in.
func (p *picture) text(x, y float64, class []string, text string, in box) error {
	if text == "" {
		return nil
	}
	for i, line := range strings.Split(text, "|") {
		line = strings.TrimSpace(line)
		class := append(slices.Clone(class), "n"+strconv.Itoa(i))
		if err := fits(line, x, class, in); err != nil {
			return err
		}
		line = code.ReplaceAllString(html.EscapeString(line), `<tspan class="code">$1</tspan>`)
		fmt.Fprintf(&p.body, "<text class=\"%s\" x=\"%g\" y=\"%g\">%s</text>\n", strings.Join(class, " "), x, y+5+float64(i)*lineHeight, line)
	}
	return nil
}

// fits wants a line of a text within the box or the page, in a wide font, too.
func fits(line string, x float64, class []string, in box) error {
	w := width(line, class)
	left := x - w/2
	if slices.Contains(class, "start") {
		left = x
	} else if slices.Contains(class, "end") {
		left = x - w
	}
	if over := max(in.x+rim-left, left+w-in.x-in.w+rim); over > 0 {
		return fmt.Errorf("%q is %.0f wide in a wide font, and reaches %.0f too far", line, w, over)
	}
	return nil
}

// shell writes a line of a terminal. A command is bold, and columns stay columns: SVG would
// make one space of many.
func (p *picture) shell(x, y float64, text string) error {
	class := "code start"
	if strings.HasPrefix(text, "$ ") {
		class += " strong"
	}
	if err := fits(strings.ReplaceAll(text, "`", "'"), x, strings.Fields(class), p.page()); err != nil {
		return err
	}
	fmt.Fprintf(&p.body, "<text class=\"%s\" x=\"%g\" y=\"%g\">%s</text>\n", class, x, y+5, html.EscapeString(strings.ReplaceAll(text, " ", "\u00a0")))
	return nil
}

// path draws a line through points, and the text beside its longest part: above and
// below it, or right and left of it.
func (p *picture) path(verb string, args []string, text string) error {
	var points [][2]float64
	for len(args) > 0 && strings.ContainsAny(args[0], ",.") {
		point, err := p.point(args[0], points)
		if err != nil {
			return err
		}
		points, args = append(points, point), args[1:]
	}
	if len(points) < 2 {
		return fmt.Errorf("%s needs two points, such as cache.e and 20,40", verb)
	}
	long, last := 1, len(points)-1
	fmt.Fprintf(&p.body, "<path class=\"%s\" d=\"M%g %g", strings.Join(append([]string{verb}, args...), " "), points[0][0], points[0][1])
	for i := 1; i <= last; i++ {
		if distance(points[i-1], points[i]) > distance(points[long-1], points[long]) {
			long = i
		}
		corner := points[i]
		if i < last {
			from, to := near(corner, points[i-1]), near(corner, points[i+1])
			fmt.Fprintf(&p.body, " L%g %g Q%g %g %g %g", from[0], from[1], corner[0], corner[1], to[0], to[1])
		} else {
			fmt.Fprintf(&p.body, " L%g %g", corner[0], corner[1])
		}
	}
	p.body.WriteString("\"/>\n")
	a, b := points[long-1], points[long]
	x, y := (a[0]+b[0])/2, (a[1]+b[1])/2
	first, second, _ := strings.Cut(text, "|")
	p.use(args)
	if a[0] == b[0] {
		return cmp.Or(p.text(x+9, y, append(args, "label", "start"), first, p.page()),
			p.text(x-9, y, append(args, "label", "end"), second, p.page()))
	}
	return cmp.Or(p.text(x, y-14, append(args, "label"), first, p.page()),
		p.text(x, y+15, append(args, "label"), second, p.page()))
}

var side = regexp.MustCompile(`^(\w+)\.([nesw])([+-]\d+)?$`)

func (p *picture) point(word string, before [][2]float64) (point [2]float64, err error) {
	if m := side.FindStringSubmatch(word); m != nil {
		b, ok := p.boxes[m[1]]
		if !ok {
			return point, fmt.Errorf("there is no box %s above this line", m[1])
		}
		along, _ := strconv.ParseFloat(m[3], 64) // without a number, 0
		return map[string][2]float64{
			"n": {b.x + b.w/2 + along, b.y}, "s": {b.x + b.w/2 + along, b.y + b.h},
			"w": {b.x, b.y + b.h/2 + along}, "e": {b.x + b.w, b.y + b.h/2 + along},
		}[m[2]], nil
	}
	if len(before) > 0 {
		last := before[len(before)-1]
		x, y, _ := strings.Cut(word, ",")
		word = strings.Replace(x, "_", fmt.Sprint(last[0]), 1) + "," + strings.Replace(y, "_", fmt.Sprint(last[1]), 1)
	}
	point[0], point[1], err = pair(word, ",")
	return point, err
}

func pair(word, between string) (a, b float64, err error) {
	first, second, _ := strings.Cut(word, between)
	a, err = strconv.ParseFloat(first, 64)
	if err == nil {
		b, err = strconv.ParseFloat(second, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%q are not two numbers with a %q between them", word, between)
	}
	return a, b, nil
}

func distance(a, b [2]float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }

// near is a little way from a corner on the line to the next point.
func near(corner, next [2]float64) [2]float64 {
	part := min(8/distance(corner, next), 0.5)
	return [2]float64{corner[0] + (next[0]-corner[0])*part, corner[1] + (next[1]-corner[1])*part}
}
