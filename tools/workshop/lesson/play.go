package lesson

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Player runs the blocks of a lesson in the reader's own lab, for those who have fallen behind.
type Player struct {
	Repository repository.Repository
	Out        io.Writer
	Timeout    time.Duration
	// Ask asks a question, and returns the key that is the answer.
	Ask func(ctx context.Context, question string) (rune, error)
	// Done hears of each step that was played.
	Done func(Lesson, Step) error

	shell *shell
}

// Play runs the steps of a lesson up to one, and ends at the first that isn't as it should be. What
// the blocks leave running goes on, unless something is wrong: the next step may need it.
func (p *Player) Play(ctx context.Context, l Lesson, to int) (err error) {
	if to < 1 || to > len(l.Steps) {
		var steps strings.Builder
		for _, step := range l.Steps {
			fmt.Fprintf(&steps, "\n  %d  %s", step.Number, step.Title)
		}
		return fmt.Errorf("name the last step of %s to play, such as --to=%d:%s", l.Ref, len(l.Steps), &steps)
	}
	p.shell = &shell{dir: p.Repository.Path(l.Stage.Folder), env: p.environment(), timeout: p.Timeout}
	defer func() {
		if err != nil {
			p.shell.end()
		}
		if ctx.Err() != nil {
			err = errors.New("interrupted; what was running is ended, and what was done stays")
		}
	}()
	if err := p.expectLab(ctx); err != nil {
		return err
	}
	r := &run{lesson: l, shell: p.shell, out: p.Out}
	from, err := p.begin(ctx, r, to)
	if err != nil || from > to {
		return err
	}
	p.shell.seen = p.Out
	for _, step := range l.Steps[from-1 : to] {
		if err := p.step(ctx, r, step); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.Out, "\nStep %d is done. Go on in %s, with: eval \"$(make -s env)\"\n", to, r.lesson.at(l.Steps[min(to, len(l.Steps)-1)].Line))
	for _, group := range p.shell.groups {
		if what := running(group); what != "" { // it may have ended since
			fmt.Fprintf(p.Out, "Still running: %s; to end it: kill -- -%d\n", what, group)
		}
	}
	return nil
}

// step shows each command and what it prints, and wants the check to pass.
func (p *Player) step(ctx context.Context, r *run, step Step) error {
	fmt.Fprintf(p.Out, "\n%s, step %d of %d: %s\n", r.lesson.Ref, step.Number, len(r.lesson.Steps), step.Title)
	defer r.shell.close()
	for _, block := range step.Blocks {
		for line := range strings.Lines(block.Code) {
			fmt.Fprint(p.Out, "$ ", line)
		}
		if _, err := r.block(ctx, step, block); err != nil {
			return err
		}
	}
	if err := r.after(ctx, step, nil); err != nil {
		return err
	}
	return p.Done(r.lesson, step)
}

