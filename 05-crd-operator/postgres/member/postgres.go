package member

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// server is the PostgreSQL of a member.
type server struct {
	programs string // the folder of postgres and initdb
	files    layout
	settings settings
	// renamed is whether ALTER SYSTEM has named other standbys, which the agent has not noted yet.
	renamed bool

	process atomic.Pointer[process] // nil if none was started
}

// endedError is about a PostgreSQL that has ended by itself, and how.
func (s *server) endedError() error {
	how := "it was not started"
	if p := s.process.Load(); p != nil && p.ended() {
		how = p.cmd.ProcessState.String()
	}
	return fmt.Errorf("PostgreSQL has ended by itself: %s; its log says why", how)
}

// initDB makes a database, and the roles in it. It gets its name when it has both: as soon as there
// is a primary, a backup, a standby and applications connect as these roles.
func (s *server) initDB(ctx context.Context) error {
	passwords, err := s.settings.secrets.passwords()
	if err != nil {
		return err
	}
	commands, err := makeRoles(passwords)
	if err != nil {
		return err
	}
	passfile := s.settings.passfile()
	if err := replaceFile(passfile, passwords[superuser]+"\n"); err != nil {
		return err
	}
	defer os.Remove(passfile)
	if err := s.files.clean(); err != nil {
		return err
	}
	if err := s.runProgram(ctx, "", "initdb", "--pgdata", s.files.partial(), "--username", superuser, "--pwfile", passfile,
		"--encoding", "UTF8", "--locale", "C", "--data-checksums"); err != nil {
		return fmt.Errorf("making a database: %w", err)
	}
	// In this mode PostgreSQL is one process, which reads commands and listens nowhere. A command
	// that fails ends it, and is in no log.
	if err := s.runProgram(ctx, commands, "postgres", "--single", "-D", s.files.partial(),
		"-c", "exit_on_error=on", "-c", "log_min_error_statement=panic", "postgres"); err != nil {
		return fmt.Errorf("making the roles: %w", err)
	}
	return s.files.keep()
}

// runProgram runs one of PostgreSQL's programs to its end.
func (s *server) runProgram(ctx context.Context, input, name string, args ...string) error {
	var output bytes.Buffer
	command := exec.Command(filepath.Join(s.programs, name), args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &output, &output
	program, err := start(command)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, program.stopImmediate)()
	if <-program.done; program.err != nil {
		return fmt.Errorf("%w: %s", program.err, output.String())
	}
	return nil
}

// start starts PostgreSQL as a standby that receives from nobody, if it does not run. Who
// takes writes is promoted, always.
func (s *server) start() error {
	if s.running() {
		return nil
	}
	if s.lost() {
		return s.endedError()
	}
	s.settings.names, s.settings.primary = nobody, peer{}
	if err := s.prepare(); err != nil {
		return err
	}
	args, err := s.arguments()
	if err != nil {
		return err
	}
	postgres := exec.Command(filepath.Join(s.programs, "postgres"), args...)
	// Where it would look for a certificate to show to other members, which want none.
	postgres.Env = append(os.Environ(), "HOME="+s.settings.sockets)
	postgres.Stdout, postgres.Stderr = os.Stdout, os.Stderr
	before, _ := os.ReadFile(s.files.lock()) // of another run, if there is one
	process, err := start(postgres)
	if err != nil {
		return err
	}
	s.process.Store(process)
	s.awaitLock(process, before)
	return nil
}

// recoverAlone has PostgreSQL recover as if it had never been a standby, and stop. It's one process, which
// listens nowhere.
func (s *server) recoverAlone(ctx context.Context) error {
	s.stopImmediate()
	if err := os.RemoveAll(filepath.Join(s.files.database(), standbySignal)); err != nil {
		return err
	}
	args, err := s.arguments()
	if err != nil {
		return err
	}
	if err := s.runProgram(ctx, "", "postgres", slices.Concat([]string{"--single"}, args, []string{"template1"})...); err != nil {
		return fmt.Errorf("recovering alone: %w", err)
	}
	return nil
}

