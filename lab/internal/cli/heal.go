package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/faults"
	"example.com/hacking-a-controller/lab/internal/layout"
)

func newHeal(a *app) *cobra.Command {
	return a.healCommand("", &cobra.Command{
		Use:   "heal [TARGET]",
		Short: "End all faults, or those of a target",
	})
}

func newThaw(a *app) *cobra.Command {
	return a.healCommand(faults.Freeze, &cobra.Command{
		Use:   "thaw [TARGET]",
		Short: "Let the events arrive that lab freeze holds back",
	})
}

// healCommand makes of a command one that ends faults of a kind, or of all kinds.
func (a *app) healCommand(kind faults.Kind, command *cobra.Command) *cobra.Command {
	command.Args = asUsed
	command.RunE = func(_ *cobra.Command, args []string) error {
		l, err := a.running()
		if err != nil {
			return err
		}
		cure := faults.Cure{Kind: kind}
		if len(args) == 1 {
			if cure.Target, err = resourceNamed(l, args[0]); err != nil {
				return err
			}
		}
		return a.heal(l, cure)
	}
	return command
}

func (a *app) heal(l layout.Layout, cure faults.Cure) error {
	proxy, err := faults.Dial(l.FaultsSocket())
	if err != nil {
		return err
	}
	defer proxy.Close()
	ended, err := proxy.Heal(cure)
	for _, f := range ended {
		fmt.Fprintln(a.out, "healed:", f)
	}
	if err == nil && len(ended) == 0 {
		fmt.Fprintln(a.out, "healed: nothing")
	}
	return err
}

// printFaults lists what is wrong for programs of `lab run`, and prints nothing if all is well.
func (a *app) printFaults(l layout.Layout) {
	proxy, err := faults.Dial(l.FaultsSocket())
	if err != nil {
		return // it is starting, or ending
	}
	defer proxy.Close()
	all, err := proxy.List()
	if err != nil || len(all) == 0 {
		return
	}
	fmt.Fprintln(a.out, "\nFAULT (for programs of lab run)")
	for _, f := range all {
		fmt.Fprintln(a.out, f)
	}
}
