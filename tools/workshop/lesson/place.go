package lesson

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A place is where a lesson is run: a copy of the repository, and a lab in it.
type place struct {
	temporary string // the folder that holds the copy
	copied    repository.Repository
	shell     *shell
}

// newPlace copies the repository. The caller ends the place, also after an error of
// start.
func newPlace(ctx context.Context, r repository.Repository, stage repository.Stage, timeout time.Duration) (*place, error) {
	temporary, err := os.MkdirTemp("", "lesson-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the copy: %w", err)
	}
	p := &place{temporary: temporary}
	if err = os.Mkdir(p.temporaries(), 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for temporary files: %w", err)
	}
	if p.copied, err = r.Copy(ctx, filepath.Join(temporary, filepath.Base(r.Root))); err == nil {
		err = r.GiveLab(p.copied)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temporary))
	}
	p.shell = &shell{dir: p.copied.Path(stage.Folder), env: p.environment(), timeout: timeout}
	return p, nil
}

// temporaries is where the lesson's programs put their temporary files, so that those
// of a program that was killed go with the copy.
func (p *place) temporaries() string { return filepath.Join(p.temporary, "tmp") }

// environment is what eval "$(make -s env)" makes of a shell in the copy. In addition,
// kubectl remembers nothing of other clusters.
func (p *place) environment() []string {
	bin := p.copied.Path("lab", "bin")
	return environment([]string{"LAB_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"},
		"KUBECONFIG="+p.copied.Path(".lab", "kubeconfig"),
		"KUBEBUILDER_ASSETS="+bin,
		"TMPDIR="+p.temporaries(),
		"KUBECACHEDIR="+filepath.Join(p.temporary, "cache"),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOWORK=off",
	)
}

func (p *place) start(ctx context.Context) error {
	return p.lab(ctx, "up")
}

// end stops what the lesson has left running and the lab, and removes the copy. It
// keeps both, the lab without its processes, if keep says so, or if the lab cannot be
// stopped.
func (p *place) end(ctx context.Context, keep bool) error {
	// Also after Ctrl-C.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	p.shell.end()
	verb := "reset"
	if keep {
		verb = "down"
	}
	if err := p.lab(ctx, verb); err != nil {
		return fmt.Errorf("%w; the copy is kept in %s, and to end the lab: %s down", err, p.copied.Root, p.copied.Path("lab", "bin", "lab"))
	}
	if keep {
		return nil
	}
	if err := os.RemoveAll(p.temporary); err != nil {
		return fmt.Errorf("removing the copy: %w", err)
	}
	return nil
}

// lab runs the copy's lab program.
func (p *place) lab(ctx context.Context, verb string) error {
	done, err := p.shell.run(ctx, p.copied.Path("lab", "bin", "lab"), verb)
	switch {
	case err != nil:
		return fmt.Errorf("lab %s: %w", verb, err)
	case done.expired:
		return fmt.Errorf("lab %s did not end within %s; it printed:\n%s", verb, p.shell.timeout, indent(lastLines(done.output)))
	case done.code != 0:
		return fmt.Errorf("lab %s ended with exit code %d; it printed:\n%s", verb, done.code, indent(lastLines(done.output)))
	}
	return nil
}
