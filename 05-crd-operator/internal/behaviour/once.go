package behaviour

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var once = map[string]testCase{
	"two operators at once": func(s *env) {
		s.crowd(s.start(workers(2)), s.start(workers(2)))
	},

	"a pod deleted by hand is not run again": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00")
		s.runs("kettle")
		s.deletePod("kettle-pod")
		s.becomes("kettle", failed("PodDeleted"))
		s.gone("kettle-pod")
		s.probe()
		s.ran("kettle")
		s.recorded("kettle", "Normal Started", "Warning PodDeleted")
		assert.Nil(s.t, s.get("kettle").Status.ExitCode)
		assert.NotNil(s.t, s.get("kettle").Status.StartTime)
	},

	"a pod deleted by hand while no operator is there is not run again": func(s *env) {
		o := s.start()
		s.create("kettle", "09:00:00")
		s.pod("kettle-pod")
		o.stop()
		s.deletePod("kettle-pod")
		s.pod("kettle-pod") // it stays, Terminating
		s.start()
		s.becomes("kettle", failed("PodDeleted"))
		s.probe()
		s.ran("kettle")
	},

	"a pod deleted by force is gone": func(s *env) {
		s.start()
		s.create("kettle", "09:00:00")
		s.schedulePod("kettle-pod")
		require.NoError(s.t, s.client.CoreV1().Pods(s.namespace).Delete(s.t.Context(), "kettle-pod", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		s.becomes("kettle", failed("PodDeleted"))
		s.gone("kettle-pod")
		s.ran("kettle")
	},

	"a pod that a quota refuses runs once there is room": func(s *env) {
		s.quota("0")
		s.start()
		s.create("kettle", "09:00:00")
		s.becomes("kettle", notMade)
		s.recorded("kettle", "Warning CreationRefused")
		for range 3 {
			s.clock.Step(10 * time.Second)
		}
		s.recorded("kettle", "Warning CreationRefused")
		s.quota("10")
		s.step = time.Second
		s.runs("kettle")
		s.ends("kettle-pod", 0)
		s.becomes("kettle", succeeded)
		s.recorded("kettle", "Warning CreationRefused", "Normal Started", "Normal Succeeded")
		s.ran("kettle")
	},
}

// crowd has many Ats that are due at the same moment, and all end well.
func (s *env) crowd(operators ...*operator) {
	s.t.Helper()
	var names []string
	for i := range 10 {
		name := fmt.Sprintf("kettle-%d", i)
		names = append(names, name)
		s.create(name, "11:00:00")
		s.becomes(name, waiting)
	}
	for _, o := range operators {
		o.sleepsUntil("11:00:00")
	}
	s.jump("11:00:00")
	for _, name := range names {
		s.runs(name)
		s.ends(name+"-pod", 0)
	}
	for _, name := range names {
		s.becomes(name, succeeded)
		s.recorded(name, "Normal Started", "Normal Succeeded")
	}
	s.probe()
	s.ran(names...)
}

// schedulePod is what a scheduler does with a pod.
func (s *env) schedulePod(name string) {
	s.t.Helper()
	s.pod(name)
	require.NoError(s.t, s.client.CoreV1().Pods(s.namespace).Bind(s.t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{}))
}

// quota limits the pods of the namespace, and returns when the server keeps to that.
func (s *env) quota(pods string) {
	s.t.Helper()
	quotas := s.client.CoreV1().ResourceQuotas(s.namespace)
	limits := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Spec: corev1.ResourceQuotaSpec{Hard: limits}}
	_, err := quotas.Create(s.t.Context(), quota, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = quotas.Update(s.t.Context(), quota, metav1.UpdateOptions{})
	}
	require.NoError(s.t, err)
	// No controller counts here, so this is its report.
	s.eventually("the quota to be counted", func(ctx context.Context) (any, bool) {
		quota, err := quotas.Get(ctx, "pods", metav1.GetOptions{})
		if err != nil {
			return err, false
		}
		quota.Status = corev1.ResourceQuotaStatus{Hard: limits, Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}
		_, err = quotas.UpdateStatus(ctx, quota, metav1.UpdateOptions{})
		return err, err == nil
	})
}
