package e2e

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/alerts"
	"example.com/hacking-a-controller/06-shipping/internal/testcluster"
)

// metrics asks as a Prometheus would: with a token of an account that may.
func metrics(t *testing.T, l *lab) {
	l.kubectl("create", "serviceaccount", "prometheus", "-n", "quay")
	l.kubectl("create", "clusterrolebinding", "prometheus", "--clusterrole=cnat-metrics-reader", "--serviceaccount=quay:prometheus")
	t.Cleanup(func() { l.kubectl("delete", "clusterrolebinding", "prometheus") })
	token := strings.TrimSpace(l.kubectl("create", "token", "prometheus", "-n", "quay"))

	// The account may read them a moment after it is said so.
	var text string
	ip := l.leaderPod().Status.PodIP
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		text = l.scrape(c, ip, token)
		for _, line := range []string{`cnat_ats{phase="DONE"} 2`, "cnat_start_lateness_seconds_count 2", "settings_drift_repairs_total 3"} {
			assert.Contains(c, text, line+"\n")
		}
	}, testcluster.TestTimeout, pause)
	exposed, err := alerts.Exposed(strings.NewReader(text))
	require.NoError(t, err)
	missing, err := alerts.Missing(os.DirFS(".."), exposed)
	require.NoError(t, err)
	assert.Empty(t, missing)
}

func (l *lab) scrape(t require.TestingT, ip, token string) string {
	ctx, cancel := context.WithTimeout(l.t.Context(), testcluster.TestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+ip+":8443/metrics", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} // made at the start, and signed by nobody
	response, err := insecure.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}
