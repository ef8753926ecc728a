package e2e

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// settles waits until the cluster is as it should be, and returns its status.
func (e *env) settles() postgres.PostgresClusterStatus {
	e.Helper()
	var status postgres.PostgresClusterStatus
	begun := time.Now()
	eventually(e, "the cluster is as it should be", func() error {
		cluster, err := e.cluster()
		if err != nil {
			return err
		}
		status = cluster.Status
		if err := settled(cluster); err != nil {
			return err
		}
		return e.membersAreReady(int(cluster.Spec.Size))
	})
	e.Logf("after %.1f s it is as it should be, in term %d", time.Since(begun).Seconds(), status.Term)
	return status
}

// settled says what is not yet as it should be, by the status.
func settled(c *postgres.PostgresCluster) error {
	s, size := c.Status, c.Spec.Size
	if s.ObservedGeneration != c.Generation || s.Phase != postgres.Running || s.Replicas != size || len(s.Synced) != min(2, int(size)) ||
		c.Spec.Primary != "" && s.Primary != c.Spec.Primary {
		return fmt.Errorf("generation %d, spec %+v; generation %d, phase %s, term %d, primary %q, synced %v, %d ready",
			c.Generation, c.Spec, s.ObservedGeneration, s.Phase, s.Term, s.Primary, s.Synced, s.Replicas)
	}
	return nil
}

// membersAreReady says which pod or disk is missing, or one too many.
func (e *env) membersAreReady(size int) error {
	var pods corev1.PodList
	var disks corev1.PersistentVolumeClaimList
	if err := e.list(e.Context(), &pods); err != nil {
		return err
	}
	if err := e.list(e.Context(), &disks); err != nil {
		return err
	}
	if len(pods.Items) != size || len(disks.Items) != size {
		return fmt.Errorf("there are %d pods and %d disks", len(pods.Items), len(disks.Items))
	}
	for _, pod := range pods.Items {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if !ready || pod.DeletionTimestamp != nil {
			return fmt.Errorf("pod %s is not ready", pod.Name)
		}
	}
	return nil
}

// replaced waits until another pod, or disk, has this name.
func (e *env) replaced(name string, before types.UID, now func() map[string]types.UID) {
	e.Helper()
	eventually(e, name+" is replaced", func() error {
		if uid := now()[name]; uid == "" || uid == before {
			return fmt.Errorf("it is %q", uid)
		}
		return nil
	})
}

// reaches waits until there is a primary in this term.
func (e *env) reaches(term int64) {
	e.Helper()
	eventually(e, fmt.Sprintf("there is a primary in term %d", term), func() error {
		cluster, err := e.cluster()
		if s := cluster.Status; err == nil && (s.Term < term || !plan.Serving(s.Phase)) {
			err = fmt.Errorf("it is %s in term %d", s.Phase, s.Term)
		}
		return err
	})
}

// standbys are the members that are not the primary: the synced one first.
func standbys(s postgres.PostgresClusterStatus) []string {
	names := []string{s.Standby}
	for _, m := range s.Members {
		if m.Name != s.Primary && m.Name != s.Standby {
			names = append(names, m.Name)
		}
	}
	return names
}
