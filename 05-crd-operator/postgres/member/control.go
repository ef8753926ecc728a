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
	controlFirst      = 180 // of the parameters
	parametersTimeout = 10 * time.Second
)

var controlVersions = []uint32{1300, 1800}

// needed are the parameters that the database needs, or none if it does not say.
func (l layout) needed() ([]int, error) {
	content, err := os.ReadFile(filepath.Join(l.database(), "global", "pg_control"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseControl(content), nil
}

// parseControl reads the parameters in pg_control. On a machine with another byte order its version
// is none of those that are known.
func parseControl(content []byte) []int {
	const end = controlFirst + 4*5
	if len(content) < end {
		return nil
	}
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(content[at:]) }
	if v := number(controlVersion); v != controlVersions[0] && v != controlVersions[1] {
		return nil
	}
	values := make([]int, len(parameters))
	for i := range values {
		values[i] = int(number(controlFirst + 4*i))
	}
	return values
}

// raised are arguments for PostgreSQL, for the parameters of which the database needs more than
// its settings say. So a member can have more of them than it had, and never less.
func (s *server) raised() ([]string, error) {
	needed, err := s.files.needed()
	if err != nil {
		return nil, fmt.Errorf("reading which settings the database needs: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), parametersTimeout)
	defer cancel()
	var args []string
	for i, least := range needed {
		set, err := s.configured(ctx, parameters[i])
		if err != nil {
			return nil, err
		}
		if set < least {
			args = append(args, "-c", fmt.Sprintf("%s=%d", parameters[i], least))
		}
	}
	return args, nil
}

// configured is what PostgreSQL would take a setting to be.
func (s *server) configured(ctx context.Context, name string) (int, error) {
	var problem bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(s.programs, "postgres"), append(s.files.arguments(), "-C", name)...)
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("asking postgres for %s: %w: %s", name, err, problem.String())
	}
	return strconv.Atoi(strings.TrimSpace(string(output)))
}

// keepParameters stops a standby that can apply no more of the log of its primary, and that could
// not be promoted. It starts again with what it needs. One that somebody has paused goes on waiting.
func (a *agent) keepParameters(ctx context.Context) {
	if !a.paused || a.session == nil {
		return
	}
	lacking, err := a.server.lacking(ctx, *a.session)
	switch {
	case err != nil:
		klog.FromContext(ctx).Error(err, "PostgreSQL applies no more log, and it is not known what it lacks; trying again")
	case lacking != "":
		klog.FromContext(ctx).Info("PostgreSQL applies no more log; it starts again with what it needs", "lacking", lacking)
		a.disconnect()
		a.server.stopFast(fastFor)
	}
}

// lacking is what a PostgreSQL that runs has too little of to apply more of its log, or empty.
func (s *server) lacking(ctx context.Context, from session) (string, error) {
	needed, err := s.files.needed()
	if err != nil || needed == nil {
		return "", err
	}
	row, err := from.row(ctx, "SELECT current_setting('"+strings.Join(parameters, "'), current_setting('")+"')")
	if err != nil {
		return "", err
	}
	var short []string
	for i, least := range needed {
		set, err := strconv.Atoi(row[i])
		if err != nil {
			return "", err
		}
		if set < least {
			short = append(short, fmt.Sprintf("%s is %d, and the log is of a primary with %d", parameters[i], set, least))
		}
	}
	return strings.Join(short, "; "), nil
}
