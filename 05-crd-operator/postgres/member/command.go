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
	"k8s.io/apimachinery/pkg/types"
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
		o                    Options
		cluster, uid         string
		ip, port, statusPort string
		backup, source       string
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
			config, namespace, err := config.Load()
			if err != nil {
				return err
			}
			ctrl.SetLogger(klog.FromContext(command.Context()))
			o.UID, o.Data, o.Secrets = types.UID(uid), inVolumes(o.Data), inVolumes(o.Secrets)
			if backup != "" {
				o.Backup = archive.Folder(inVolumes(backup))
			}
			if source != "" {
				o.Source = archive.Folder(inVolumes(source))
			}
			o.Address, o.Status = net.JoinHostPort(ip, port), net.JoinHostPort(ip, statusPort)
			name := types.NamespacedName{Namespace: namespace, Name: cluster}
			if o.Cluster, err = NewCluster(config, name); err != nil {
				return err
			}
			if o.Lease, err = NewLease(config, name, o.UID); err != nil {
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
			return Run(command.Context(), o)
		},
	}
	flags := command.Flags()
	config.AddFlags(flags)
	config.AddNamespaceFlag(flags)
	flags.StringVar(&cluster, "cluster", "", "the `name` of the PostgresCluster, and of its Lease")
	flags.StringVar(&o.Name, "name", "", "the `name` of the pod")
	flags.StringVar(&uid, "uid", "", "the `UID` of the pod")
	flags.StringVar(&o.Data, "data", "", "the `folder` of the volume")
	flags.StringVar(&ip, "address", "", "the `IP` address of the pod")
	flags.StringVar(&port, "port", "5432", "the `port` of PostgreSQL")
	flags.StringVar(&statusPort, "status-port", "8008", "the `port` of /status and /readyz")
	addBackupFlag(command, &backup)
	flags.DurationVar(&o.ArchiveTimeout, "archive-timeout", time.Minute, "how long a commit waits at most until it is archived")
	flags.StringVar(&source, "source", "", "the `folder` of the backups to restore, if the status asks for that")
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
