package scenario

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// A structure is the structure.json of the course.
type structure struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Items       []item `json:"items"`
}

type item struct {
	Path string `json:"path"`
}

// files are generated files: their content by their path in katacoda/.
type files map[string]string

// A maker makes the files of the course.
type maker struct {
	repository repository.Repository
	course     course
	templates  *template.Template // those of katacoda/templates/, by the names of their files
	files      files
}

// generate makes the scenarios of all stages that there are.
func generate(ctx context.Context, r repository.Repository) (files, error) {
	c, err := readCourse(r)
	if err != nil {
		return nil, err
	}
	stages, err := r.Stages()
	if err != nil {
		return nil, err
	}
	templates, err := template.New("").Delims("[[", "]]").ParseFS(os.DirFS(r.Path("katacoda", "templates")), "*")
	if err != nil {
		return nil, fmt.Errorf("reading katacoda/templates: %w", err)
	}
	m := maker{r, c, templates, files{}}
	curriculum, err := track.Load(r)
	if err != nil {
		return nil, err
	}
	var all []lesson.Ref
	for _, stage := range stages {
		refs, err := lesson.Refs(ctx, r, lesson.Ref{Stage: stage})
		if err != nil {
			return nil, err
		}
		ofMap, err := whyOfMap(ctx, r, refs[0])
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			l, err := lesson.Read(ctx, r, ref)
			if err != nil {
				return nil, err
			}
			if err := m.scenario(l, ofMap); err != nil {
				return nil, fmt.Errorf("making the scenario of %s: %w", ref, err)
			}
			all = append(all, ref)
			ofMap = "" // the first part has said it
		}
	}
	order := curriculum.Order(track.Read)
	slices.SortStableFunc(all, func(a, b lesson.Ref) int { return cmp.Compare(order(a.Folder()), order(b.Folder())) })
	s := structure{Title: c.Title, Description: c.Description}
	for _, ref := range all {
		s.Items = append(s.Items, item{folderOf(ref)})
	}
	return m.files, m.json("structure.json", s)
}

// whyOfMap returns why there is a stage that has parts, for the introduction of its first
// one, and nothing for a stage that has none.
func whyOfMap(ctx context.Context, r repository.Repository, first lesson.Ref) (string, error) {
	if first.Part == "" {
		return "", nil
	}
	whole, err := lesson.Read(ctx, r, lesson.Ref{Stage: first.Stage})
	if err != nil {
		return "", err
	}
	why, _ := whole.Section(lesson.Why) // it is there, because the map is of the form
	document := markdown.Parse(why.Text)
	var edits []markdown.Edit
	for _, link := range slices.Concat(document.Links, document.Images) {
		if _, within := links.Path(link); within && !link.Empty() {
			from := strings.Replace(why.Text[link.Start:link.End], "]("+link.Target, "](../"+link.Target, 1)
			edits = append(edits, markdown.Edit{Range: link.Range, Text: from}) // from the folder of a part
		}
	}
	return document.Apply(edits...), nil
}

func (m maker) json(name string, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	m.files[name] = text.String()
	return nil
}
