package scenario

import (
	"fmt"
	"os"
	"path"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
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

// folderOf is the folder of a lesson's scenario.
func folderOf(ref lesson.Ref) string {
	if ref.Part == "" {
		return ref.Stage.Folder
	}
	return fmt.Sprintf("%02d-%s", ref.Stage.Number, strings.ReplaceAll(ref.Part, "/", "-"))
}

// scenario makes the scenario of one lesson. The introduction begins with what the map of
// the stage says, if there is any.
func (m maker) scenario(l lesson.Lesson, ofMap string) error {
	folder := folderOf(l.Ref)
	sentence, err := m.course.sentence(folder)
	if err != nil {
		return err
	}
	compile, err := compileCommands(l, m.repository.Path(l.Stage.Folder))
	if err != nil {
		return err
	}
	if more := m.course.Prepare[folder]; more != "" {
		compile = append(compile, more)
	}
	text := func(heading string) string {
		section, _ := l.Section(heading) // it is there, because the lesson is of the form
		return section.Text
	}
	values := map[string]any{
		"Course": m.course, "Scenario": folder, "Compile": compile, "Map": ofMap,
		"Folder": l.Stage.Folder, "Name": l.String(), "Lesson": path.Join(l.Folder(), "README.md"),
		"Title": l.Title, "Introduction": l.Introduction, "Why": text(lesson.Why),
		"Production": text(lesson.Production), "Beyond": text(lesson.Beyond),
	}
	for _, script := range []string{"background.sh", "foreground.sh", "compile.sh"} {
		if err := m.write(path.Join(folder, script), script, values); err != nil {
			return err
		}
	}
	for _, page := range []string{"intro.md", "finish.md"} {
		if err := m.page(l, page, page, values); err != nil {
			return err
		}
	}
	return m.index(l, sentence)
}

// index makes the pages of the steps, and what lists all pages.
func (m maker) index(l lesson.Lesson, sentence string) error {
	i := index{
		Title: l.Title, Description: sentence,
		Details: details{
			Intro:  page{Title: "Introduction", Text: "intro.md", Background: "background.sh", Foreground: "foreground.sh"},
			Finish: page{Title: "What comes next", Text: "finish.md"},
		},
		Backend: backend{m.course.Image},
	}
	for _, step := range l.Steps {
		made, err := m.step(l, step)
		if err != nil {
			return err
		}
		i.Details.Steps = append(i.Details.Steps, made)
	}
	return m.json(path.Join(folderOf(l.Ref), "index.json"), i)
}

// step makes the page of one step, with its check if all of the step can be done on a
// hosted node.
func (m maker) step(l lesson.Lesson, step lesson.Step) (page, error) {
	name := fmt.Sprintf("step%d", step.Number)
	made := page{Title: step.Title, Text: name + "/text.md"}
	values := map[string]any{"Heading": step.Heading, "Text": step.Text, "Folder": l.Stage.Folder, "Check": step.Check}
	if err := m.page(l, made.Text, "step.md", values); err != nil {
		return page{}, err
	}
	for _, block := range step.Blocks {
		if block.OnlyLab {
			return made, nil
		}
	}
	made.Verify = name + "/verify.sh"
	return made, m.write(path.Join(folderOf(l.Ref), made.Verify), "verify.sh", values)
}

// page writes a page of a lesson as it is on a hosted node, with its images beside it.
func (m maker) page(l lesson.Lesson, name, from string, values map[string]any) error {
	name = path.Join(folderOf(l.Ref), name)
	if err := m.write(name, from, values); err != nil {
		return err
	}
	for _, image := range markdown.Parse(m.files[name]).Images {
		file, within := links.Path(image)
		if !within {
			continue
		}
		content, err := os.ReadFile(m.repository.Path(l.Folder(), file))
		if err != nil {
			return fmt.Errorf("copying an image: %w", err)
		}
		m.files[path.Join(path.Dir(name), path.Base(file))] = string(content)
	}
	m.files[name] = hosted(m.files[name])
	return nil
}

func (m maker) write(name, from string, values map[string]any) error {
	var text strings.Builder
	if err := m.templates.ExecuteTemplate(&text, from, values); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	m.files[name] = strings.TrimRight(text.String(), "\n") + "\n"
	return nil
}
