package member

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/trace"
)

// volumes is the variable with the folder that volumes are in, for a container that has no
// file system of its own. The lab sets it where it cannot give it one.
const volumes = "LAB_ROOT"

// Command returns the program.
func Command() *cobra.Command {
	var (
		config               cli.ConfigFlags
		o                    options
		ip, port, statusPort string
		traced               string
	)
	command := &cobra.Command{
		Use:   "agent",
		Short: "Run one PostgreSQL of a PostgresCluster",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := requireFlags(command, "cluster", "name", "uid", "data", "secrets", "address"); err != nil {
				return err
			}
			ctrl.SetLogger(klog.FromContext(command.Context()))
			o.Data, o.Secrets, o.Backup, o.Source = inVolumes(o.Data), inVolumes(o.Secrets), inVolumes(o.Backup), inVolumes(o.Source)
			o.Address, o.Status = net.JoinHostPort(ip, port), net.JoinHostPort(ip, statusPort)
			var err error
			if o.Cluster.config, o.Cluster.name.Namespace, err = config.Load(); err != nil {
				return err
			}
			if o.Lease, err = o.Cluster.lock(o.UID); err != nil {
				return err
			}
			if o.Programs, o.Program, err = findPrograms(o.Programs); err != nil {
				return err
			}
			if traced != "" {
				file, err := os.OpenFile(traced, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					return fmt.Errorf("opening the file of --trace: %w", err)
				}
				defer file.Close()
				o.Trace = trace.NewRecorder(file)
			}
			a, err := newAgent(command.Context(), o)
			if err != nil {
				return err
			}
			return a.run(command.Context())
		},
	}
	flags := command.Flags()
	config.AddFlags(flags)
	config.AddNamespaceFlag(flags)
	flags.StringVar(&o.Cluster.name.Name, "cluster", "", "the `name` of the PostgresCluster, and of its Lease")
	flags.StringVar(&o.Name, "name", "", "the `name` of the pod")
	flags.StringVar((*string)(&o.UID), "uid", "", "the `UID` of the pod")
	flags.StringVar(&o.Data, "data", "", "the `folder` of the volume")
	flags.StringVar(&ip, "address", "", "the `IP` address of the pod")
	flags.StringVar(&port, "port", "5432", "the `port` of PostgreSQL")
	flags.StringVar(&statusPort, "status-port", "8008", "the `port` of /status and /readyz")
	addBackupFlag(command, &o.Backup)
	flags.DurationVar(&o.ArchiveTimeout, "archive-timeout", time.Minute, "how long a commit waits at most until it is archived")
	flags.StringVar((*string)(&o.Source), "source", "", "the `folder` of the backups to restore, if the status asks for that")
	flags.StringVar(&traced, "trace", "", "the `file` to which it appends what it observes and decides, for tests")
	addServerFlags(command, &o.Secrets, &o.Programs)
	command.AddCommand(archiveSubcommand(), fetchSubcommand(), backupSubcommand())
	return command
}

// findPrograms returns the folder of PostgreSQL's programs, which may have been named, and the path
// of this one.
func findPrograms(named string) (folder, program string, err error) {
	if program, err = os.Executable(); err != nil || named != "" {
		return named, program, err
	}
	postgres, err := exec.LookPath("postgres")
	if err != nil {
		return "", "", errors.New("postgres is not in PATH; name the folder of PostgreSQL's programs with --programs")
	}
	// Its real folder: PostgreSQL finds its other files from there.
	if postgres, err = filepath.EvalSymlinks(postgres); err != nil {
		return "", "", err
	}
	return filepath.Dir(postgres), program, nil
}

// These are exit codes of fetch. One above 125 has PostgreSQL give up a recovery: it would take
// any other for the end of the archive, and end the recovery too early.
const (
	notThere = 1
	aborts   = 255
)

// archiveSubcommand and fetchSubcommand are for PostgreSQL.
func archiveSubcommand() *cobra.Command {
	return &cobra.Command{
		Use:   "archive BACKUPS PATH",
		Short: "Put a file of the log into the archive; PostgreSQL runs it in the folder of the database",
		Args:  cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return archiveOrNote(command.Context(), archive.Folder(args[0]), args[1])
		},
	}
}

func fetchSubcommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch BACKUPS LAST NAME PATH",
		Short: "Copy a file of the log from the archive, but no segment after the last one; PostgreSQL runs it",
		Args:  cobra.ExactArgs(4),
		Run: func(command *cobra.Command, args []string) {
			err := archive.Folder(args[0]).Get(args[2], args[1], args[3])
			switch {
			case errors.Is(err, archive.ErrNotThere):
				os.Exit(notThere) // which is how every recovery ends, and nothing to read about
			case err != nil:
				fmt.Fprintln(command.ErrOrStderr(), "error:", err)
				os.Exit(aborts)
			}
		},
	}
}

func backupSubcommand() *cobra.Command {
	var o backupOptions
	command := &cobra.Command{
		Use:   "backup",
		Short: "Make a base backup of a member, and restore it on trial",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if err := requireFlags(command, "backup", "trial", "secrets", "member", "address", "member-uid"); err != nil {
				return err
			}
			o.Folder, o.Trial, o.Secrets = inVolumes(o.Folder), inVolumes(o.Trial), inVolumes(o.Secrets)
			if o.Programs, o.Program, err = findPrograms(o.Programs); err != nil {
				return err
			}
			return o.run(command.Context())
		},
	}
	addBackupFlag(command, &o.Folder)
	flags := command.Flags()
	flags.StringVar(&o.Member, "member", "", "the `name` of the member to copy")
	flags.StringVar(&o.Address, "address", "", "the `host:port` of its PostgreSQL")
	flags.StringVar((*string)(&o.UID), "member-uid", "", "the `UID` of its pod")
	flags.StringVar(&o.Trial, "trial", "", "an empty `folder` to restore the copy in")
	flags.IntVar(&o.Keep, "keep", 7, "the `number` of base backups that are kept")
	addServerFlags(command, &o.Secrets, &o.Programs)
	return command
}

func addBackupFlag(command *cobra.Command, folder *archive.Folder) {
	command.Flags().StringVar((*string)(folder), "backup", "", "the `folder` of the backups")
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

// inVolumes is where a folder of the pod is, if there is one.
func inVolumes[T ~string](folder T) T {
	if folder == "" {
		return ""
	}
	return T(os.Getenv(volumes)) + folder
}
