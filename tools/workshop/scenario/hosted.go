package scenario

import (
	"path"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/markdown"
)

// What only the lab has is shown on a hosted node, and not run.
const onlyToRead = "(The next commands need the lab, so here they are only to be read.)\n\n"

// hosted makes of a lesson's text that of a scenario: commands run when they are
// clicked, passages that are only for the lab are left out, links to files of the
// repository become plain text, because a scenario has none of these files beside it, and
// images are where page copies them to.
func hosted(text string) string {
	document := markdown.Parse(text)
	edits := passages(document, text)
	for _, fence := range document.Fences {
		switch fence.Info {
		case "bash exec":
			end := strings.TrimSuffix(text[:fence.End], "\n")
			edits = append(edits, markdown.Edit{Range: fence.Words, Text: "bash"}, markdown.Insert(len(end), "{{exec}}"))
		case "bash exec lab":
			edits = append(edits, markdown.Insert(fence.Start, onlyToRead), markdown.Edit{Range: fence.Words, Text: "bash"})
		}
	}
	for _, link := range document.Links {
		if !link.Empty() && !strings.Contains(link.Target, "://") {
			edits = append(edits, markdown.Edit{Range: link.Range, Text: plain(link)})
		}
	}
	for _, image := range document.Images {
		if !image.Empty() && !strings.Contains(image.Target, "://") {
			edits = append(edits, markdown.Edit{Range: image.Range, Text: "![" + image.Words + "](" + path.Base(image.Target) + ")"})
		}
	}
	return document.Apply(edits...)
}

// passages takes out what is only for the lab, with the empty line after it.
func passages(document markdown.Document, text string) []markdown.Edit {
	var edits []markdown.Edit
	begin := 0
	for _, comment := range document.Comments {
		switch comment.Text {
		case lesson.LabBegins:
			begin = comment.Start
		case lesson.LabEnds:
			end := len(text) - len(strings.TrimPrefix(text[comment.End:], "\n"))
			edits = append(edits, markdown.Edit{Range: markdown.Range{Start: begin, End: end}})
		}
	}
	return edits
}

// plain makes text of a link to a file of the repository, with the path if the words
// do not name it.
func plain(link markdown.Link) string {
	target, _, _ := strings.Cut(link.Target, "#")
	file := strings.TrimPrefix(path.Clean(target), "../")
	if strings.Trim(link.Words, "`/") == strings.Trim(file, "/") || strings.HasPrefix(link.Target, "#") {
		return link.Words
	}
	return link.Words + " (`" + file + "`)"
}
