package proof

import (
	"fmt"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Target is what is proved of one stage.
type Target struct {
	Stage repository.Stage
	Names []string // of its exercises
	Whole bool     // whether these are all
}

// Targets reads arguments such as 4 and 4/tombstone. None are all stages.
func Targets(r repository.Repository, args []string) ([]Target, error) {
	if len(args) == 0 {
		stages, err := r.Stages()
		if err != nil {
			return nil, err
		}
		for _, stage := range stages {
			args = append(args, fmt.Sprint(stage.Number))
		}
	}
	var targets []Target
	for _, arg := range args {
		number, name, one := strings.Cut(arg, "/")
		stage, err := r.Stage(number)
		if err != nil {
			return nil, err
		}
		names, err := exercise.Names(r, stage)
		if err != nil {
			return nil, err
		}
		if one && !slices.Contains(names, name) {
			return nil, fmt.Errorf("stage %d has no exercise %q; it has: %s", stage.Number, name, strings.Join(names, ", "))
		}
		if one {
			targets = append(targets, Target{Stage: stage, Names: []string{name}})
		} else {
			targets = append(targets, Target{Stage: stage, Names: names, Whole: true})
		}
	}
	return targets, nil
}
