package lesson

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"example.com/hacking-a-controller/tools/workshop/isolate"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A place is where a lesson is run: a copy of the repository, and a lab in it. It is the
// same folder in each run, so that Go need not compile the stage again.
type place struct {
	slot   repository.Slot // the folder that holds the copy
	copied repository.Repository
	shell  *shell
}

// newPlace copies the repository. The caller ends the place, also after an error of
// start.
func newPlace(ctx context.Context, r repository.Repository, stage repository.Stage, folder string, timeout time.Duration, network *isolate.Network) (*place, error) {
	slot, err := repository.TakeSlot(filepath.Join(folder, strconv.Itoa(stage.Number)))
	if err != nil {
		return nil, err
	}
	p := &place{slot: slot, copied: repository.Repository{Root: filepath.Join(slot.Dir, filepath.Base(r.Root))}}
	p.shell = &shell{dir: slot.Dir, env: p.environment(), timeout: timeout, network: network}
	if err := p.clear(ctx); err != nil {
		slot.Free()
		return nil, fmt.Errorf("removing what an earlier run has left: %w", err)
	}
	if err := p.fill(ctx, r); err != nil {
		err = errors.Join(err, os.RemoveAll(slot.Dir))
		slot.Free()
		return nil, err
	}
	p.shell.dir = p.copied.Path(stage.Folder)
	return p, nil
}

func (p *place) fill(ctx context.Context, r repository.Repository) error {
	if err := os.MkdirAll(p.temporaries(), 0o755); err != nil {
		return fmt.Errorf("making a folder for temporary files: %w", err)
	}
	if err := os.WriteFile(p.preferences(), []byte(preferences), 0o644); err != nil {
		return fmt.Errorf("writing the preferences of kubectl: %w", err)
	}
	if _, err := r.Copy(ctx, p.copied.Root); err != nil {
		return err
	}
	return r.GiveLab(p.copied)
}

// clear ends the lab and removes the copy. A run that was killed has left both, perhaps of
// a repository by another name.
func (p *place) clear(ctx context.Context) error {
	labs, err := fs.Glob(os.DirFS(p.slot.Dir), "*/lab/bin/lab")
	if err != nil {
		return err
	}
	for _, lab := range labs {
		if err := p.shell.lab(ctx, filepath.Join(p.slot.Dir, lab), "reset"); err != nil {
			return err
		}
	}
	return os.RemoveAll(p.slot.Dir)
}

// temporaries is where the lesson's programs put their temporary files, so that those
// of a program that was killed go with the copy.
func (p *place) temporaries() string { return filepath.Join(p.slot.Dir, "tmp") }

// preferences are those of kubectl, which has 30 seconds for a wait. That is enough for a
// reader; here two labs are beside compilers, on a machine with two processors. It is less than
// DefaultTimeout, so that kubectl says what has not come.
const preferences = `apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: wait
  options:
  - name: timeout
    default: 4m
`

func (p *place) preferences() string { return filepath.Join(p.slot.Dir, "kuberc") }

// environment is what eval "$(make -s env)" makes of a shell in the copy. In addition,
// kubectl remembers nothing of other clusters, and has preferences of its own.
func (p *place) environment() []string {
	bin := p.copied.Path("lab", "bin")
	return process.Environment([]string{"LAB_DIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"},
		"KUBECONFIG="+p.copied.Path(".lab", "kubeconfig"),
		"KUBEBUILDER_ASSETS="+bin,
		"TMPDIR="+p.temporaries(),
		"KUBECACHEDIR="+filepath.Join(p.slot.Dir, "cache"),
		"KUBERC="+p.preferences(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOWORK=off",
	)
}

func (p *place) start(ctx context.Context) error {
	return p.shell.lab(ctx, p.program(), "up")
}

// end stops what the lesson has left running and the lab, and removes the copy. It
// keeps both, the lab without its processes, if keep says so, or if the lab cannot be
// stopped.
func (p *place) end(ctx context.Context, keep bool) error {
	defer p.slot.Free()
	// Also after Ctrl-C.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	p.shell.end()
	end := p.clear
	if keep {
		end = func(ctx context.Context) error { return p.shell.lab(ctx, p.program(), "down") }
	}
	if err := end(ctx); err != nil {
		return fmt.Errorf("%w; the copy is kept in %s, and to end the lab: %s down", err, p.copied.Root, p.program())
	}
	return nil
}

// program is the copy's lab.
func (p *place) program() string { return p.copied.Path("lab", "bin", "lab") }
