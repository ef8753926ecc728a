package member

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
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

// grantConnect lets members compare their logs even if somebody revokes from PUBLIC what all roles may do.
const grantConnect = "GRANT CONNECT ON DATABASE postgres TO " + replicator

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
	fmt.Fprintln(&commands, grantConnect)
	fmt.Fprintln(&commands, createDatabase)
	return commands.String(), nil
}

const (
	rolesEvery   = time.Second
	rolesTimeout = 30 * time.Second // for all of it: to create a database copies another one
)

// keepRoles has the roles of PostgreSQL, and their passwords, as the Secrets have them, while this
// member takes writes. A database is made with its roles, and restored with the passwords of now, so
// this is about what changes later. It sets them when the member begins to take writes and when a file
// has changed: the last primary may not have come to it. The loop goes on meanwhile.
func (a *agent) keepRoles(ctx context.Context) {
	var done map[string]string // the passwords that PostgreSQL has
	var timeline int32         // which begins with each promotion
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		report, silent := a.reporter.get()
		if !report.Writable || silent {
			return
		}
		wanted, err := a.server.settings.secrets.passwords()
		if err == nil && report.Timeline == timeline && maps.Equal(wanted, done) {
			return
		}
		if err == nil {
			err = a.setRoles(ctx, wanted)
		}
		switch {
		case err == nil:
			done, timeline = wanted, report.Timeline
			klog.FromContext(ctx).Info("the roles are those of the Secrets", "timeline", timeline)
		case ctx.Err() == nil:
			klog.FromContext(ctx).Error(err, "the roles could not be given the passwords of the Secrets; trying again")
		}
	}, rolesEvery)
}

func (a *agent) setRoles(ctx context.Context, passwords map[string]string) error {
	s, err := connect(ctx, a.server.local(""))
	if err != nil {
		return err
	}
	defer s.close()
	return s.setRoles(ctx, passwords)
}

// setRoles makes what is missing, and sets the passwords.
func (s session) setRoles(ctx context.Context, passwords map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, rolesTimeout)
	defer cancel()
	// These commits wait for no standby: there may be none, and the next primary sets them, too.
	if _, err := s.rows(ctx, "SET synchronous_commit = local"); err != nil {
		return err
	}
	for _, role := range roles {
		if err := s.setRole(ctx, role, passwords[role.name]); err != nil {
			return fmt.Errorf("setting the role %s: %w", role.name, err)
		}
	}
	if _, err := s.rows(ctx, grantConnect); err != nil {
		return fmt.Errorf("letting %s connect: %w", replicator, err)
	}
	there, err := s.rows(ctx, fmt.Sprintf("SELECT FROM pg_database WHERE datname = '%s'", application))
	if err != nil || len(there) > 0 {
		return err
	}
	_, err = s.within(ctx, rolesTimeout, createDatabase)
	return err
}

func (s session) setRole(ctx context.Context, role role, password string) error {
	verifier, err := newVerifier(password)
	if err != nil {
		return err
	}
	there, err := s.rows(ctx, fmt.Sprintf("SELECT FROM pg_roles WHERE rolname = '%s'", role.name))
	if err != nil {
		return err
	}
	command := fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", role.name, verifier)
	if len(there) == 0 {
		command = role.create(verifier)
	}
	_, err = s.rows(ctx, command)
	return err
}

// iterations is PostgreSQL's own default.
const iterations = 4096

// newVerifier returns what PostgreSQL stores in the place of a password (RFC 5803). It takes that
// for a password, too, so that the password itself is in no statement and in no log.
func newVerifier(password string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return verifier(password, salt)
}

func verifier(password string, salt []byte) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(sign(salted, "Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, text(salt), text(stored[:]), text(sign(salted, "Server Key"))), nil
}

func sign(key []byte, message string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message))
	return mac.Sum(nil)
}
