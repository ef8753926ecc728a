package verbs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

func (v verbs) newRun() *cobra.Command {
	return &cobra.Command{
		Use:   "run PROGRAM [ARGUMENT...]",
		Short: "Run a program whose connection to the API server lab cut and others break",
		Long: `Run a program with a KUBECONFIG that leads to the API server through a proxy of the
lab. The commands cut, freeze, slow, refuse and expire act there, so they meet this
program, and no other. The program takes the place of this command: it has its
process ID, its signals and its exit code.

The kubeconfig is the administrator's, but for the address of the server. The proxy
listens on 127.0.0.1 only, and wants the same certificate or token as the API server.`,
		Example:            "  lab run ./first > first.log & first=$!\n  lab cut watches",
		DisableFlagParsing: true, // every flag is the program's
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name a program: lab run ./first")
			}
			if args[0] == "-h" || args[0] == "--help" {
				return cmd.Help()
			}
			p, err := v.place()
			if err != nil {
				return err
			}
			program, err := exec.LookPath(args[0])
			if err != nil {
				return err
			}
			faulty, err := p.Faulty()
			if err != nil {
				return err
			}
			if err := os.Setenv("KUBECONFIG", faulty); err != nil {
				return err
			}
			if err := syscall.Exec(program, args, os.Environ()); err != nil {
				return fmt.Errorf("running %s: %w", args[0], err)
			}
			return nil
		},
	}
}
