package scenario

import (
	"path"
	"regexp"
	"strings"
)

// What only the lab has is shown on a hosted node, and not run.
const onlyToRead = "(The next commands need the lab, so here they are only to be read.)\n\n"

var (
	fence = regexp.MustCompile("^(`{3,}|~{3,})[ \t]*(.*)$")
	link  = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)
)

// hosted makes of a lesson's text that of a scenario: commands run when they are
// clicked, passages that are only for the lab are left out, and links to files of the
// repository become plain text, because a scenario has none of these files beside it.
func hosted(text string) string {
	var out strings.Builder
	var open, suffix string // of the fence that is open
	inLab, gap := false, true
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		match := fence.FindStringSubmatch(bare)
		switch {
		case open != "":
			if strings.HasPrefix(bare, open) && strings.Trim(bare, open[:1]) == "" {
				line, open = bare+suffix+"\n", ""
			}
		case bare == "<!-- lab -->":
			inLab = true
			continue
		case bare == "<!-- /lab -->":
			inLab = false
			continue
		case bare == "" && gap:
			continue // one empty line is enough where a passage was left out
		case match != nil:
			open, suffix = match[1], ""
			switch strings.Join(strings.Fields(match[2]), " ") {
			case "bash exec":
				line, suffix = open+"bash\n", "{{exec}}"
			case "bash exec lab":
				line = onlyToRead + open + "bash\n"
			}
		default:
			line = link.ReplaceAllStringFunc(line, func(l string) string { return plain(l) })
		}
		if !inLab {
			out.WriteString(line)
			gap = bare == "" && open == ""
		}
	}
	return out.String()
}

// plain makes text of a link to a file of the repository, with the path if the words
// do not name it.
func plain(text string) string {
	match := link.FindStringSubmatch(text)
	words, target := match[1], match[2]
	if strings.Contains(target, "://") {
		return text
	}
	file := path.Clean(target)
	if up, outside := strings.CutPrefix(file, "../"); outside {
		file = up
	}
	if strings.Trim(words, "`/") == strings.Trim(file, "/") || strings.HasPrefix(target, "#") {
		return words
	}
	return words + " (`" + file + "`)"
}
