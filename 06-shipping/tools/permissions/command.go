package permissions

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

// The exit codes of the program.
const (
	exact   = 0
	differs = 1 // something is too much, or missing
	unknown = 2
)

// Main runs the program permissions and returns its exit code. A file named - is
// stdin.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	code, err := run(args, stdin, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "permissions:", err)
	}
	return code
}

func run(args []string, stdin io.Reader, stdout io.Writer) (int, error) {
	flags := pflag.NewFlagSet("permissions", pflag.ContinueOnError)
	flags.SortFlags = false
	name := flags.String("service-account", "", "whose permissions, as `NAMESPACE/NAME`")
	manifests := flags.StringArray("rules", nil, "a `FILE` with roles and bindings, - for stdin; may be given again")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Compare what a service account may do with what it did.\n\nUsage:\n  permissions --service-account NAMESPACE/NAME --rules FILE AUDIT_LOG...\n\nFlags:\n%s\nAUDIT_LOG is a file that an API server writes for --audit-log-path; the lab's is\n.lab/logs/audit.log, and beside it may be the one before. The exit code is 1\nwhen a right was never used or one was missing, and 2 when that cannot be told.\n", flags.FlagUsages())
	}
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return exact, nil
	} else if err != nil {
		return unknown, fmt.Errorf("%w; see permissions --help", err)
	}
	account, err := ParseAccount(*name)
	if err != nil {
		return unknown, fmt.Errorf("--service-account: %w; see permissions --help", err)
	}
	if len(*manifests) == 0 || flags.NArg() == 0 {
		return unknown, errors.New("name the manifests with --rules, and after the flags the files of the audit log")
	}
	report, log, err := compareFiles(account, *manifests, flags.Args(), stdin)
	if err != nil {
		return unknown, err
	}
	report.Write(stdout, log)
	if !report.Exact() {
		return differs, nil
	}
	return exact, nil
}

func compareFiles(account Account, manifests, logs []string, stdin io.Reader) (Report, *Log, error) {
	var rules Rules
	if err := each(manifests, stdin, rules.Read); err != nil {
		return Report{}, nil, err
	}
	grants, err := rules.Of(account)
	if err != nil {
		return Report{}, nil, err
	}
	log := NewLog(account)
	if err := each(logs, stdin, log.Read); err != nil {
		return Report{}, nil, err
	}
	switch {
	case len(grants) == 0:
		return Report{}, nil, fmt.Errorf("no binding in %s is for the service account %s; give the files that bind it", some(manifests), account)
	case log.Requests == 0:
		return Report{}, nil, fmt.Errorf("%s has no request of the service account %s; let it work, with the audit log switched on", some(logs), account)
	}
	return Compare(grants, log.Uses), log, nil
}

// each opens one file after the other.
func each(names []string, stdin io.Reader, read func(io.Reader) error) error {
	for _, name := range names {
		if err := open(name, stdin, read); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return nil
}

func open(name string, stdin io.Reader, read func(io.Reader) error) error {
	if name == "-" {
		return read(stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return read(file)
}
