package member

import (
	"context"
	"fmt"
	"maps"
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

// rolesTimeout is for all of it. To create a database copies another one.
const rolesTimeout = 30 * time.Second

// keepRoles has the roles of PostgreSQL, and their passwords, as the Secrets have them, while this
// member takes writes. It compares when that begins and when a file has changed, so it also
// mends a database from a backup, which has the passwords of then. The loop goes on meanwhile.
func (a *agent) keepRoles(ctx context.Context) {
	var done map[string]string // the passwords that PostgreSQL has
	var timeline int32         // which begins with each promotion
	for {
		wait := interval
		if report, silent := a.reporter.get(); report.Writable && !silent {
			wanted, err := a.server.settings.secrets.passwords()
			if same := report.Timeline == timeline && maps.Equal(wanted, done); err == nil && !same {
				err = a.setRoles(ctx, wanted)
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

// setRoles makes what is missing, and changes passwords that are others.
func (a *agent) setRoles(ctx context.Context, passwords map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, rolesTimeout)
	defer cancel()
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
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
	_, err = s.within(ctx, rolesTimeout, fmt.Sprintf("CREATE DATABASE %s OWNER %[1]s", application))
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
	command, what := "ALTER ROLE %s PASSWORD '%s'", "has another password"
	if len(stored) == 0 {
		command, what = "CREATE ROLE %s PASSWORD '%s' "+role.options, "was created"
	}
	if _, err := s.rows(ctx, fmt.Sprintf(command, role.name, verifier)); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("a role "+what, "role", role.name)
	return nil
}