// environment is the reader's shell after eval "$(make -s env)". Which cluster that shell had is for
// expectLab.
func (p *Player) environment() []string {
	bin := p.Repository.Path("lab", "bin")
	return process.Environment([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"},
		"KUBECONFIG="+LabKubeconfig(p.Repository), "KUBEBUILDER_ASSETS="+bin, "GOWORK=off",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// LabKubeconfig is the kubeconfig that the reader's lab has written, or will write.
func LabKubeconfig(r repository.Repository) string {
	return filepath.Join(cmp.Or(os.Getenv("LAB_DIR"), r.Path(".lab")), "kubeconfig")
}

// local is an address of this machine.
var local = regexp.MustCompile(`^https://127\.0\.0\.1:\d+$`)

// expectLab starts the lab, and refuses every other cluster: one that the reader's shell talks to,
// and one that somebody has written into the lab's own kubeconfig.
func (p *Player) expectLab(ctx context.Context) error {
	kubeconfig := LabKubeconfig(p.Repository)
	if named := os.Getenv("KUBECONFIG"); named != "" && !SameFile(named, kubeconfig) {
		return fmt.Errorf("this shell's KUBECONFIG is %s, and a lesson is played only in the lab; select that first: eval \"$(make -s env)\"", named)
	}
	if _, err := os.Stat(p.program()); err != nil {
		return errors.New("the lab isn't built yet; to build and start it: make lab-up")
	}
	if err := p.shell.lab(ctx, p.program(), "up"); err != nil {
		return err
	}
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the lab's kubeconfig: %w", err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	err = yaml.Unmarshal(content, &config)
	if err != nil || len(config.Clusters) != 1 || !local.MatchString(config.Clusters[0].Cluster.Server) {
		return fmt.Errorf("%s isn't as the lab has written it: it should name one cluster, on this machine; to write it again: make lab-reset lab-up", kubeconfig)
	}
	return nil
}

// SameFile reports whether two paths lead to one file. A missing file is none.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, err2 := os.Stat(b)
	return errors.Join(err, err2) == nil && os.SameFile(first, second)
}

// program is the reader's lab.
func (p *Player) program() string { return p.Repository.Path("lab", "bin", "lab") }

// begin returns the step to begin with: the first one on an empty lab. On another one it asks: to go
// on after the last step whose check passes, or to empty it.
func (p *Player) begin(ctx context.Context, r *run, to int) (from int, err error) {
	left, err := p.leftovers(ctx, r.lesson)
	if err != nil || len(left) == 0 {
		return 1, err
	}
	from = 1
	for _, step := range r.lesson.Steps[:to] {
		done, err := r.check(ctx, step)
		if err != nil {
			return 0, err
		}
		if done.code == 0 {
			from = step.Number + 1
		}
	}
	question := fmt.Sprintf("The lab isn't empty: %s\n", some(left))
	if from <= to {
		question += fmt.Sprintf("  y  play steps %d to %d there\n", from, to)
	} else {
		question += fmt.Sprintf("  y  go on: step %d is done\n", to)
	}
	question += fmt.Sprintf("  r  remove all of that with lab reset and git clean -X, and play steps 1 to %d\nAny other key stops. ", to)
	switch key, err := p.Ask(ctx, question); {
	case err != nil:
		return 0, err
	case key == 'y':
		return from, nil
	case key == 'r':
		return 1, p.reset(ctx, r.lesson)
	}
	return 0, errors.New("nothing was played")
}

func (p *Player) reset(ctx context.Context, l Lesson) error {
	if _, err := p.Repository.Git(ctx, "clean", "-fdXq", "--", l.Stage.Folder); err != nil {
		return err
	}
	if err := p.shell.lab(ctx, p.program(), "reset"); err != nil {
		return err
	}
	return p.shell.lab(ctx, p.program(), "up")
}

// ours are the objects of an empty lab.
var ours = []string{"namespace/default", "namespace/kube-node-lease", "namespace/kube-public", "namespace/kube-system", "service/kubernetes", "configmap/kube-root-ca.crt"}

// leftovers are what lessons have left in the lab, and in the folder of the stage.
func (p *Player) leftovers(ctx context.Context, l Lesson) ([]string, error) {
	var left []string
	for _, query := range []string{"namespaces,customresourcedefinitions", "pods,deployments,services,configmaps,secrets,jobs --namespace=default"} {
		done, err := p.shell.run(ctx, "sh", "-c", "kubectl get --output=name "+query)
		if err == nil && done.code != 0 {
			err = fmt.Errorf("looking into the lab: %s", strings.TrimSpace(done.output))
		}
		if err != nil {
			return nil, err
		}
		left = append(left, strings.Fields(done.output)...)
	}
	left = slices.DeleteFunc(left, func(name string) bool { return slices.Contains(ours, name) })
	ignored, err := p.Repository.Git(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "--", l.Stage.Folder)
	return append(left, strings.Fields(ignored)...), err
}

// some are the first few of some names.
func some(names []string) string {
	const few = 8
	text := strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}
