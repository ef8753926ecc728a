package plan

import (
	"fmt"
	"strings"
	"time"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// unreachableAfter is how long no new client may get in before that counts. A busy machine may take
// a few seconds, and a peak of clients does.
const unreachableAfter = 10 * time.Second

// Unreachable is why no new client can connect to a PostgreSQL that runs. Sessions that were there
// before go on, that of the agent among them.
type Unreachable struct {
	Cause Cause `json:"cause"`
	// For is how long all attempts have failed for this cause.
	For time.Duration `json:"for"`
}

// Cause is why no new client can connect. It is the reason of the condition Available, too.
type Cause string

// The causes.
const (
	Frozen         Cause = "Frozen"         // PostgreSQL answers nobody, by its socket either
	TooManyClients Cause = "TooManyClients" // all of max_connections are in use
	NoCertificate  Cause = "NoCertificate"  // clients refuse the certificate
	NotListening   Cause = "NotListening"   // it answers by its socket only
)

// Lasts reports whether no new client could connect for too long.
func (u *Unreachable) Lasts() bool { return u != nil && u.For > unreachableAfter }

// frozen is how long PostgreSQL has answered nobody. It has to be started again.
func (r *Report) frozen() time.Duration {
	if r.Unreachable == nil || r.Unreachable.Cause != Frozen {
		return 0
	}
	return r.Unreachable.For
}

// why says what is wrong, and what to do. It is the same for as long as it lasts.
func (u *Unreachable) why(cluster *postgres.PostgresCluster, m Member) string {
	switch u.Cause {
	case Frozen:
		return "PostgreSQL of " + m.Name + " accepts no connection; sessions that were there before go on. It is started again, as a failover if a standby can take over"
	case TooManyClients:
		return "all connections of " + m.Name + " are in use, so no other client can connect. End some as postgres, for which a few are reserved, with pg_terminate_backend, or raise max_connections"
	case NoCertificate:
		return fmt.Sprintf("clients refuse the certificate of %s: it is not valid now, or no CA in the ConfigMap %s-ca has signed it. Delete that ConfigMap, and the operator issues another", m.Name, cluster.Name)
	default:
		return fmt.Sprintf("nobody can connect to %s at %s, although its PostgreSQL runs. See its log, and whether somebody has changed listen_addresses, port or ssl", m.Name, m.Report.Address)
	}
}

// unreachable is why no new client can connect to a member, or empty.
func (o Observed) unreachable(m Member) string {
	if !m.answers() || !m.Report.Unreachable.Lasts() {
		return ""
	}
	return m.Report.Unreachable.why(o.Cluster, m)
}

// NewlyUnreachable says which members no client can reach any more that one could reach before.
func NewlyUnreachable(before, now postgres.PostgresClusterStatus) (sentences []string) {
	known := map[string]string{}
	for _, m := range before.Members {
		known[m.Name] = m.Unreachable
	}
	for _, m := range now.Members {
		if m.Unreachable != "" && m.Unreachable != known[m.Name] {
			sentences = append(sentences, m.Unreachable)
		}
	}
	return sentences
}

// SecretOf is the name of the Secret with the password of a role of PostgreSQL.
func SecretOf(cluster *postgres.PostgresCluster, role string) string {
	if role == "postgres" {
		return cluster.Name
	}
	return cluster.Name + "-" + role
}

// invalidPasswords is which Secrets have passwords that no member can use, as the agents see them,
// or empty. The operator reads no Secrets.
func (o Observed) invalidPasswords() string {
	for _, m := range o.Members {
		if !m.answers() || len(m.Report.InvalidPasswords) == 0 {
			continue
		}
		var secrets []string
		for _, role := range m.Report.InvalidPasswords {
			secrets = append(secrets, SecretOf(o.Cluster, role))
		}
		return "a password is empty or has other characters than printable ASCII: that in the Secret " + strings.Join(secrets, ", that in ") + ". Change it there; until then members go on with those that PostgreSQL has"
	}
	return ""
}
