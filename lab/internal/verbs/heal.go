package verbs

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/faults"
)

func (v verbs) newHeal() *cobra.Command {
	return v.healCommand("", &cobra.Command{
		Use:   "heal [TARGET]",
		Short: "End all faults, or those of a target",
	})
}

func (v verbs) newThaw() *cobra.Command {
	return v.healCommand(faults.Freeze, &cobra.Command{
		Use:   "thaw [TARGET]",
		Short: "Let the events arrive that lab freeze holds back",
	})
}

// healCommand makes of a command one that ends faults of a kind, or of all kinds.
func (v verbs) healCommand(kind faults.Kind, command *cobra.Command) *cobra.Command {
	command.Args = asUsed
	command.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := v.place()
		if err != nil {
			return err
		}
		cure := faults.Cure{Kind: kind}
		if len(args) == 1 {
			if cure.Target, err = p.resourceNamed(args[0]); err != nil {
				return err
			}
		}
		return heal(cmd.OutOrStdout(), p, cure)
	}
	return command
}

func heal(out io.Writer, p Place, cure faults.Cure) error {
	proxy, err := faults.Dial(p.Socket)
	if err != nil {
		return err
	}
	defer proxy.Close()
	ended, err := proxy.Heal(cure)
	for _, f := range ended {
		fmt.Fprintln(out, "healed:", f)
	}
	if err == nil && len(ended) == 0 {
		fmt.Fprintln(out, "healed: nothing")
	}
	return err
}

// Print lists what is wrong for programs of `lab run`, and prints nothing if all is well.
func Print(out io.Writer, socket string) {
	proxy, err := faults.Dial(socket)
	if err != nil {
		return // it is starting, or ending
	}
	defer proxy.Close()
	all, err := proxy.List()
	if err != nil || len(all) == 0 {
		return
	}
	fmt.Fprintln(out, "\nFAULT (for programs of lab run)")
	for _, f := range all {
		fmt.Fprintln(out, f)
	}
}
