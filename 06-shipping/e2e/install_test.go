package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
	"example.com/hacking-a-controller/testcluster"
)

const highlyAvailable = "config/overlays/ha"

// TestInALab installs, lets things go wrong, and uninstalls.
func TestInALab(t *testing.T) {
	t.Setenv("REGION", region) // for undeploy.sh
	l := startLab(t)
	l.load(older)
	l.load(newer)
	before := l.clusterScoped()
	for _, chapter := range []struct {
		name string
		run  func(*testing.T, *lab)
	}{
		{"install", install},
		{"the sample says YAY", sample},
		{"the shell gets the command as it was written", dollars},
		{"a pod that somebody deletes is not run again", deleted},
		{"what others do to the ConfigMap is undone", drift},
		{"metrics are there for every alert and every panel", metrics},
		{"the leader is killed", killed},
		{"the leader is evicted", evicted},
		{"the leader is paused past its Lease and resumed", paused},
		{"there are two leaders for a moment", twoLeaders},
		{"the API server starts again", serverRestarted},
		{"a new version is installed over the old one", upgraded},
		{"the version before is brought back", rolledBack},
		{"a pod that somebody else has created is left alone", foreign},
		{"the manager has used all of its rights, and wanted no other", rightsUsed},
	} {
		ok := t.Run(chapter.name, func(t *testing.T) {
			here := *l
			here.t = t
			chapter.run(t, &here)
		})
		require.True(t, ok, "the chapters after %q need it", chapter.name)
	}
	t.Run("uninstall", func(t *testing.T) {
		here := *l
		here.t = t
		uninstall(t, &here, before)
	})
}

func install(t *testing.T, l *lab) {
	l.apply(dist(t, older, highlyAvailable))
	l.rolledOut(older)
	assert.Len(t, l.managers(), 2)
	l.eventually("a leader", func() string {
		if l.leader() == "" {
			return "nobody leads"
		}
		return ""
	})
	assert.Contains(t, l.kubectl("logs", "deployment/"+manager, "-n", system), `"region":"`+region+`"`)
}

func sample(t *testing.T, l *lab) {
	l.kubectl("create", "namespace", "quay")
	l.kubectl("label", "namespace", "quay", "pod-security.kubernetes.io/enforce=restricted")
	l.kubectl("apply", "-n", "quay", "-f", "../config/samples/at.yaml")
	l.kubectl("wait", "-n", "quay", "--for=jsonpath={.status.phase}=DONE", "at/example-at", timeout)
	assert.Equal(t, "YAY\n", l.kubectl("logs", "-n", "quay", "example-at-pod"))
}

// create creates an At that is due.
func (l *lab) create(namespace, name, command string) {
	l.t.Helper()
	require.NoError(l.t, l.createAt(l.t.Context(), namespace, name, time.Date(2019, 4, 12, 10, 12, 0, 0, time.UTC), command))
}

// What the kubelet would replace, and what a shell does with it.
func dollars(t *testing.T, l *lab) {
	l.create("quay", "dollars", `echo $(echo one) $$ '$(HOSTNAME) $$$'`)
	l.kubectl("wait", "-n", "quay", "--for=condition=Complete", "at/dollars", timeout)
	// The pid of the shell is 1 where each container has pids of its own, which the lab's have not.
	assert.Regexp(t, `^one \d+ \$\(HOSTNAME\) \$\$\$\n$`, l.kubectl("logs", "-n", "quay", "dollars-pod"))
}

func deleted(_ *testing.T, l *lab) {
	l.create("quay", "deleted", "sleep 600")
	l.kubectl("wait", "-n", "quay", "--for=create", "pod/deleted-pod", timeout)
	l.kubectl("delete", "pod", "-n", "quay", "deleted-pod", "--force")
	l.kubectl("wait", "-n", "quay", "--for=condition=Failed", "at/deleted", timeout)
}

func foreign(t *testing.T, l *lab) {
	pod := lifecycle.DesiredPod(&cnat.At{ObjectMeta: metav1.ObjectMeta{Name: "taken"}, Spec: cnat.AtSpec{Command: "sleep 600"}}, lifecycle.DefaultImage)
	pod.Labels, pod.OwnerReferences, pod.Finalizers = nil, nil, nil
	before, err := l.client.CoreV1().Pods("quay").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	l.create("quay", "taken", "sleep 600")
	l.kubectl("wait", "-n", "quay", "--for=condition=Scheduled=false", "at/taken", timeout)
	after, err := l.client.CoreV1().Pods("quay").Get(t.Context(), pod.Name, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, before.UID, after.UID)
	assert.Nil(t, after.DeletionTimestamp)
	assert.Empty(t, after.Finalizers)
}

