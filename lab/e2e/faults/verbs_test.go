package faults

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// behindFaults is a client as `lab run` gives one to a program.
func behindFaults(t *testing.T, lab *labtest.Lab) corev1client.ConfigMapInterface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(lab.Dir, "pki", "fault-proxy.kubeconfig"))
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	t.Cleanup(func() { // the test's context has ended
		_, err := lab.Command(context.Background(), "heal")
		assert.NoError(t, err)
	})
	return client.CoreV1().ConfigMaps("default")
}

func watchFrom(t *testing.T, configMaps corev1client.ConfigMapInterface, version string) watch.Interface {
	t.Helper()
	events, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
	require.NoError(t, err)
	t.Cleanup(events.Stop)
	return events
}

func TestRunGivesAProgramTheSameUser(t *testing.T) {
	lab := sharedLab(t)
	binary, err := labtest.Binary()
	require.NoError(t, err)
	out := lab.Run(t, "run", filepath.Join(filepath.Dir(binary), "kubectl"), "auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}")
	assert.Equal(t, `kubernetes-admin ["system:masters","system:authenticated"]`, out)
	assert.Regexp(t, `\S+ kubectl POST /apis/authentication.k8s.io/v1/selfsubjectreviews\S* 201\n`, lab.Run(t, "logs", "requests"))
}

func TestAFrozenWatchIsStaleUntilItIsThawed(t *testing.T) {
	lab := sharedLab(t)
	client := behindFaults(t, lab)
	list, err := client.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	events := watchFrom(t, client, list.ResourceVersion)
	assert.Equal(t, "frozen: configmaps\n", lab.Run(t, "freeze", "cm"))
	name := strings.ToLower(rand.Text())
	require.NoError(t, createConfigMap(t.Context(), t, lab, name))
	_, err = client.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err, "a live read is not frozen")
	assert.Empty(t, events.ResultChan())
	assert.Equal(t, "healed: frozen: configmaps\n", lab.Run(t, "thaw"))
	event := <-events.ResultChan()
	require.IsType(t, &corev1.ConfigMap{}, event.Object)
	assert.Equal(t, name, event.Object.(*corev1.ConfigMap).Name)
}

func TestAnOldVersionExpires(t *testing.T) {
	lab := sharedLab(t)
	client := behindFaults(t, lab)
	list, err := client.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Regexp(t, `^expired: versions before \d+\n$`, lab.Run(t, "expire"))
	event := <-watchFrom(t, client, list.ResourceVersion).ResultChan()
	assert.Equal(t, watch.Error, event.Type)
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(event.Object)), "%v", event.Object)

	list, err = client.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	events := watchFrom(t, client, list.ResourceVersion)
	require.NoError(t, createConfigMap(t.Context(), t, lab, strings.ToLower(rand.Text())))
	assert.Equal(t, watch.Added, (<-events.ResultChan()).Type, "a new list makes up for it")
}

func TestFaultsMeetOnlyWhatIsBehindThem(t *testing.T) {
	lab := sharedLab(t)
	client := behindFaults(t, lab)
	lab.Run(t, "refuse", "500", "configmaps", "get")
	_, err := client.Get(t.Context(), "none", metav1.GetOptions{})
	assert.Equal(t, http.StatusInternalServerError, int(err.(apierrors.APIStatus).Status().Code))
	lab.Run(t, "cut")
	_, err = client.Get(t.Context(), "none", metav1.GetOptions{})
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, err = lab.Client(t).CoreV1().ConfigMaps("default").Get(t.Context(), "none", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "everybody else gets an answer: %v", err)
	labtest.Eventually(t, "lab status lists the faults", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "status")
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		assert.Contains(t, out, "\nrefused with 500: configmaps (get)\ncut: everything\n")
		return nil
	})
	assert.Equal(t, "healed: refused with 500: configmaps (get)\nhealed: cut: everything\n", lab.Run(t, "heal"))
	_, err = client.Get(t.Context(), "none", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.Equal(t, "healed: nothing\n", lab.Run(t, "heal"))
}

func TestAFaultThatWouldDoNothingIsAnError(t *testing.T) {
	lab := sharedLab(t)
	for want, args := range map[string][]string{
		`there is no resource "rods"`:     {"freeze", "rods"},
		"write: lab freeze TARGET":        {"freeze"},
		`"0s" is no duration`:             {"slow", "0s"},
		`"200" is no code of an error`:    {"refuse", "200", "pods"},
		`there is no verb "read"`:         {"refuse", "500", "pods", "read"},
		"write: lab refuse CODE TARGET [": {"refuse", "500"},
	} {
		_, err := lab.Command(t.Context(), args...)
		require.ErrorContains(t, err, want)
	}
	assert.Equal(t, "healed: nothing\n", lab.Run(t, "heal"))
}
