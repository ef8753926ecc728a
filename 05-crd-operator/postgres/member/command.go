package member

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// volumes is the variable with the folder that volumes are in, for a container that has no
// file system of its own. The lab sets it where it cannot give it one.
const volumes = "LAB_ROOT"

// Command returns the program.
func Command() *cobra.Command {
	var (
		config                     cli.ConfigFlags
		o                          Options
		cluster, uid, passwordFile string
		ip, port, statusPort       string
	)
	command := &cobra.Command{
		Use:   "agent",
		Short: "Run one PostgreSQL of a PostgresCluster",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			for flag, value := range map[string]string{"--cluster": cluster, "--name": o.Name, "--uid": uid, "--data": o.Data, "--address": ip} {
				if value == "" {
					return cli.UsageError(command, fmt.Errorf("%s is missing", flag))
				}
			}
			config, namespace, err := config.Load()
			if err != nil {
				return err
			}
			ctrl.SetLogger(klog.FromContext(command.Context()))
			o.UID, o.Data = types.UID(uid), os.Getenv(volumes)+o.Data
			o.Address, o.Status = net.JoinHostPort(ip, port), net.JoinHostPort(ip, statusPort)
			name := types.NamespacedName{Namespace: namespace, Name: cluster}
			if o.Cluster, err = NewCluster(config, name); err != nil {
				return err
			}
			if o.Lease, err = NewLease(config, name, o.UID); err != nil {
				return err
			}
			if o.Password, err = readPassword(passwordFile); err != nil {
				return err
			}
			if o.Programs, err = findPrograms(o.Programs); err != nil {
				return err
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
	flags.StringVar(&passwordFile, "password-file", "", "the `file` with the password of the user postgres, the same for all members")
	flags.StringVar(&o.Programs, "programs", "", "the `folder` of postgres and initdb; without it, that of the postgres in PATH")
	return command
}

func readPassword(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading --password-file: %w", err)
	}
	password := strings.TrimSpace(string(content))
	if password == "" {
		return "", fmt.Errorf("%s is empty; put a password into it", file)
	}
	return password, nil
}

// findPrograms returns where postgres is. It must be its real folder: PostgreSQL finds its
// other files from there.
func findPrograms(folder string) (string, error) {
	if folder != "" {
		return folder, nil
	}
	postgres, err := exec.LookPath("postgres")
	if err != nil {
		return "", errors.New("postgres is not in PATH; name the folder of PostgreSQL's programs with --programs")
	}
	if postgres, err = filepath.EvalSymlinks(postgres); err != nil {
		return "", err
	}
	return filepath.Dir(postgres), nil
}
