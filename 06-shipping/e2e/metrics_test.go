package e2e

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"

	"example.com/hacking-a-controller/06-shipping/internal/scrape"
	"example.com/hacking-a-controller/testcluster"
)

// metrics asks with the token of the account that may read them.
func metrics(t *testing.T, l *lab) {
	l.kubectl("apply", "-k", "../config/metrics-reader")
	// The token goes with its account, maybe before kubectl comes to it.
	t.Cleanup(func() { l.kubectl("delete", "-k", "../config/metrics-reader", "--ignore-not-found") })
	var token string
	l.eventually("a token for metrics", func() string {
		token = l.secret("cnat-metrics-token", "token")
		if token == "" {
			return "it is not in its Secret"
		}
		return ""
	})

	// The account may read them a moment after its binding is there.
	var text string
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		text = l.scrape(c, l.leaderPod().Status.PodIP, token)
		want := []string{
			`cnat_ats{phase="DONE"} 3`, "cnat_start_overdue_seconds 0",
			`cnat_manager_info{region="harbour",revision="tested",version="` + older + `"} 1`,
		}
		// Each leader counts for itself, and on a busy machine there may have been another.
		if l.transitions() == 0 {
			want = append(want, "cnat_start_lateness_seconds_count 3", "settings_drift_repairs_total 3")
		}
		assert.Subset(c, operatorMetrics(text), want)
	}, testcluster.TestTimeout, pause)
	l.tool(strings.NewReader(text), "alerts", ".")
}

// operatorMetrics are the lines that the operators themselves have written, a small part.
func operatorMetrics(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return !strings.HasPrefix(line, "cnat_") && !strings.HasPrefix(line, "settings_") || strings.Contains(line, "_bucket{")
	})
}

// monitored has an operator of Prometheus, or what it would need, and a certificate
// that can be verified.
func monitored(t *testing.T, l *lab) {
	if prefix := l.prefixOfVolumes(); prefix != "" {
		require.NotZero(t, os.Geteuid(), "root always has its volumes at their paths, and not in %s", prefix)
		return // as lab/LIMITS.md says
	}
	l.kubectl("apply", "--server-side", "-f", "../config/testdata/crd")
	certificate, key, err := cert.GenerateSelfSignedCertKey("cnat-manager.cnat-system.svc", nil, nil)
	require.NoError(t, err)
	_, err = l.client.CoreV1().Secrets(system).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "cnat-metrics-cert"},
		Data:       map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": certificate},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	manifests := dist(t, older, "e2e/testdata/monitored")
	l.apply(manifests)
	t.Cleanup(func() {
		l.kubectl("delete", "-k", "../config/metrics-reader", "--ignore-not-found")
		l.kubectl("delete", "-f", "../config/testdata/crd")
	})
	l.rolledOut(older)

	serviceMonitor := &unstructured.Unstructured{}
	require.NoError(t, serviceMonitor.UnmarshalJSON([]byte(l.kubectl("get", "servicemonitor", "cnat-manager", "-n", system, "-o", "json"))))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		prometheus, err := scrape.Client(serviceMonitor, l.secret)
		require.NoError(c, err)
		for _, pod := range l.managers() {
			response, err := prometheus.Get("https://" + pod.Status.PodIP + ":8443/metrics")
			require.NoError(c, err)
			defer response.Body.Close()
			assert.Equal(c, http.StatusOK, response.StatusCode)
		}
	}, testcluster.TestTimeout, pause)
}

// secret is a value of a Secret, or nothing as long as it is not there.
func (l *lab) secret(name, key string) string {
	secret, err := l.client.CoreV1().Secrets(system).Get(l.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(secret.Data[key])
}

// prefixOfVolumes is where containers find their volumes, if not at their paths.
func (l *lab) prefixOfVolumes() string {
	l.kubectl("run", "prefix", "-n", "default", "--image=busybox", "--restart=Never", "--command", "--", "sh", "-c", "printf %s \"$LAB_ROOT\"")
	l.kubectl("wait", "pod/prefix", "-n", "default", "--for=jsonpath={.status.phase}=Succeeded", timeout)
	defer l.kubectl("delete", "pod", "prefix", "-n", "default")
	return l.kubectl("logs", "prefix", "-n", "default")
}

func (l *lab) scrape(t require.TestingT, ip, token string) string {
	ctx, cancel := context.WithTimeout(l.t.Context(), testcluster.TestTimeout)
	defer cancel()
	code, body, err := scrape.Get(ctx, "https://"+ip+":8443/metrics", token)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code)
	return body
}
