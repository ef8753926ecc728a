package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"text/template"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// An index is the index.json of a scenario.
type index struct {
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Details     details `json:"details"`
	Backend     backend `json:"backend"`
}

type details struct {
	Intro  page   `json:"intro"`
	Steps  []page `json:"steps"`
	Finish page   `json:"finish"`
}

type page struct {
	Title      string `json:"title,omitempty"`
	Text       string `json:"text"`
	Verify     string `json:"verify,omitempty"`
	Background string `json:"background,omitempty"`
	Foreground string `json:"foreground,omitempty"`
}

type backend struct {
	ImageID string `json:"imageid"`
}

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
	course    course
	templates *template.Template // those of katacoda/templates/, by the names of their files
	files     files
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
	m := maker{c, templates, files{}}
	s := structure{Title: c.Title, Description: c.Description}
	for _, stage := range stages {
		refs, err := lesson.Refs(ctx, r, stage)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			l, err := lesson.Read(ctx, r, ref)
			if err != nil {
				return nil, err
			}
			if err := m.add(l); err != nil {
				return nil, fmt.Errorf("making the scenario of %s: %w", ref, err)
			}
			s.Items = append(s.Items, item{scenarioOf(ref)})
		}
	}
	return m.files, m.json("structure.json", s)
}

// scenarioOf is the folder of a lesson's scenario.
func scenarioOf(ref lesson.Ref) string {
	if ref.Part == "" {
		return ref.Stage.Folder
	}
	return fmt.Sprintf("%02d-%s", ref.Stage.Number, ref.Part)
}

// add makes the scenario of one lesson.
func (m maker) add(l lesson.Lesson) error {
	folder := scenarioOf(l.Ref)
	sentence, err := m.course.sentence(folder)
	if err != nil {
		return err
	}
	text := func(heading string) string {
		section, _ := l.Section(heading) // it is there, because the lesson is of the form
		return hosted(section.Text)
	}
	values := map[string]any{
		"Repository": m.course.Repository, "Branch": m.course.Branch, "Go": m.course.Go,
		"Folder": l.Stage.Folder, "Lesson": path.Join(l.Folder(), "README.md"), "Name": l.Ref.String(), "Title": l.Title, "Introduction": hosted(l.Introduction),
		"Why": text(lesson.Why), "Production": text(lesson.Production), "Beyond": text(lesson.Beyond),
	}
	for _, name := range []string{"intro.md", "background.sh", "foreground.sh", "finish.md"} {
		if err := m.write(path.Join(folder, name), name, values); err != nil {
			return err
		}
	}
	i := index{
		Title: l.Title, Description: sentence,
		Details: details{
			Intro:  page{Title: "Introduction", Text: "intro.md", Background: "background.sh", Foreground: "foreground.sh"},
			Finish: page{Title: "What comes next", Text: "finish.md"},
		},
		Backend: backend{m.course.Image},
	}
	for _, step := range l.Steps {
		made, err := m.step(l.Ref, step)
		if err != nil {
			return err
		}
		i.Details.Steps = append(i.Details.Steps, made)
	}
	return m.json(path.Join(folder, "index.json"), i)
}

// step makes the page of one step, with its check if all of the step can be done on a
// hosted node.
func (m maker) step(ref lesson.Ref, step lesson.Step) (page, error) {
	name := fmt.Sprintf("step%d", step.Number)
	made := page{Title: step.Title, Text: name + "/text.md"}
	values := map[string]any{"Heading": step.Heading, "Text": hosted(step.Text), "Folder": ref.Stage.Folder, "Check": step.Check}
	if err := m.write(path.Join(scenarioOf(ref), made.Text), "step.md", values); err != nil {
		return page{}, err
	}
	for _, block := range step.Blocks {
		if block.OnlyLab {
			return made, nil
		}
	}
	made.Verify = name + "/verify.sh"
	return made, m.write(path.Join(scenarioOf(ref), made.Verify), "verify.sh", values)
}

func (m maker) write(name, from string, values map[string]any) error {
	var text bytes.Buffer
	if err := m.templates.ExecuteTemplate(&text, from, values); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	m.files[name] = strings.TrimRight(text.String(), "\n") + "\n"
	return nil
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
