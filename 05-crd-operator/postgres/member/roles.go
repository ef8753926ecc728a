package member

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/klog/v2"
)

// The roles of PostgreSQL that the operator makes a Secret for.
const (
	superuser   = "postgres"
	replicator  = "replication"
	application = "app"
)

// role is a role, and what it may do.
type role struct{ name, options string }

var roles = []role{
	{superuser, "LOGIN SUPERUSER"},
	// What members do in each other: copy, receive, and see which log there is.
	{replicator, "LOGIN REPLICATION IN ROLE pg_monitor"},
	{application, "LOGIN"},
}

// create is the command that makes a role.
func (r role) create(verifier string) string {
	return fmt.Sprintf("CREATE ROLE %s PASSWORD '%s' %s", r.name, verifier, r.options)
}

const createDatabase = "CREATE DATABASE " + application + " OWNER " + application

// makeRoles are the commands, one in a line, that make in a new database what it has not yet: it
// has its superuser.
func makeRoles(passwords map[string]string) (string, error) {
	var commands strings.Builder
	for _, role := range roles {
		if role.name == superuser {
			continue
		}
		verifier, err := newVerifier(passwords[role.name])
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&commands, role.create(verifier))
	}
	fmt.Fprintln(&commands, createDatabase)
	return commands.String(), nil
}

// rolesTimeout is for all of it. To create a database copies another one.
const rolesTimeout = 30 * time.Second

// keepRoles has the roles of PostgreSQL, and their passwords, as the Secrets have them, while this
// member takes writes. A database is made with its roles, and restored with the passwords of now, so
// this is about what changes later. It compares when the member begins to take writes and when a file
// has changed: the last primary may not have come to it. The loop goes on meanwhile.
func (a *agent) keepRoles(ctx context.Context) {
	var done map[string]string // the passwords that PostgreSQL has
	var timeline int32         // which begins with each promotion
	for {
		wait := interval
		if report, silent := a.reporter.get(); report.Writable && !silent {
			wanted, err := a.server.settings.secrets.passwords()
			if same := report.Timeline == timeline && maps.Equal(wanted, done); err == nil && !same {
				if err = a.setRoles(ctx, wanted); err == nil {
					klog.FromContext(ctx).Info("the roles are those of the Secrets", "timeline", report.Timeline)
				}
			}
			if err == nil {
				done, timeline = wanted, report.Timeline
			} else if ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "the roles could not be compared with the Secrets; trying again")
				wait = afterAnError
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (a *agent) setRoles(ctx context.Context, passwords map[string]string) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return s.setRoles(ctx, passwords)
}

// setRoles makes what is missing, and changes passwords that are others.
func (s session) setRoles(ctx context.Context, passwords map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, rolesTimeout)
	defer cancel()
	// These commits wait for no standby: there may be none, and the next primary compares, too.
	if _, err := s.rows(ctx, "SET synchronous_commit = local"); err != nil {
		return err
	}
	for _, role := range roles {
		if err := s.setRole(ctx, role, passwords[role.name]); err != nil {
			return fmt.Errorf("setting the role %s: %w", role.name, err)
		}
	}
	there, err := s.rows(ctx, fmt.Sprintf("SELECT FROM pg_database WHERE datname = '%s'", application))
	if err != nil || len(there) > 0 {
		return err
	}
	_, err = s.within(ctx, rolesTimeout, createDatabase)
	return err
}

func (s session) setRole(ctx context.Context, role role, password string) error {
	stored, err := s.rows(ctx, fmt.Sprintf("SELECT rolpassword FROM pg_authid WHERE rolname = '%s'", role.name))
	if err != nil {
		return err
	}
	if len(stored) == 1 && verifies(stored[0][0], password) {
		return nil
	}
	verifier, err := newVerifier(password)
	if err != nil {
		return err
	}
	command, what := fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", role.name, verifier), "has another password"
	if len(stored) == 0 {
		command, what = role.create(verifier), "was created"
	}
	if _, err := s.rows(ctx, command); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("a role "+what, "role", role.name)
	return nil
}
