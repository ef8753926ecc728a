package load

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// Command returns the program.
func Command() *cobra.Command {
	programs := Programs{Manager: "bin/manager", CRDs: "config/crd"}
	command := &cobra.Command{
		Use:   "load",
		Short: "Measure what the manager takes, and for how long it holds",
	}
	flags := command.PersistentFlags()
	flags.StringVar(&programs.Lab, "lab", "../lab/bin/lab", "the lab's `program`")
	flags.StringVar(&programs.Kwok, "kwok", "bin/kwok", "the `program` that simulates nodes")
	command.AddCommand(rampCommand(&programs), soakCommand(&programs))
	return command
}

// measurement is what both do: check what was asked for, measure, and say if it is not all.
func measurement(programs *Programs, check func() error, measure func(*cobra.Command) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, _ []string) error {
		if err := errors.Join(programs.check(), check()); err != nil {
			return cli.UsageError(command, err)
		}
		err := measure(command)
		if command.Context().Err() != nil { // after Ctrl-C, the table has what was measured so far
			err = errors.Join(errors.New("interrupted: this is what was measured so far"), err)
		}
		return err
	}
}

func soakCommand(programs *Programs) *cobra.Command {
	o := SoakOptions{Late: time.Minute, Profiles: "bin"}
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
			PrintRamp(command.OutOrStdout(), steps)
			return err
		}),
	}
	command.Flags().Float64SliceVar(&o.Rates, "rates", []float64{5, 10, 20, 40, 80, 160, 320}, "how `many` Ats a second, one after the other")
	command.Flags().DurationVar(&o.Each, "each", 30*time.Second, "how `long` each")
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
	if o.For < shortest {
		return fmt.Errorf("--for is %s, and in less than a minute nothing can be seen to grow", o.For)
	}
	if !(o.Rate > 0) || math.IsInf(o.Rate, 1) { // NaN isn't more than 0
		return fmt.Errorf("--rate is %g, it must be a number above 0", o.Rate)
	}
	return nil
}

func (o *RampOptions) check() error {
	for i, rate := range o.Rates {
		if !(rate > 0) || math.IsInf(rate, 1) || i > 0 && rate <= o.Rates[i-1] {
			return fmt.Errorf("--rates has %g; each must be a number above 0, and above the one before it", rate)
		}
	}
	if o.Each <= 0 {
		return fmt.Errorf("--each is %s, it must be more than 0", o.Each)
	}
	return nil
}
