package e2e

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

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
		if ptr.Deref(l.lease().LeaseTransitions, -1) == 0 {
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

// secret is a value of a Secret, or nothing as long as it is not there.
func (l *lab) secret(name, key string) string {
	secret, err := l.client.CoreV1().Secrets(system).Get(l.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(secret.Data[key])
}

func (l *lab) scrape(t require.TestingT, ip, token string) string {
	ctx, cancel := context.WithTimeout(l.t.Context(), testcluster.TestTimeout)
	defer cancel()
	code, body, err := scrape.Get(ctx, "https://"+ip+":8443/metrics", token)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, code)
	return body
}