// prepare writes the files that PostgreSQL starts with. It also takes from the group what a kubelet may
// have given to it at the mount (fsGroup): PostgreSQL doesn't start in a folder that others can write to.
func (s *server) prepare() error {
	if err := os.Chmod(s.files.database(), 0o700); err != nil {
		return err
	}
	if _, err := s.installCertificate(); err != nil {
		return err
	}
	if _, err := s.dropAltered(own()); err != nil {
		return err
	}
	s.renamed = false // nobody has committed meanwhile
	if err := s.write(); err != nil {
		return err
	}
	if err := replaceFile(s.files.hba(), access); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(s.files.database(), standbySignal), ""); err != nil {
		return err
	}
	return s.files.dropPlaceholders()
}

// arguments are those of the files, of what never changes, and of what the database needs.
func (s *server) arguments() ([]string, error) {
	args, values := s.files.arguments(), s.settings.values(s.files)
	for _, name := range fixed {
		args = append(args, "-c", name+"="+values[name])
	}
	if s.settings.bounded { // once promoted, a copy would take what publishers send the member, and send once
		args = append(args, "-c", "max_logical_replication_workers=0")
	}
	lacking, err := s.lacking(s.configured)
	for _, value := range lacking {
		klog.Background().Info("the database needs more than its settings say", "argument", value)
		args = append(args, "-c", value)
	}
	return args, err
}

// lockTimeout is how long PostgreSQL may take to lock a database; it takes milliseconds.
const lockTimeout = 10 * time.Second

// awaitLock returns when PostgreSQL has locked the database, or has ended. Until then it may not
// know yet what to do about signals, and a request to reload would end it.
func (s *server) awaitLock(p *process, before []byte) {
	mine := fmt.Appendln(nil, p.cmd.Process.Pid)
	_ = wait.PollUntilContextTimeout(context.Background(), interval/10, lockTimeout, true, func(context.Context) (bool, error) {
		now, err := os.ReadFile(s.files.lock())
		return p.ended() || err == nil && bytes.HasPrefix(now, mine) && !bytes.Equal(now, before), nil
	})
}

// write writes the settings. PostgreSQL reads them when it starts, or when it is told to.
func (s *server) write() error {
	if err := s.writePassfile(); err != nil {
		return err
	}
	return replaceFile(s.files.settings(), s.settings.file(s.files))
}

// reload has PostgreSQL read its settings again. It does so soon.
func (s *server) reload() error {
	if _, err := s.dropAltered(promised); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	return s.signalReload()
}

// signalReload has PostgreSQL read its files again.
func (s *server) signalReload() error {
	p := s.process.Load()
	if p == nil {
		return s.endedError()
	}
	return p.cmd.Process.Signal(syscall.SIGHUP)
}

// running reports whether there is a process that has not been stopped.
func (s *server) running() bool {
	p := s.process.Load()
	return p != nil && !p.ended()
}

// lost reports whether PostgreSQL has ended by itself.
func (s *server) lost() bool {
	p := s.process.Load()
	return p != nil && p.ended() && !p.stopped.Load()
}

func (s *server) stopFast(timeout time.Duration) { s.process.Load().stopFast(timeout) }
func (s *server) stopImmediate()                 { s.process.Load().stopImmediate() }

// wipe removes the database.
func (s *server) wipe() error {
	s.stopImmediate()
	return s.files.wipe()
}

// setAside stops PostgreSQL cleanly, so that all of the log is applied, and keeps the database beside.
func (s *server) setAside(folder string) error {
	s.stopFast(lastFor)
	return s.files.setAside(folder)
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d\S*)`)

// findVersion returns the version of PostgreSQL, such as 17.6.
func findVersion(ctx context.Context, programs string) (string, error) {
	output, err := exec.CommandContext(ctx, filepath.Join(programs, "postgres"), "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking postgres for its version: %w; name the folder of PostgreSQL's programs with --programs", err)
	}
	found := versionLine.FindSubmatch(output)
	if found == nil {
		return "", fmt.Errorf("asking postgres for its version: unexpected answer %q", output)
	}
	return string(found[1]), nil
}
