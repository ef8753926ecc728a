#!/bin/sh
# badge.sh KIND TIMES: writes a badge in SVG, which says how many lessons (KIND lesson) or exercises (KIND exercise)
# were proved, by the lines that make prove has left in bin/prove-times. Without any, or if one has failed, it
# writes none.
set -eu
awk -F '\t' -v kind="$1" '
$1 == kind { all++; if ($4 == "failed") failed++ }
END {
	words = kind "s proved"
	if (!all || failed) {
		printf "badge.sh: %d of %d %s\n", all - failed, all, words > "/dev/stderr"
		exit 1
	}
	left = 7 * length(words) + 12; right = 7 * length(all) + 14
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\" aria-label=\"%s: %d\">\n", left + right, words, all
	printf "<rect width=\"%d\" height=\"20\" rx=\"3\" fill=\"#1a7f37\"/><rect width=\"%d\" height=\"20\" rx=\"3\" fill=\"#3d444d\"/>\n", left + right, left
	printf "<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">"
	printf "<text x=\"%.1f\" y=\"14\">%s</text><text x=\"%.1f\" y=\"14\">%d</text></g>\n</svg>\n", left / 2, words, left + right / 2, all
}' "$2"
