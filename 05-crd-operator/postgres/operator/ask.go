package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// statusTimeout is how long an agent may take to answer.
const statusTimeout = time.Second

// ask asks all agents for their status, side by side, and then the primary's: what it says of
// a standby has to be newer than what the standby says.
func (r *Reconciler) ask(ctx context.Context, o *observation, tracker *tracker) {
	for _, primary := range []bool{false, true} {
		var g errgroup.Group
		for i := range o.Members {
			m := &o.Members[i]
			if m.Pod == nil || (m.Name == o.Cluster.Status.Primary) != primary {
				continue
			}
			if address := statusAddress(o.pods[m.Pod.UID]); address != "" {
				g.Go(func() (err error) {
					m.Report, err = r.report(ctx, address, m.Pod.UID)
					return err
				})
			}
		}
		_ = g.Wait() // who does not answer has no report
	}
	answered := map[types.UID]bool{}
	for _, m := range o.Members {
		if m.Pod != nil {
			answered[m.Pod.UID] = m.Report != nil || !m.Pod.Started
		}
	}
	tracker.hear(answered, r.Clock.Now())
	o.Seen = tracker.seen
	for i := range o.Members {
		m := &o.Members[i]
		m.Last = tracker.last[m.Name]
		if m.Report != nil {
			tracker.last[m.Name] = m.Report
			tracker.seen = max(tracker.seen, m.Report.Received)
		}
		if m.Pod != nil {
			m.Silent = tracker.silence[m.Pod.UID]
		}
	}
}

// statusAddress is where an agent serves /status, or empty if it does not.
func statusAddress(pod *corev1.Pod) string {
	if pod.Status.PodIP == "" || !started(pod) || ended(pod) {
		return ""
	}
	for _, port := range oursIn(pod).Ports {
		if port.Name == statusPort {
			return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port.ContainerPort)))
		}
	}
	return ""
}

// report asks the agent in a pod.
func (r *Reconciler) report(ctx context.Context, address string, pod types.UID) (*plan.Report, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/status", nil)
	if err != nil {
		return nil, err
	}
	response, err := r.agents.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, response.Status)
	}
	answer := &plan.Report{}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(answer); err != nil {
		return nil, err
	}
	if answer.UID != pod {
		return nil, fmt.Errorf("%s is the address of pod %s by now", address, answer.UID)
	}
	return answer, nil
}
