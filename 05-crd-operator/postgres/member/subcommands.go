package member

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
)

// These are exit codes of fetch. One above 125 has PostgreSQL give up a recovery: it would take
// any other for the end of the archive, and end the recovery too early.
const (
	notThere = 1
	aborts   = 255
)

// archiveSubcommand and fetchSubcommand are for PostgreSQL.
func archiveSubcommand() *cobra.Command {
	var folder string
	command := &cobra.Command{
		Use:   "archive PATH",
		Short: "Put a file of the log into the archive; PostgreSQL runs it in the folder of the database",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := requireFlags(command, "backup"); err != nil {
				return err
			}
			return archiveOrNote(command.Context(), archive.Folder(folder), args[0])
		},
	}
	addBackupFlag(command, &folder)
	return command
}

func fetchSubcommand() *cobra.Command {
	var folder, last string
	command := &cobra.Command{
		Use:   "fetch NAME PATH",
		Short: "Copy a file of the log from the archive; PostgreSQL runs it",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			err := requireFlags(command, "backup")
			if err == nil {
				err = archive.Folder(folder).Get(args[0], last, args[1])
			}
			switch {
			case errors.Is(err, archive.ErrNotThere):
				os.Exit(notThere) // which is how every recovery ends, and nothing to read about
			case err != nil:
				fmt.Fprintln(command.ErrOrStderr(), "error:", err)
				os.Exit(aborts)
			}
			return nil
		},
	}
	addBackupFlag(command, &folder)
	command.Flags().StringVar(&last, "last", "", "the `name` of the last segment that is wanted; without it, all are")
	return command
}

func backupSubcommand() *cobra.Command {
	var (
		o           BackupOptions
		folder, uid string
	)
	command := &cobra.Command{
		Use:   "backup",
		Short: "Make a base backup of a member, and restore it on trial",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if err := requireFlags(command, "backup", "trial", "secrets", "member", "address", "member-uid"); err != nil {
				return err
			}
			o.UID, o.Folder, o.Trial, o.Secrets = types.UID(uid), archive.Folder(inVolumes(folder)), inVolumes(o.Trial), inVolumes(o.Secrets)
			if o.Programs, o.Program, err = findPrograms(o.Programs); err != nil {
				return err
			}
			return Backup(command.Context(), o)
		},
	}
	addBackupFlag(command, &folder)
	flags := command.Flags()
	flags.StringVar(&o.Member, "member", "", "the `name` of the member to copy")
	flags.StringVar(&o.Address, "address", "", "the `host:port` of its PostgreSQL")
	flags.StringVar(&uid, "member-uid", "", "the `UID` of its pod")
	flags.StringVar(&o.Trial, "trial", "", "an empty `folder` to restore the copy in")
	flags.IntVar(&o.Keep, "keep", 7, "the `number` of base backups that are kept")
	addServerFlags(command, &o.Secrets, &o.Programs)
	return command
}

func addBackupFlag(command *cobra.Command, folder *string) {
	command.Flags().StringVar(folder, "backup", "", "the `folder` of the backups")
}

func addServerFlags(command *cobra.Command, secrets, programs *string) {
	command.Flags().StringVar(secrets, "secrets", "", "the `folder` of the passwords and certificates, the same for all members")
	command.Flags().StringVar(programs, "programs", "", "the `folder` of postgres and initdb; without it, that of the postgres in PATH")
}

// requireFlags says which flag is missing.
func requireFlags(command *cobra.Command, names ...string) error {
	for _, name := range names {
		if command.Flag(name).Value.String() == "" {
			return cli.UsageError(command, fmt.Errorf("--%s is missing", name))
		}
	}
	return nil
}

// inVolumes is where a folder of the pod is.
func inVolumes(folder string) string { return os.Getenv(volumes) + folder }
