package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/hacking-a-controller/06-shipping/internal/scrape"
)

// The Lease is in a namespace that is always there.
const (
	leaseNamespace = "default"
	leaseName      = "cnat-manager"
)

// manager is a process of the manager.
type manager struct {
	*process
	name    string // its part of the identity in the Lease
	metrics string // an address
}

// managers are the replicas.
type managers struct {
	cluster *cluster
	command []string // that starts one
	token   string   // of an account that may read their metrics and profiles
	started int
	live    []*manager
}

// startManagers starts a cluster with so many replicas, each with a command, and waits for one that leads. All of
// it ends with stop, also when it returns an error.
func startManagers(ctx context.Context, programs Programs, command []string, replicas int, progress io.Writer) (m *managers, leader *manager, stop func(), err error) {
	c, stopCluster, err := startCluster(ctx, programs, progress)
	if err != nil {
		return nil, nil, stopCluster, err
	}
	token, err := c.createReader(ctx)
	if err != nil {
		return nil, nil, stopCluster, fmt.Errorf("creating an account that reads metrics: %w", err)
	}
	m = &managers{cluster: c, command: command, token: token}
	stop = func() { m.stop(); stopCluster() }
	for range replicas {
		if _, err := m.start(ctx); err != nil {
			return m, nil, stop, err
		}
	}
	leader, err = m.lead(ctx)
	return m, leader, stop, err
}

// createReader makes an account that may read what a manager serves, and returns its token.
func (c *cluster) createReader(ctx context.Context) (token string, err error) {
	for _, args := range []string{
		"create serviceaccount reader -n " + leaseNamespace,
		"create clusterrole reader --verb=get --non-resource-url=/metrics,/debug/pprof/heap,/debug/pprof/goroutine",
		"create clusterrolebinding reader --clusterrole=reader --serviceaccount=" + leaseNamespace + ":reader",
		"create token reader --duration=48h -n " + leaseNamespace,
	} {
		if token, err = c.lab(ctx, append([]string{"kubectl"}, strings.Fields(args)...)...); err != nil {
			return "", err
		}
	}
	return token, nil
}

// start starts one more, and waits until it is ready.
func (m *managers) start(ctx context.Context) (*manager, error) {
	m.started++
	metrics, err := scrape.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	health, err := scrape.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	replica := &manager{name: fmt.Sprintf("manager-%d", m.started), metrics: metrics}
	replica.process, err = m.cluster.start(replica.name, []string{"POD_NAME=" + replica.name}, append(slices.Clone(m.command),
		"--leader-election-namespace="+leaseNamespace, "--metrics-bind-address="+metrics, "--health-bind-address="+health)...)
	if err != nil {
		return nil, err
	}
	m.live = append(m.live, replica)
	ready := func(ctx context.Context) (bool, error) {
		if replica.ended() {
			return false, fmt.Errorf("it has ended")
		}
		_, notReady := m.get(ctx, "http://"+health+"/readyz")
		_, silent := m.get(ctx, "https://"+replica.metrics+"/metrics")
		return notReady == nil && silent == nil, nil
	}
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startLimit, true, ready); err != nil {
		return nil, fmt.Errorf("waiting until %s is ready: %w; its log ends with: %s", replica.name, err, replica.tail())
	}
	return replica, nil
}

// lead waits until a replica has the Lease, and returns it.
func (m *managers) lead(ctx context.Context) (leader *manager, err error) {
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		lease, err := m.cluster.kube.CoordinationV1().Leases(leaseNamespace).Get(ctx, leaseName, metav1.GetOptions{})
		if err != nil || lease.Spec.HolderIdentity == nil {
			return false, nil // the next attempt may succeed
		}
		name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		i := slices.IndexFunc(m.live, func(replica *manager) bool { return replica.name == name })
		if i >= 0 {
			leader = m.live[i]
		}
		return i >= 0, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for a leader: %w", err)
	}
	return leader, nil
}

// remove ends a replica with a signal.
func (m *managers) remove(replica *manager, signal os.Signal) {
	replica.end(signal)
	m.live = slices.DeleteFunc(m.live, func(other *manager) bool { return other == replica })
}

// stop ends all of them.
func (m *managers) stop() {
	for len(m.live) > 0 {
		m.remove(m.live[0], syscall.SIGTERM)
	}
}

// scrape reads the metrics of a replica.
func (m *managers) scrape(ctx context.Context, replica *manager) (samples, error) {
	text, err := m.get(ctx, "https://"+replica.metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	return parse(bytes.NewReader(text))
}

// scrapeLive is scrape right after a garbage collection, which a profile of the heap may ask
// for. With few collections, the live heap is a stair, and a stair of two steps has no trend.
func (m *managers) scrapeLive(ctx context.Context, replica *manager) (samples, error) {
	if _, err := m.get(ctx, "https://"+replica.metrics+"/debug/pprof/heap?gc=1"); err != nil {
		return nil, err
	}
	return m.scrape(ctx, replica)
}

// profile writes a profile of a replica to a file.
func (m *managers) profile(ctx context.Context, replica *manager, name, file string) error {
	profile, err := m.get(ctx, "https://"+replica.metrics+"/debug/pprof/"+name)
	if err != nil {
		return err
	}
	return os.WriteFile(file, profile, 0o600)
}

func (m *managers) get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	code, body, err := scrape.Get(ctx, url, m.token) // a connection that stays would be one of the manager's descriptors
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", url, code, http.StatusText(code))
	}
	return []byte(body), err
}
