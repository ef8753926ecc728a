package practice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/exercise/standby"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// benched are exercises without an API server and with one, of a small stage and a large one.
var benched = []string{"2-same-name", "4-hot-loop", "1-first-list", "1-login", "4-blind-write"}

// NewBench returns the command that measures how long a learner waits.
func NewBench() *cobra.Command {
	runs := 10
	cmd := &cobra.Command{
		Use:   "bench [EXERCISE...]",
		Short: "Measure the time from a save to the verdict in learn",
		RunE: func(cmd *cobra.Command, args []string) error {
			if runs < 1 {
				return fmt.Errorf("--runs=%d: save once at least", runs)
			}
			if len(args) == 0 {
				args = benched
			}
			p, err := open(cmd.Context(), io.Discard)
			if err != nil {
				return err
			}
			return p.bench(cmd.Context(), cmd.OutOrStdout(), args, runs)
		},
	}
	cmd.Flags().IntVar(&runs, "runs", runs, "how often to save, half of the time what does not pass")
	return cmd
}

// bench measures in a clone of its own.
func (p practice) bench(ctx context.Context, out io.Writer, ids []string, runs int) error {
	for _, id := range ids {
		number, name, _ := strings.Cut(id, "-")
		e, err := exercise.Find(p.home, number, name)
		if err != nil {
			return err
		}
		if err := p.ensureLab(ctx, p.home, e); err != nil {
			return err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	slot, err := repository.TakeSlot(filepath.Join(cache, "hacking-a-controller", "bench"))
	if err != nil {
		return err
	}
	defer slot.Free()
	if err := os.RemoveAll(slot.Dir); err != nil {
		return err
	}
	clone, err := p.home.Copy(ctx, slot.Dir)
	if err != nil {
		return err
	}
	p.assets = (gotest.Module{Assets: p.home.Path("lab", "bin")}).AssetsFolder()
	p.cwd, p.here, p.home, p.byKey, p.wait = clone.Root, clone, clone, true, firstTimeout
	fmt.Fprintf(out, "%d CPUs. From a save to its verdict, %d times:\n\n", runtime.NumCPU(), runs)
	fmt.Fprintf(out, "| exercise | API server | median | slowest |\n|---|---|---|---|\n")
	for _, id := range ids {
		took, server, err := p.benchOne(ctx, id, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		slices.Sort(took)
		fmt.Fprintf(out, "| %s | %s | %.1f s | %.1f s |\n", id, map[bool]string{true: "yes", false: "no"}[server], took[len(took)/2].Seconds(), took[len(took)-1].Seconds())
	}
	return nil
}

// benchOne saves what does not pass and what does in turn.
func (p practice) benchOne(ctx context.Context, id string, runs int) (took []time.Duration, server bool, err error) {
	number, name, _ := strings.Cut(id, "-")
	c, e, _, err := p.begin(ctx, number, name)
	if err != nil {
		return nil, false, err
	}
	servers, err := standby.New(ctx, p.assets)
	if err != nil {
		return nil, false, err
	}
	defer servers.Close()
	p.variables = servers.Env()
	saved, err := saves(ctx, c.folders(e)...)
	if err != nil {
		return nil, false, err
	}
	// Two more at the beginning: they compile what the exercise imports.
	for i := range runs + 2 {
		solve := i%2 == 1
		err := p.record(id, func(r *Record) {
			if r.Passed = 0; solve || e.Judge.Kind == exercise.Try {
				r.Passed = len(e.Judge.Groups) - 1 // the last group is the current one
			}
		})
		if err != nil {
			return nil, false, err
		}
		servers.Prepare()
		server = servers.Ready()
		began := time.Now()
		if err := c.writeVersion(ctx, e, solve, i); err != nil {
			return nil, false, err
		}
		<-saved
		j, err := p.judge(ctx, c, 5*time.Minute, 1)
		if err == nil && !j.solved && solve && j.waited {
			p.wait = testTimeout // as learn does it
			j, err = p.judge(ctx, c, 5*time.Minute, 0)
		}
		if err == nil && j.solved != solve {
			err = fmt.Errorf("judged wrong: %+v", j.outcome)
		}
		if err != nil {
			return nil, false, err
		}
		if i >= 2 {
			took = append(took, time.Since(began))
		}
	}
	return took, server, nil
}

// writeVersion writes the files of the exercise as they are at its start, or as they were
// before, with a comment so that they are new to Go's cache.
func (c workCopy) writeVersion(ctx context.Context, e exercise.Exercise, solved bool, n int) error {
	if e.Judge.Kind == exercise.Try {
		return c.writeTries(ctx, e, solved, n)
	}
	commit := c.broken()
	if solved {
		commit += "^"
	}
	files, err := c.Diff(ctx, "--name-only", c.broken()+"^", c.broken())
	if err != nil {
		return err
	}
	for file := range strings.FieldsSeq(files) {
		content, err := c.Git(ctx, "show", commit+":"+file)
		if err != nil {
			return err
		}
		content += "\n\n// " + strconv.Itoa(n) + " " + strconv.FormatInt(time.Now().UnixNano(), 36) + "\n"
		if err := os.WriteFile(c.Path(file), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeTries is writeVersion for tries: their start is the code of the stage, and all that is solved comes
// from their patches.
func (c workCopy) writeTries(ctx context.Context, e exercise.Exercise, solved bool, n int) error {
	if err := c.reset(ctx); err != nil {
		return err
	}
	last := len(e.Judge.Groups) - 1
	if solved {
		last++
	}
	if err := c.solve(ctx, e, 1, last); err != nil {
		return err
	}
	for _, name := range e.Judge.Write {
		file, err := os.OpenFile(c.Path(e.Path(name)), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(file, "\n// %d %d\n", n, time.Now().UnixNano())
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}
