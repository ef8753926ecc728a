package member

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

func TestHowLongNobodyCanConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r reach
		var cause atomic.Value // of each attempt
		var takes atomic.Int64
		cause.Store(plan.Cause(""))
		ctx, stop := context.WithCancel(t.Context())
		go r.run(ctx, func(ctx context.Context) (plan.Cause, error) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(takes.Load())):
			}
			return cause.Load().(plan.Cause), nil
		})
		after := func(d time.Duration) *plan.Unreachable { time.Sleep(d); synctest.Wait(); return r.get() } //nolint:forbidigo // fake time
		assert.Nil(t, after(time.Minute))

		cause.Store(plan.Frozen)
		takes.Store(int64(2 * queryTimeout)) // by TCP, and by the socket
		assert.Nil(t, after(2*time.Second), "an attempt is not over")
		assert.False(t, after(9*time.Second).Lasts(), "two attempts are")
		assert.True(t, after(5*time.Second).Lasts(), "three are")
		cause.Store(plan.TooManyClients)
		assert.False(t, after(5*time.Second).Lasts(), "that is something else")
		cause.Store(plan.Cause(""))
		assert.Nil(t, after(5*time.Second))
		stop()
		synctest.Wait()
	})
}

// A Service leads to members that are ready.
func TestWhoIsReady(t *testing.T) {
	crowded := &plan.Unreachable{Cause: plan.TooManyClients, For: time.Minute}
	for name, tc := range map[string]struct {
		report plan.Report
		want   int
	}{
		"a standby":                          {plan.Report{Running: true}, http.StatusOK},
		"one that nobody can connect to":     {plan.Report{Running: true, Unreachable: crowded}, http.StatusServiceUnavailable},
		"a primary: there is no other":       {plan.Report{Running: true, Writable: true, Unreachable: crowded}, http.StatusOK},
		"one whose PostgreSQL does not run ": {plan.Report{}, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var r reporter
			r.set(tc.report, false)
			answer := httptest.NewRecorder()
			r.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			assert.Equal(t, tc.want, answer.Code)
		})
	}
}

func TestWhyNoClientCanConnect(t *testing.T) {
	t.Parallel()
	if testpostgres.RanAsNobody(t) {
		return
	}
	files := writeSecrets(t)
	a := lone(t, files)
	awaits := func(want plan.Cause) {
		t.Helper()
		var got plan.Cause
		var err error
		require.Eventually(t, func() bool { got, err = a.attempt(t.Context()); return got == want }, testcluster.TestTimeout, 10*time.Millisecond, "%v: %v", got, err)
	}
	awaits("")

	password := filepath.Join(string(files), replicator, "password")
	require.NoError(t, os.WriteFile(password, []byte("another"), 0o600))
	_, err := connectMember(t.Context(), peer{"db-1", a.server.settings.address, a.server.settings.uid}, files)
	require.ErrorContains(t, err, "password authentication failed")
	awaits("") // which is no reason for a failover
	require.NoError(t, os.WriteFile(password, []byte("the password of "+replicator), 0o600))

	var clients []session
	for range 97 { // of 100, of which three are reserved
		clients = append(clients, newClient(t, a.server))
	}
	awaits(plan.TooManyClients)
	clients = append(clients, newClient(t, a.server)) // as the superuser, for whom they are
	for _, c := range clients {
		c.close()
	}
	awaits("")

	bundle, err := os.ReadFile(files.bundle())
	require.NoError(t, err)
	other, err := certificate.Read(nil, "uid").Issue([]string{"db-1"}, time.Now().Add(-2*certificate.Lifetime))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.bundle(), other.CA, 0o600))
	awaits(plan.NoCertificate) // clients do not know its CA
	require.NoError(t, os.WriteFile(files.bundle(), nil, 0o600))
	awaits(plan.NoCertificate) // they know none
	require.NoError(t, os.WriteFile(files.bundle(), append(bundle, other.CA...), 0o600))
	awaits("")
	require.NoError(t, replaceFile(a.server.settings.key(), string(other.Key)))
	require.NoError(t, replaceFile(a.server.settings.certificate(), string(other.Certificate)))
	require.NoError(t, a.server.reload())
	awaits(plan.NoCertificate) // it has expired
	_, err = a.server.installCertificate()
	require.NoError(t, err)
	require.NoError(t, a.server.reload())
	awaits("")

	_, err = newClient(t, a.server).rows(t.Context(), "ALTER SYSTEM SET ssl = off")
	require.NoError(t, err)
	require.NoError(t, a.server.reload())
	awaits(plan.NotListening)
}
