package proof

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

// NewCommand returns the command that proves exercises.
func NewCommand() *cobra.Command {
	// A third of the time, an exercise waits for what its broken program never does.
	reproduce := false
	p := Prover{Jobs: min(runtime.NumCPU()+1, 3), Timeout: 30 * time.Minute}
	command := &cobra.Command{
		Use:   "prove [STAGE | STAGE/NAME]...",
		Short: "Prove that the exercises are honest",
		Long: `Prove that the exercises are honest. It works in copies of the repository, with what is
not committed yet, in the user's cache folder, and keeps there what it found honest. With
--fresh or FRESH=1, it proves each exercise again.

With --reproduce, it runs what the pages say under "Reproduce it" instead, one after the other in
a lab of its own: with the patch, the block must print what its page shows, and without it something
else.`,
		Example: "  workshop exercise prove\n" +
			"  workshop exercise prove 4 5/status-echo\n" +
			"  workshop exercise prove --reproduce 4/tombstone",
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.Jobs < 1 {
				return fmt.Errorf("--jobs=%d: prove one exercise at once at least", p.Jobs)
			}
			p.Out = cmd.OutOrStdout()
			p.Fresh = p.Fresh || verdict.Fresh()
			if err := p.find(cmd.Context()); err != nil {
				return err
			}
			targets, err := Targets(p.Repository, args)
			if err != nil {
				return err
			}
			if reproduce {
				if !cmd.Flags().Changed("timeout") {
					p.Timeout = blockTimeout
				}
				return p.Reproduce(cmd.Context(), targets)
			}
			if note := (gotest.Module{Assets: p.Lab.Path("lab", "bin")}).MissingAssets(); note != "" {
				cmd.Println(note)
			}
			return p.Prove(cmd.Context(), targets)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&p.Tested, "tested", false, "take it as given that the stages pass their tests without a patch")
	flags.BoolVar(&p.Dependents, "dependents", false, "test also the packages that depend on what a patch touches")
	flags.BoolVar(&p.Fresh, "fresh", false, "prove also what an earlier run found honest")
	flags.IntVar(&p.Jobs, "jobs", p.Jobs, "how many exercises to prove at once")
	flags.DurationVar(&p.Timeout, "timeout", p.Timeout, "how long one run of tests may take (with --reproduce: a block, 5m unless set)")
	flags.BoolVar(&reproduce, "reproduce", false, "run the blocks under \"Reproduce it\" instead of the tests")
	for _, other := range []string{"tested", "dependents", "fresh", "jobs"} {
		command.MarkFlagsMutuallyExclusive("reproduce", other)
	}
	return command
}

// find fills in where everything is.
func (p *Prover) find(ctx context.Context) error {
	r, err := repository.Find(ctx, ".")
	if err != nil {
		return err
	}
	p.Repository, p.Lab = r, r
	if _, err := os.Stat(r.Path("lab", "bin")); err != nil {
		if p.Lab, err = r.Home(ctx); err != nil {
			return err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("looking for a folder to prove exercises in: %w", err)
	}
	p.Cache = filepath.Join(cache, "hacking-a-controller")
	p.Program, err = os.Executable()
	return err
}
