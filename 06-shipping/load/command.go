package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// Command returns the program.
func Command() *cobra.Command {
	var programs Programs
	command := &cobra.Command{
		Use:   "load",
		Short: "Measure what the manager takes, and for how long it holds",
	}
	flags := command.PersistentFlags()
	flags.StringVar(&programs.Lab, "lab", "../lab/bin/lab", "the lab's `program`")
	flags.StringVar(&programs.Kwok, "kwok", "bin/kwok", "the `program` that simulates nodes")
	flags.StringVar(&programs.Manager, "manager", "bin/manager", "the `program` to measure")
	flags.StringVar(&programs.CRDs, "crds", "config/crd", "the `folder` with the manager's CRDs")
	command.AddCommand(rampCommand(&programs), soakCommand(&programs))
	return command
}

// measurement is what both do: check what was asked for, measure, and say if it is not all.
func measurement(programs *Programs, check func() error, measure func(*cobra.Command) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, _ []string) error {
		if err := errors.Join(programs.check(), check()); err != nil {
			return cli.UsageError(command, err)
		}
		return interrupted(command.Context(), measure(command))
	}
}

func soakCommand(programs *Programs) *cobra.Command {
	o := SoakOptions{}
	command := &cobra.Command{
		Use:   "soak",
		Short: "Run Ats for hours, while leaders are killed and watches are cut, and see what grows",
		Args:  cli.NoArgs,
		RunE: measurement(programs, o.check, func(command *cobra.Command) error {
			o.Programs = *programs
			report, err := Soak(command.Context(), o, command.ErrOrStderr())
			if report != nil {
				report.Print(command.OutOrStdout())
			}
			return err
		}),
	}
	command.Flags().DurationVar(&o.For, "for", 2*time.Hour, "how `long`")
	command.Flags().Float64Var(&o.Rate, "rate", 5, "how `many` Ats a second")
	command.Flags().StringVar(&o.Profiles, "profiles", "bin", "the `folder` for profiles of a manager, if something grows")
	command.Flags().DurationVar(&o.Late, "late", time.Minute, "how `late` a pod must be for a schedule to be missed")
	return command
}

func rampCommand(programs *Programs) *cobra.Command {
	o := RampOptions{}
	command := &cobra.Command{
		Use:   "ramp",
		Short: "Run more and more Ats a second, and see where it bends",
		Args:  cli.NoArgs,
		RunE: measurement(programs, o.check, func(command *cobra.Command) error {
			o.Programs = *programs
			steps, err := Ramp(command.Context(), o, command.ErrOrStderr())
			PrintRamp(command.OutOrStdout(), steps, o.Bend)
			return err
		}),
	}
	command.Flags().Float64SliceVar(&o.Rates, "rates", []float64{5, 10, 20, 40, 80, 160, 320}, "how `many` Ats a second, one after the other")
	command.Flags().DurationVar(&o.Each, "each", 30*time.Second, "how `long` each")
	command.Flags().DurationVar(&o.Bend, "bend", 5*time.Second, "how `late` the slowest of a hundred pods must be to end it")
	return command
}

func (p Programs) check() error {
	for _, path := range []string{p.Lab, p.Kwok, p.Manager, p.CRDs} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w; make soak-6 and make load-6 build what is needed", err)
		}
	}
	return nil
}

func (o *SoakOptions) check() error {
	switch {
	case o.For < shortest:
		return fmt.Errorf("--for is %s, and in less than a minute nothing can be seen to grow", o.For)
	case o.Rate <= 0 || o.Rate > 100:
		return fmt.Errorf("--rate is %g, it must be more than 0 and at most 100", o.Rate)
	default:
		return nil
	}
}

func (o *RampOptions) check() error {
	if o.Each < 5*time.Second {
		return fmt.Errorf("--each is %s, it must be at least 5s", o.Each)
	}
	for i, rate := range o.Rates {
		if rate <= 0 || i > 0 && rate <= o.Rates[i-1] {
			return fmt.Errorf("--rates has %g, and each must be larger than the one before it", rate)
		}
	}
	return nil
}

// interrupted adds to what was found that it is not all. After Ctrl-C, the table has what was
// measured so far.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return errors.Join(errors.New("interrupted: this is what was measured so far"), err)
}
