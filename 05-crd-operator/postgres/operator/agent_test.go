package operator

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// agent plays the agent of a pod, with a PostgreSQL that is a report and nothing else. It does
// what plan.NextStep says, whenever it is asked for its status.
type agent struct {
	*env
	name   string
	uid    types.UID
	ip     string
	server *httptest.Server

	report plan.Report // of which the test may change anything
	silent bool        // it does not answer
	frozen bool        // it takes no steps, either
	rests  bool        // it takes no steps, and answers
}

// ServeHTTP is /status.
func (a *agent) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, a.name)
	if !a.frozen && !a.rests {
		if err := a.steps(context.WithoutCancel(request.Context())); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if a.silent || a.frozen {
		http.Error(w, "silent", http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(a.report)
}

// steps does one after the other, until there is nothing to do.
func (a *agent) steps(ctx context.Context) error {
	for {
		cluster, lease := &postgres.PostgresCluster{}, &coordinationv1.Lease{}
		if err := a.Get(ctx, a.key(), cluster); err != nil {
			return err
		}
		if err := a.Get(ctx, a.key(), lease); err != nil {
			return err
		}
		holder := ptr.Deref(lease.Spec.HolderIdentity, "")
		a.observe(cluster.Status)
		step := plan.NextStep(plan.View{Name: a.name, UID: a.uid, Status: cluster.Status, HoldsLease: holder == string(a.uid), Report: a.report})
		switch {
		case step == plan.TakeLease && (holder != "" || int64(ptr.Deref(lease.Spec.LeaseTransitions, 0)) > cluster.Status.Term):
			return nil
		case step == plan.TakeLease:
			lease.Spec.HolderIdentity, lease.Spec.LeaseTransitions = new(string(a.uid)), new(int32(cluster.Status.Term))
		case step == plan.FreeOwnLease:
			lease.Spec.HolderIdentity = nil
		case step == plan.Wait && holder == string(a.uid):
			lease.Spec.RenewTime = new(metav1.NewMicroTime(a.clock.Now()))
			return a.Update(ctx, lease)
		case !a.do(step, cluster.Status):
			return nil
		default:
			continue
		}
		if err := a.Update(ctx, lease); err != nil {
			return err
		}
	}
}

// observe brings the report up to date.
func (a *agent) observe(s postgres.PostgresClusterStatus) {
	r := &a.report
	r.UID, r.Term, r.Data, r.SyncedWith, r.Streaming = a.uid, s.Term, plan.Empty, "", nil
	if a.data[a.name] {
		r.Data = plan.Complete
	}
	if r.Archive = nil; r.Writable {
		r.Archive = a.archive
	}
	for _, other := range a.agents {
		if other.report.Following == a.name && other.report.Running && r.Writable {
			r.Streaming = append(r.Streaming, other.name)
			if r.Names == other.name {
				r.SyncedWith = other.name
			}
		}
	}
	slices.Sort(r.Streaming)
}

// do does a step that needs no API server, and reports whether it could be done.
func (a *agent) do(step plan.Step, s postgres.PostgresClusterStatus) bool {
	r := &a.report
	source := a.agents[s.Primary]
	switch step {
	case plan.InitDB:
		a.data[a.name] = true
	case plan.Restore:
		a.data[a.name], r.Restored = true, &plan.Restored{Base: "base", At: 0x100}
	case plan.Start:
		r.Running = true
	case plan.SetNames:
		r.Names = s.Standby
	case plan.Promote:
		r.Writable, r.Following, r.Timeline = true, "", plan.TimelineOf(s.Term)
	case plan.StopFast, plan.StopImmediate:
		*r = plan.Report{Timeline: r.Timeline}
	case plan.Clone, plan.Follow:
		if source == nil || !source.report.Writable {
			return false
		}
		if step == plan.Follow {
			r.Following = s.Primary
		}
		a.data[a.name] = true
	default:
		return false
	}
	return true
}
