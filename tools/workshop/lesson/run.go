package lesson

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A run is one lesson on its way.
type run struct {
	lesson Lesson
	shell  *shell
	out    io.Writer // for the progress
	// tries are those that are still to be solved, and solve solves one.
	tries []Try
	solve func(context.Context, Try) error
}

// steps does all steps in order, and ends at the first that is not as it should be.
func (r *run) steps(ctx context.Context) error {
	for _, step := range r.lesson.Steps {
		begin := time.Now()
		fmt.Fprintf(r.out, "%s, step %d of %d: %s ... ", r.lesson.Ref, step.Number, len(r.lesson.Steps), step.Title)
		err := r.step(ctx, step)
		took := time.Since(begin).Round(time.Second)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(r.out, "interrupted")
			return err
		case err != nil:
			fmt.Fprintf(r.out, "failed after %s\n", took)
			return err
		}
		fmt.Fprintln(r.out, took)
	}
	return nil
}

// step wants the check to fail, does what the reader is to do, and wants it to pass.
func (r *run) step(ctx context.Context, step Step) error {
	if err := r.before(ctx, step); err != nil {
		return err
	}
	defer r.shell.close()
	var ran []note
	for i, block := range step.Blocks {
		if err := r.solveUntil(ctx, block.Line); err != nil {
			return err
		}
		done, err := r.block(ctx, step, block)
		if err != nil {
			return err
		}
		ran = append(ran, r.notes(block, done)...)
		if err := r.answers(ctx, step, i, done); err != nil {
			return err
		}
	}
	return r.after(ctx, step, ran)
}

// answers wants each question before a block to be decided by what the block has printed.
func (r *run) answers(ctx context.Context, step Step, block int, done result) error {
	for _, q := range step.Questions {
		if q.Block != block {
			continue
		}
		problem, err := q.judge(ctx, r.shell, done.output)
		if err != nil {
			return err
		}
		if problem != "" {
			return r.failure(step, q.Line, problem, r.notes(step.Blocks[block], done))
		}
	}
	return nil
}

// block runs one block.
func (r *run) block(ctx context.Context, step Step, block Block) (result, error) {
	limit := r.shell.timeout
	if compiles.MatchString(block.Code) {
		limit *= roomToCompile
	}
	done, err := r.shell.block(ctx, limit, block.Code)
	if err != nil {
		return result{}, err
	}
	if line, why := broken(block, done, limit); why != "" {
		err = r.failure(step, line, why, r.notes(block, done))
	}
	return done, err
}

// compiles finds the blocks that compile something. On a busy machine to link a program that
// holds Kubernetes takes minutes, though all packages are compiled before.
var compiles = regexp.MustCompile(`\bgo (-C \S+ )?(build|run|test|tool|vet)\b|\bmake -|\bbin/image\b`)

// roomToCompile is how many times longer such a block may take.
const roomToCompile = 3

// before runs the check of a step that has not been done.
func (r *run) before(ctx context.Context, step Step) error {
	done, err := r.check(ctx, step)
	switch said := strings.TrimSpace(done.output); {
	case err != nil:
		return err
	case done.expired:
		return r.failure(step, step.Line, step.Check+" "+done.late(r.shell.timeout, "before the step"), nil)
	case done.code == 0:
		return r.failure(step, step.Line, step.Check+" passes before the step was done; it must fail until then", nil)
	case said == "":
		return r.failure(step, step.Line, step.Check+" fails before the step, as it should, but does not say what is missing", nil)
	}
	return nil
}

// after runs the check of a step that has been done.
func (r *run) after(ctx context.Context, step Step, ran []note) error {
	done, err := r.check(ctx, step)
	switch said := strings.TrimSpace(done.output); {
	case err != nil:
		return err
	case done.expired:
		return r.failure(step, step.Line, step.Check+" "+done.late(r.shell.timeout, "after the step"), ran)
	case done.code != 0:
		return r.failure(step, step.Line, fmt.Sprintf("%s fails after the step (exit code %d): %s", step.Check, done.code, said), ran)
	}
	return nil
}

// late says that a command was killed because its time was over.
func (done result) late(timeout time.Duration, more string) string {
	text := fmt.Sprintf("did not end within %s, %s", timeout, more)
	if done.doing != "" {
		text += "; it was running: " + done.doing
	}
	return text
}

func (r *run) check(ctx context.Context, step Step) (result, error) {
	return r.shell.run(ctx, "sh", step.Check)
}

// notFound is what bash says of a command that it cannot find, with the line in the
// block.
var notFound = regexp.MustCompile(`(?m)^bash: line (\d+): .*: (command not found|No such file or directory)$`)

// broken says why a block cannot have done what was meant, and in which line of the
// lesson that shows. A failing command is no reason: many are there to be seen failing,
// and the check has the last word.
func broken(block Block, done result, timeout time.Duration) (int, string) {
	if done.expired {
		return block.Line, "the block " + done.late(timeout, "and was killed")
	}
	if match := notFound.FindStringSubmatch(done.output); match != nil {
		inner, _ := strconv.Atoi(match[1]) // digits, by the expression
		return block.Line + inner, "a command was not found: " + match[0]
	}
	switch done.code {
	case 126:
		return block.Line, "the block ended with exit code 126: a command could not be executed"
	case 127:
		return block.Line, "the block ended with exit code 127: a command was not found"
	}
	return 0, ""
}

// syntax lets bash read all blocks of the lesson, without running them.
func (r *run) syntax(ctx context.Context) error {
	for _, step := range r.lesson.Steps {
		for _, block := range step.Blocks {
			done, err := r.shell.run(ctx, "bash", "-n", "-c", block.Code)
			if err != nil {
				return err
			}
			if done.code != 0 {
				return r.failure(step, block.Line, "the block is not correct bash", r.notes(block, done))
			}
		}
	}
	return nil
}
