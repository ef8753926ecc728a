package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/lab/internal/faults"
)

// aboutTargets ends the help of each command that takes a target.
const aboutTargets = `

TARGET is watches, for the watches of all resources; a resource, as in a Role (pods,
pods/status); or a path that begins with a slash, with all below it. Without a target it is
everything. Only programs that lab run has started meet a fault. To end it: lab heal`

func (v verbs) newCut() *cobra.Command {
	return v.faultCommand(faults.Cut, 0, &cobra.Command{
		Use:   "cut [TARGET]",
		Short: "Cut the connection of programs that lab run has started",
		Long: `Cut requests that run, watches too, and give new ones no answer. Without a target,
nobody listens any more: a connection is refused.` + aboutTargets,
		Example: "  lab cut\n  lab cut watches\n  lab cut ats --client=first",
	}, nil)
}

func (v verbs) newFreeze() *cobra.Command {
	return v.faultCommand(faults.Freeze, 0, &cobra.Command{
		Use:   "freeze TARGET",
		Short: "Hold back the events of watches, so that a cache is stale",
		Long: `Hold back the events of watches, so that a cache is stale. The watches stay open, and all
other requests are answered, also those that read the same resource. What was held back
arrives, in order, after lab thaw.` + aboutTargets,
		Example: "  lab freeze pods\n  lab freeze /api/v1/secrets",
	}, nil)
}

func (v verbs) newSlow() *cobra.Command {
	return v.faultCommand(faults.Slow, 1, &cobra.Command{
		Use:     "slow DURATION [TARGET]",
		Short:   "Let each request wait before it is passed on",
		Long:    `Let each request wait before it is passed on. A watch that is open goes on.` + aboutTargets,
		Example: "  lab slow 2s\n  lab slow 1h ats/status",
	}, func(f *faults.Fault, args []string) (err error) {
		if f.Delay, err = time.ParseDuration(args[0]); err != nil || f.Delay <= 0 {
			return fmt.Errorf("%q is no duration; write one such as 2s or 1m30s", args[0])
		}
		return nil
	})
}

// roleVerbs are those of a Role.
var roleVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

func (v verbs) newRefuse() *cobra.Command {
	return v.faultCommand(faults.Refuse, 1, &cobra.Command{
		Use:     "refuse CODE TARGET [VERB]",
		Short:   "Answer requests with an error",
		Long:    `Answer requests with an error. VERB is one of ` + strings.Join(roleVerbs, ", ") + `.` + aboutTargets,
		Example: "  lab refuse 500 pods\n  lab refuse 403 ats/status update",
	}, func(f *faults.Fault, args []string) (err error) {
		if f.Code, err = strconv.Atoi(args[0]); err != nil || f.Code < 400 || f.Code > 599 {
			return fmt.Errorf("%q is no code of an error; write one from 400 to 599", args[0])
		}
		if len(args) == 3 {
			f.Verb = args[2]
		}
		if f.Verb != "" && !slices.Contains(roleVerbs, f.Verb) {
			return fmt.Errorf("there is no verb %q: choose one of %s", f.Verb, strings.Join(roleVerbs, ", "))
		}
		return nil
	})
}

func (v verbs) newExpire() *cobra.Command {
	return v.faultCommand(faults.Expire, 0, &cobra.Command{
		Use:   "expire",
		Short: "Forget old versions: a watch from one gets 410",
		Long: `Have etcd forget all old versions (a compaction), and answer each watch from one with 410
Expired, as an API server does whose watch cache has forgotten them, too. Watches that are
open go on; to end them: lab cut watches. Only programs that lab run has started meet it.`,
	}, nil)
}

// faultCommand makes of a command one that makes a fault of a kind. The target is the argument at an
// index; read, if there is one, reads those before and after it. The use line names them all.
func (v verbs) faultCommand(kind faults.Kind, target int, command *cobra.Command, read func(f *faults.Fault, args []string) error) *cobra.Command {
	f := faults.Fault{Kind: kind}
	command.Args = asUsed
	command.RunE = func(cmd *cobra.Command, args []string) error {
		if read != nil {
			if err := read(&f, args); err != nil {
				return err
			}
		}
		if len(args) > target {
			f.Target = args[target]
		}
		p, err := v.place()
		if err != nil {
			return err
		}
		if f.Target, err = p.resourceNamed(f.Target); err != nil {
			return err
		}
		return makeFault(cmd.Context(), cmd.OutOrStdout(), p, f)
	}
	command.Flags().StringVar(&f.Client, "client", "", "only for the program of this name")
	return command
}

// asUsed accepts as many arguments as the use line names.
func asUsed(cmd *cobra.Command, args []string) error {
	all := strings.Fields(cmd.Use)[1:]
	needed := slices.DeleteFunc(slices.Clone(all), func(word string) bool { return word[0] == '[' })
	if len(args) < len(needed) || len(args) > len(all) {
		return errors.New("write: lab " + cmd.Use)
	}
	return nil
}

func makeFault(ctx context.Context, out io.Writer, p Place, f faults.Fault) (err error) {
	if f.Kind == faults.Expire {
		if f.Version, err = faults.Compact(ctx, p.Etcd); err != nil {
			return err
		}
	}
	proxy, err := faults.Dial(p.Socket)
	if err != nil {
		return err
	}
	defer proxy.Close()
	if err := proxy.Add(f); err != nil {
		return err
	}
	fmt.Fprintln(out, f)
	return nil
}
