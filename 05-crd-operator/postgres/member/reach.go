package member

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// reachEvery is how often the agent connects as a client does. Its own session says nothing about
// that: PostgreSQL serves the sessions that it has even if its first process, which admits new
// ones, is frozen.
const reachEvery = 3 * time.Second

// reach is why no new client can connect to a PostgreSQL, and since when.
type reach struct {
	mu    sync.Mutex
	cause plan.Cause // of the last attempt; empty if it was successful
	since time.Time  // when the first of the attempts that have failed for it began
	until time.Time  // when the last one ended
}

// run attempts to connect until the context ends.
func (r *reach) run(ctx context.Context, attempt func(context.Context) (plan.Cause, error)) {
	wait.NonSlidingUntilWithContext(ctx, func(ctx context.Context) {
		began := time.Now()
		cause, err := attempt(ctx)
		if ctx.Err() == nil && r.note(cause, began, time.Now()) {
			klog.FromContext(ctx).Info("whether new clients can connect has changed", "cause", cause, "error", err)
		}
	}, reachEvery)
}

// note is the result of an attempt. It reports whether that is news.
func (r *reach) note(cause plan.Cause, began, ended time.Time) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changed = cause != r.cause; changed {
		r.cause, r.since = cause, began
	}
	r.until = ended
	return changed
}

// get is what is reported, or nil if clients can connect.
func (r *reach) get() *plan.Unreachable {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cause == "" {
		return nil
	}
	return &plan.Unreachable{Cause: r.cause, For: r.until.Sub(r.since)}
}

// tooManyConnections is PostgreSQL's code for one client too many.
const tooManyConnections = "53300"

// attempt connects as a client does, over TLS, and to where clients do: as a role for which no
// connections are reserved. A client that PostgreSQL refuses for its password has come in far
// enough: the kubelets do not hand out a new one everywhere at the same time.
func (a *agent) attempt(ctx context.Context) (plan.Cause, error) {
	if !a.server.running() {
		return "", nil
	}
	encrypted, err := a.server.settings.secrets.client(a.Name)
	if err != nil {
		return plan.NoCertificate, err
	}
	password, _ := a.server.settings.secrets.password(replicator) // an invalid one is reported elsewhere
	host, port, _ := net.SplitHostPort(a.server.settings.address)
	s, err := connect(ctx, target{host: host, port: port, user: replicator, password: password, tls: encrypted, client: true})
	if err == nil {
		s.close()
		return "", nil
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return plan.NoCertificate, err
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == tooManyConnections {
		return plan.TooManyClients, err
	} else if ok {
		return "", nil
	}
	if a.frozen(ctx) {
		return plan.Frozen, err
	}
	return plan.NotListening, err
}

// frozen reports whether PostgreSQL answers nobody. By its socket, no network is in between.
func (a *agent) frozen(ctx context.Context) bool {
	s, err := connect(ctx, a.server.local(""))
	if err == nil {
		s.close()
		return false
	}
	_, refuses := errors.AsType[*pgconn.PgError](err)
	return !refuses
}
