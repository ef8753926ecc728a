package component

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func newLab(t *testing.T) (layout.Layout, settings.Settings) {
	t.Helper()
	l, err := layout.New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	require.NoError(t, l.Create())
	_, err = pki.Create(l, NodeName, FirstServiceIP)
	require.NoError(t, err)
	s, _, err := settings.Ensure(l.Settings(), nil, func(func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
		return netip.MustParsePrefix("127.7.0.0/24"), nil
	})
	require.NoError(t, err)
	return l, s
}

func TestTheKubeletIsSparedACheckpointThat(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			l, _ := newLab(t)
			whole, broken := l.Join("kubelet", "allocated_pods_state"), l.Join("kubelet", "actuated_pods_state")
			for _, file := range []string{whole, broken} {
				require.NoError(t, os.WriteFile(file, []byte(`{"data":"{}","checksum":1}`), 0o600))
			}
			testenv.Damage(t, broken, damage)
			require.NoError(t, SetAsideBrokenCheckpoints(l))
			assert.FileExists(t, whole)
			assert.NoFileExists(t, broken)
			assert.FileExists(t, broken+".broken")
			require.NoError(t, SetAsideBrokenCheckpoints(l))
			assert.FileExists(t, whole)
		})
	}
}

func TestTheAuditPolicyOnAFullDiskStaysAsItWas(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		l, _ := newLab(t)
		require.NoError(t, WriteAuditPolicy(l))
		fill()
		require.ErrorContains(t, WriteAuditPolicy(l), "is full")
		content, err := os.ReadFile(l.AuditPolicy())
		require.NoError(t, err)
		assert.Equal(t, string(auditPolicy), string(content))
	})
}

func TestEverythingListensOnLoopback(t *testing.T) {
	for _, c := range All(newLab(t)) {
		for _, flag := range c.Args {
			name, value, _ := strings.Cut(flag, "=")
			switch {
			case strings.HasSuffix(name, "bind-address") || name == "--advertise-address":
				assert.True(t, net.ParseIP(value).IsLoopback(), "%s %s", c.Name, flag)
			case strings.Contains(name, "listen-") && strings.Contains(name, "-urls"):
				u, err := url.Parse(value)
				require.NoError(t, err)
				assert.True(t, net.ParseIP(u.Hostname()).IsLoopback(), "%s %s", c.Name, flag)
				assert.Equal(t, "https", u.Scheme, "%s %s", c.Name, flag)
			}
		}
	}
}

func TestRBACIsOn(t *testing.T) {
	l, s := newLab(t)
	assert.True(t, slices.Contains(apiServer(l, s).Args, "--authorization-mode=Node,RBAC"))
}

func TestTheAuditLogNeverFillsADisk(t *testing.T) {
	l, s := newLab(t)
	var megabytes, old int
	for _, flag := range apiServer(l, s).Args {
		_, _ = fmt.Sscanf(flag, "--audit-log-maxsize=%d", &megabytes)
		_, _ = fmt.Sscanf(flag, "--audit-log-maxbackup=%d", &old)
	}
	// For the API server 0 means no limit, for both.
	assert.Positive(t, megabytes)
	assert.Positive(t, old)
	assert.LessOrEqual(t, megabytes*(1+old), 100, "as README.md says")
}

func TestCheckSaysWhatIsMissing(t *testing.T) {
	l, _ := newLab(t)
	checker, err := NewChecker(l)
	require.NoError(t, err)
	var status int
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"healthy":         {200, "ok", ""},
		"failing hooks":   {500, "[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/rbac/bootstrap-roles failed: not finished\nreadyz check failed", "waiting for etcd, poststarthook/rbac/bootstrap-roles"},
		"another failure": {503, "overloaded", "503 Service Unavailable: overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body = tc.status, tc.body
			err := checker.Check(t.Context(), server.URL)
			if tc.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tc.want)
			}
		})
	}
	server.Close()
	assert.ErrorContains(t, checker.Check(t.Context(), server.URL), "refused")
}
