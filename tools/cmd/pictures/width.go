package main

import (
	"slices"
	"strings"
)

// A reader's fonts are the reader's. DejaVu is about the widest that a browser falls back to, so what fits
// in it fits everywhere. These are its widths from the blank to ~, in thousandths of the font's size.
var (
	plain = [...]int{
		317, 400, 459, 837, 636, 950, 779, 274, 390, 390, 500, 837, 317, 360, 317, 336, 636, 636, 636, 636, 636, 636, 636, 636,
		636, 636, 336, 336, 837, 837, 837, 530, 1000, 684, 686, 698, 770, 631, 575, 774, 751, 294, 294, 655, 557, 862, 748, 787,
		603, 787, 694, 634, 610, 731, 684, 988, 685, 610, 685, 390, 336, 390, 837, 500, 500, 612, 634, 549, 634, 615, 352, 634,
		633, 277, 277, 579, 277, 974, 633, 611, 634, 634, 411, 520, 392, 633, 591, 817, 591, 591, 524, 636, 336, 636, 837,
	}
	bold = [...]int{
		348, 456, 520, 837, 695, 1001, 872, 306, 457, 457, 522, 837, 379, 415, 379, 365, 695, 695, 695, 695, 695, 695, 695, 695,
		695, 695, 399, 399, 837, 837, 837, 580, 1000, 773, 762, 733, 830, 683, 683, 820, 836, 372, 372, 774, 637, 995, 836, 850,
		732, 850, 770, 720, 682, 812, 773, 1103, 770, 724, 725, 457, 365, 457, 837, 500, 500, 674, 715, 592, 715, 678, 435, 715,
		711, 342, 342, 665, 342, 1041, 711, 687, 715, 715, 493, 595, 478, 711, 651, 923, 645, 651, 582, 711, 365, 711, 837,
	}
)

const (
	monospace = 602 // each letter
	others    = 840 // a letter beyond ASCII
	terminal  = 12.5
	rim       = 3 // between a text and what it's in
)

// width is how wide a line of a text is at most. It may have code in backquotes.
func width(line string, class []string) float64 {
	if slices.Contains(class, "code") { // a line of a terminal
		return float64(len([]rune(line))) * monospace * terminal / 1000
	}
	size, widths, sum := 14.0, plain[:], 0.0
	switch {
	case slices.Contains(class, "in") && slices.Contains(class, "n0"), slices.Contains(class, "strong"):
		size, widths = 15, bold[:]
	case slices.Contains(class, "in"), slices.Contains(class, "label"), slices.Contains(class, "small"):
		size = 13
	}
	for i, part := range strings.Split(line, "`") {
		for _, letter := range part {
			w := others
			if at := int(letter) - ' '; at >= 0 && at < len(widths) {
				w = widths[at]
			}
			if i%2 == 1 {
				sum += monospace * .93
			} else {
				sum += float64(w)
			}
		}
	}
	return sum * size / 1000
}
