package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// settings are what the flags say.
type settings struct {
	Options
	cache     string
	npm, find bool
}

// Command returns the program.
func Command() *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use:   "image",
		Short: "Make the image of a member of a PostgresCluster without Docker, as an OCI archive",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			err := s.run(command.Context(), command.OutOrStdout())
			if command.Context().Err() != nil {
				return errors.New("interrupted")
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&s.Output, "output", "../../bin/postgres.tar", "the archive")
	flags.StringVar(&s.Agent, "agent", "./cmd/agent", "the package of the agent")
	flags.StringVar(&s.cache, "cache", "../../bin/postgresql", "where the npm package is unpacked")
	flags.BoolVar(&s.npm, "npm", false, "take the npm package, whatever is on this machine")
	flags.BoolVar(&s.Minor, "minor", false, "have the minor version in the image's name, such as postgres-member:17.6, so that an operator that gets it replaces its pods")
	flags.BoolVar(&s.find, "find", false, "make nothing: print what PG_HOME would be")
	return command
}

func (s settings) run(ctx context.Context, stdout io.Writer) (err error) {
	search := Find
	if s.npm {
		search = fromNPM
	}
	s.PostgreSQL, err = search(ctx, s.cache)
	switch {
	case err != nil:
		return err
	case s.find:
		fmt.Fprintln(stdout, s.PostgreSQL.Home())
		return nil
	}
	fmt.Fprintf(stdout, "PostgreSQL %s (%s) in %s\n", s.PostgreSQL.Version, s.PostgreSQL.From, s.PostgreSQL.Bin)
	start := time.Now()
	made, err := Make(ctx, s.Options)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "made %s in %s: %s, %.1f MB\n  %s\n", made.Name, time.Since(start).Round(100*time.Millisecond),
		strings.TrimPrefix(s.Output, "../../"), float64(made.Size)/1e6, made.Digest)
	made.Licences.print(stdout)
	return nil
}

func (l Licences) print(out io.Writer) {
	fmt.Fprintf(out, "  with the licences of PostgreSQL, %d Go modules and %d packages of this machine\n", l.Modules, len(l.Packages))
	if len(l.Unknown) > 0 {
		fmt.Fprintf(out, "  keep it to yourself: whose licence %d files of this machine have is not known, such as %s\n", len(l.Unknown), l.Unknown[0])
	}
}
