package practice

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// list shows all exercises and how far the learner is.
func (p practice) list(ctx context.Context) error {
	exercises, incomplete, err := exercise.All(p.home)
	if err != nil {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	started, err := p.started(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  STAGE\tNAME\tLEVEL\tMINUTES\tSTATE")
	for _, e := range exercises {
		mark := " "
		if e.ID() == progress.Current {
			mark = "*"
		}
		record := *progress.of(e.ID())
		state := stateOf(record)
		if state == "new" && slices.Contains(started, e.ID()) {
			state = "started" // its record is lost
		}
		fmt.Fprintf(table, "%s %d\t%s\t%s\t%d\t%s\n", mark, e.Stage.Number, e.Name, level(e), e.Judge.Minutes, state+helpOf(record))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, sentence := range incomplete {
		p.printf("%s", sentence)
	}
	return nil
}

// helpOf says which help was needed so far.
func helpOf(r Record) string {
	help := ""
	if r.Hints > 0 {
		help = ", " + number(r.Hints, "hint", "hints")
	}
	if !r.SolutionSeen.IsZero() {
		help += ", solution seen"
	}
	return help
}