func drift(t *testing.T, l *lab) {
	l.kubectl("apply", "-n", "quay", "-f", "../config/samples/settings.yaml")
	colour := func() string {
		settings, err := l.client.CoreV1().ConfigMaps("quay").Get(t.Context(), "settings", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return settings.Data["colour"]
	}
	isGreen := func() string { return strings.TrimSuffix("the colour is "+colour(), "the colour is green") }
	l.eventually("the ConfigMap", isGreen)
	l.kubectl("patch", "configmap", "settings", "-n", "quay", "-p", `{"data":{"colour":"red"}}`)
	l.eventually("the colour", isGreen)
	l.kubectl("patch", "configmap", "settings", "-n", "quay", "-p", `{"data":{"foreign":"key"}}`)
	l.eventually("the foreign key to go", func() string {
		settings, err := l.client.CoreV1().ConfigMaps("quay").Get(t.Context(), "settings", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return settings.Data["foreign"]
	})
	l.kubectl("delete", "configmap", "settings", "-n", "quay")
	l.eventually("the ConfigMap again", isGreen)
	// The last layer takes it with it. The garbage collector would, too, and may be first.
	thaw := l.freeze("kube-controller-manager", l.dir)
	l.kubectl("delete", "settingslayers", "--all", "-n", "quay")
	l.eventually("the ConfigMap to go", func() string {
		if settings, err := l.client.CoreV1().ConfigMaps("quay").Get(t.Context(), "settings", metav1.GetOptions{}); err == nil {
			return settings.String()
		}
		return ""
	})
	thaw()
}

// clusterScoped is the names of what an installation may leave outside of its
// namespace.
func (l *lab) clusterScoped() string {
	l.t.Helper()
	return l.kubectl("get", "namespaces,customresourcedefinitions,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,apiservices", "-o", "name")
}

// undeploy is make undeploy, with variables of the environment.
func (l *lab) undeploy(variables ...string) (string, error) {
	l.t.Helper()
	testprogram.ReadBySomebodyElse(l.t, "../undeploy.sh", "../dist.sh")
	ctx, cancel := context.WithTimeout(l.t.Context(), 2*testcluster.TestTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "../undeploy.sh")
	c.Env = append(append(os.Environ(), "KUBECONFIG="+l.kubeconfig(), "PATH="+l.assets+":"+os.Getenv("PATH")), variables...)
	output, err := c.CombinedOutput()
	l.t.Log(string(output))
	return string(output), err
}

func uninstall(t *testing.T, l *lab, before string) {
	l.kubectl("delete", "namespace", "quay", "--wait=false")
	l.kubectl("create", "namespace", "users")
	pods := l.watchPods(t, "users")
	l.kubectl("apply", "-n", "users", "-f", "../config/samples/at.yaml", "-f", "../config/samples/settings.yaml")
	l.kubectl("wait", "-n", "users", "--for=jsonpath={.status.phase}=DONE", "at/example-at", timeout)
	l.kubectl("wait", "-n", "users", "--for=create", "configmap/settings", timeout)

	// Two whose pods run when the manager is uninstalled. Each pod has the finalizer.
	for _, name := range []string{"long", "longer"} {
		l.create("users", name, "sleep 600")
		l.kubectl("wait", "-n", "users", "--for=create", "pod/"+name+"-pod", timeout)
		l.kubectl("wait", "-n", "users", "--for=jsonpath={.status.phase}=Running", "pod/"+name+"-pod", timeout)
	}
	// The chapters before have deleted theirs.
	for _, namespace := range []string{"quay", "killed", "evicted", "paused", "two-leaders", "restarted", "upgraded", "rolled-back"} {
		l.kubectl("wait", "--for=delete", "namespace/"+namespace, timeout)
	}

	// No manager runs: nothing removes the finalizers.
	l.kubectl("scale", "deployment/"+manager, "-n", system, "--replicas=0")
	l.eventually("the managers to end", func() string {
		return l.kubectl("get", "pods", "-n", system, "-l", "app.kubernetes.io/component=manager", "-o", "name")
	})
	output, err := l.undeploy("UNDEPLOY_TIMEOUT=1")
	require.Error(t, err)
	require.Contains(t, output, "the manager was left installed:\n")
	require.Contains(t, output, "pod users/long-pod\n")
	require.Contains(t, output, "pod users/longer-pod\n")
	pods.wereOnce("example-at", "long", "longer")
	// It advises two ways out: by hand, and with the manager.
	l.kubectl("patch", "pod", "long-pod", "-n", "users", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	l.kubectl("wait", "-n", "users", "--for=delete", "at/long", timeout)
	l.kubectl("scale", "deployment/"+manager, "-n", system, "--replicas=1")
	_, err = l.undeploy()
	require.NoError(t, err)
	// The garbage collector collects what the layers own a moment later.
	l.eventually("all to go that was made of users' objects", func() string {
		return l.kubectl("get", "pods,configmaps", "-n", "users", "-o", "name", "--field-selector=metadata.name!=kube-root-ca.crt,metadata.name!=last-pod")
	})
	l.kubectl("delete", "namespace", "users", "--wait")
	assert.Equal(t, before, l.clusterScoped())
}
