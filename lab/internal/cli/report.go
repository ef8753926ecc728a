package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"

	"github.com/spf13/cobra"
	"k8s.io/component-base/version"

	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/report"
	"example.com/hacking-a-controller/lab/internal/runtime"
	"example.com/hacking-a-controller/lab/internal/staticpod"
)

func newReport(a *app) *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "report",
		Short: "Write an archive to attach to an issue: status, versions, settings, the end of each log",
		Long: `Write an archive to attach to an issue: the status, versions, settings of the kernel
and of the lab, the last 500 lines of each log, and the events of the cluster. It works
with a lab that is stopped or broken, too. Keys, tokens and passwords are taken out; the
names of your objects, images and folders are not. Look through it before you publish it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.layout()
			if err != nil {
				return err
			}
			missing, err := report.Write(cmd.Context(), output, parts(l))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Wrote %s. To look through it first: tar -xzf %s\n", output, quote(output))
			for _, sentence := range missing {
				fmt.Fprintf(a.out, "missing: %s\n", sentence)
			}
			return nil
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "lab-report.tar.gz", "the file to write")
	return command
}

func parts(l layout.Layout) []report.Part {
	all := []report.Part{
		{Name: "versions.txt", Collect: versions},
		{Name: "machine.txt", Collect: machine},
		{Name: "status.txt", Collect: func(ctx context.Context, out io.Writer) error { return look(ctx, l, out) }},
		{Name: "events.json", Collect: func(ctx context.Context, out io.Writer) error { return events(ctx, l, out) }},
		report.File("settings.json", l.Settings()),
		report.File("state.json", l.State()),
	}
	for _, name := range logNames() {
		if _, err := os.Stat(l.Log(name)); err != nil && name == requestsLog {
			continue // lab run writes it, and nobody may have used that
		}
		all = append(all, report.File("logs/"+name+".log", l.Log(name)))
	}
	for _, name := range staticpod.Names {
		if c, err := newestContainer(l, name); err == nil && c.ID != "" {
			all = append(all, report.File("logs/"+c.Pod+".log", c.LogPath))
		}
	}
	return all
}

func versions(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "Kubernetes %s, %s, %s/%s\n", version.Get().GitVersion, goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
	exe, err := layout.Executable()
	if err != nil {
		return err
	}
	commit, err := exec.CommandContext(ctx, "git", "-C", filepath.Dir(exe), "describe", "--always", "--dirty", "--abbrev=40").Output()
	if err != nil {
		return fmt.Errorf("asking git for the commit: %w", err)
	}
	fmt.Fprintf(out, "%s, in a clone of commit %s", exe, commit)
	return nil
}

// machineFiles have what has kept a lab, or its pods, from working. Not every kernel has all.
var machineFiles = []string{
	"/proc/version", "/etc/os-release", "/proc/self/limits", "/proc/meminfo", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max",
	"/proc/sys/fs/inotify/max_user_instances", "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/vm/max_map_count",
	"/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
}

func machine(_ context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%d cores, user %d\n", goruntime.NumCPU(), os.Geteuid())
	for _, file := range machineFiles {
		content, err := os.ReadFile(file)
		if err != nil {
			content = []byte("none\n")
		}
		fmt.Fprintf(out, "\n%s:\n%s", file, content)
	}
	return nil
}

// look shows what lab status does, and what is there when no lab runs.
func look(ctx context.Context, l layout.Layout, out io.Writer) error {
	a := &app{dir: l.Root(), out: out}
	if _, err := a.existing(); err != nil {
		return err
	}
	fmt.Fprintln(out, "isolation of containers: "+runtime.Isolation(l.Runtime()))
	containers, err := runtime.Containers(l.Runtime())
	a.printContainers(containers, true)
	fmt.Fprintln(out)
	statusErr := a.status(ctx, l)
	if code := exitCode(0); errors.As(statusErr, &code) { // it has said what is wrong
		statusErr = nil
	}
	return errors.Join(err, statusErr)
}

func events(ctx context.Context, l layout.Layout, out io.Writer) error {
	client, err := cluster.NewClient(l.AdminKubeconfig())
	if err != nil {
		return err
	}
	list, err := client.CoreV1().RESTClient().Get().Resource("events").Param("limit", "2000").DoRaw(ctx)
	if err != nil {
		return err
	}
	_, err = out.Write(list)
	return err
}
