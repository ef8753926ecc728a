package member

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/klog/v2"
)

// parameters are those of which a standby needs as much as its primary has, or had when it wrote the
// log: a recovery that comes to a higher value stops there. They are in the order of pg_control.
var parameters = []string{"max_connections", "max_worker_processes", "max_wal_senders", "max_prepared_transactions", "max_locks_per_transaction"}

// Where things are in pg_control. It has this form in PostgreSQL 15 to 18; in another one nothing is
// found, and then PostgreSQL says in its log what it needs.
const (
	controlVersion    = 8
	controlState      = 16
	controlFirst      = 180 // of the parameters
	parametersTimeout = 10 * time.Second
)

var controlVersions = []uint32{1300, 1800}

// needed are the parameters that the database needs, or none if it does not say.
func (l layout) needed() ([]int, error) {
	content, err := os.ReadFile(l.control())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, values := parseControl(content)
	return values, nil
}

// cutOff reports whether PostgreSQL took writes here when it was ended, and has not recovered since. A copy of such
// a database has a label.
func (l layout) cutOff() bool {
	const shuttingDown, inCrashRecovery, inProduction = 3, 4, 6
	content, _ := os.ReadFile(l.control()) // what cannot be read is PostgreSQL's to report
	state, _ := parseControl(content)
	_, err := os.Stat(filepath.Join(l.database(), "backup_label"))
	return errors.Is(err, os.ErrNotExist) && slices.Contains([]int{shuttingDown, inCrashRecovery, inProduction}, state)
}

// parseControl reads the state and the parameters in pg_control. On a machine with another byte order
// its version is none of those that are known.
func parseControl(content []byte) (state int, values []int) {
	const end = controlFirst + 4*5
	if len(content) < end {
		return 0, nil
	}
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(content[at:]) }
	if v := number(controlVersion); v != controlVersions[0] && v != controlVersions[1] {
		return 0, nil
	}
	values = make([]int, len(parameters))
	for i := range values {
		values[i] = int(number(controlFirst + 4*i))
	}
	return int(number(controlState)), values
}

// lacking are the parameters of which the database needs more than PostgreSQL has, and how much. A
// member is started with these, so it can have more of them than it had, and never less.
func (s *server) lacking(has func(parameter string) (string, error)) (values []string, err error) {
	needed, err := s.files.needed()
	if err != nil {
		return nil, fmt.Errorf("reading which settings the database needs: %w", err)
	}
	for i, least := range needed {
		text, err := has(parameters[i])
		if err != nil {
			return nil, err
		}
		set, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if set < least {
			values = append(values, fmt.Sprintf("%s=%d", parameters[i], least))
		}
	}
	return values, nil
}

// configured is what PostgreSQL would take a setting to be.
func (s *server) configured(name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), parametersTimeout)
	defer cancel()
	var problem bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(s.programs, "postgres"), append(s.files.arguments(), "-C", name)...)
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("asking postgres for %s: %w: %s", name, err, problem.String())
	}
	return string(output), nil
}

// show is what a PostgreSQL that runs takes a setting to be.
func (s session) show(ctx context.Context) func(name string) (string, error) {
	return func(name string) (string, error) {
		row, err := s.row(ctx, "SHOW "+name)
		if err != nil {
			return "", err
		}
		return row[0], nil
	}
}

// keepParameters stops a standby that can apply no more of the log of its primary, and that could
// not be promoted. It starts again with what it needs. One that somebody has paused goes on waiting.
func (a *agent) keepParameters(ctx context.Context) {
	if !a.paused || a.session.PgConn == nil {
		return
	}
	lacking, err := a.server.lacking(a.session.show(ctx))
	switch {
	case err != nil:
		klog.FromContext(ctx).Error(err, "PostgreSQL applies no more log, and it is not known what it lacks; trying again")
	case len(lacking) > 0:
		klog.FromContext(ctx).Info("PostgreSQL applies no more log; it starts again with what it needs", "lacking", lacking)
		a.session.close()
		a.server.stopFast(fastFor)
	}
}
