package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func cluster(change func(*postgres.PostgresClusterSpec)) *postgres.PostgresCluster {
	c := &postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "db", UID: "1"}}
	change(&c.Spec)
	return c
}

// That a pod is restricted, as the Pod Security Standards have it, the API server checks in all
// tests with one.
func TestAPodIsOneRunOfAMember(t *testing.T) {
	r := &Reconciler{Options: Options{Image: "postgres-member:17"}}
	pod := r.newPod(cluster(func(*postgres.PostgresClusterSpec) {}), "db-2")
	assert.Equal(t, corev1.RestartPolicyNever, pod.Spec.RestartPolicy)
	assert.Equal(t, []string{finalizer}, pod.Finalizers)
	assert.Equal(t, map[string]string{plan.SelectorLabel: "db"}, pod.Labels, "it has no role yet, so no Service leads to it")
	assert.Equal(t, "db-2", pod.Spec.Volumes[2].PersistentVolumeClaim.ClaimName)
	assert.Contains(t, pod.Spec.Containers[0].Args, "--uid=$(POD_UID)")
	assert.Equal(t, corev1.FSGroupChangeOnRootMismatch, *pod.Spec.SecurityContext.FSGroupChangePolicy, "no failover waits until all files are the group's")
}

// The agent reads these files, and the image's user may read them. Of a certificate there may be none
// in a slot.
func TestWhereAnAgentFindsItsSecrets(t *testing.T) {
	files := secretFiles(cluster(func(*postgres.PostgresClusterSpec) {}))
	found := map[string]string{}
	for _, source := range files.Sources {
		if source.ConfigMap != nil {
			found[source.ConfigMap.Items[0].Path] = source.ConfigMap.Name
			continue
		}
		for _, item := range source.Secret.Items {
			name := source.Secret.Name
			if *source.Secret.Optional {
				name += ", if there is one"
			}
			found[item.Path] = name
		}
	}
	assert.Equal(t, map[string]string{
		"postgres/password":    "db",
		"replication/password": "db-replication",
		"app/password":         "db-app",
		"tls/1.crt":            "db-tls-1, if there is one",
		"tls/1.key":            "db-tls-1, if there is one",
		"tls/2.crt":            "db-tls-2, if there is one",
		"tls/2.key":            "db-tls-2, if there is one",
		"ca.crt":               "db-ca",
	}, found)
	assert.EqualValues(t, 0o440, *files.DefaultMode)
}

func TestWhereAPodMayRun(t *testing.T) {
	pod := (&Reconciler{}).newPod(cluster(func(s *postgres.PostgresClusterSpec) {
		s.AntiAffinity, s.NodeSelector = true, map[string]string{"disk": "fast"}
	}), "db-2")
	assert.Equal(t, map[string]string{"disk": "fast"}, pod.Spec.NodeSelector)
	term := corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{plan.SelectorLabel: "db"}},
		TopologyKey:   corev1.LabelHostname,
	}
	assert.Equal(t, &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}, pod.Spec.Affinity.PodAntiAffinity)

	other := (&Reconciler{}).newPod(cluster(func(*postgres.PostgresClusterSpec) {}), "db-2")
	assert.Equal(t, &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}}, other.Spec.Affinity.PodAntiAffinity,
		"where there is room, they are apart")
	assert.False(t, outdated(pod.Spec.Containers[0], other.Spec.Containers[0]), "a pod that runs is not replaced for that")
}

// On some machines, all pods share one address.
func TestNoTwoMembersListenOnOnePort(t *testing.T) {
	for _, name := range []string{"db", "a", "harbour", "db-1"} {
		c, taken := cluster(func(*postgres.PostgresClusterSpec) {}), map[int32]bool{}
		c.Name = name
		for number := range maxSize {
			for _, port := range (&Reconciler{}).newPod(c, plan.MemberName(c, number+1)).Spec.Containers[0].Ports {
				assert.False(t, taken[port.ContainerPort], "%s has %d twice", name, port.ContainerPort)
				taken[port.ContainerPort] = true
				assert.True(t, port.ContainerPort >= 20000 && port.ContainerPort < 30000, "%d is for others", port.ContainerPort)
			}
		}
	}
	a, b := cluster(func(*postgres.PostgresClusterSpec) {}), cluster(func(*postgres.PostgresClusterSpec) {})
	b.Namespace = "haven"
	assert.NotEqual(t, portOf(a, "db-1"), portOf(b, "db-1"))
}

func TestADiskIsAsLargeAsWanted(t *testing.T) {
	disk := newDisk(cluster(func(*postgres.PostgresClusterSpec) {}), "db-1")
	assert.Equal(t, "1Gi", disk.Spec.Resources.Requests.Storage().String())
}
