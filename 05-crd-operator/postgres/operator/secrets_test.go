package operator

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
)

func TestEachRoleHasASecret(t *testing.T) {
	e := newEnv(t)
	requests := e.startOperator(e.server.Config)
	e.create(2)
	e.eventually(e.isWellIn(1))
	passwords := map[string]bool{}
	for role, name := range map[string]string{"postgres": "db", "replication": "db-replication", "app": "db-app"} {
		secret := get(e, name, &corev1.Secret{})
		assert.Equal(t, corev1.SecretTypeBasicAuth, secret.Type)
		assert.Equal(t, role, string(secret.Data[corev1.BasicAuthUsernameKey]))
		password := string(secret.Data[corev1.BasicAuthPasswordKey])
		assert.GreaterOrEqual(t, len(password), 26)
		passwords[password] = true
	}
	assert.Len(t, passwords, 3, "no two are the same")

	secrets := slices.DeleteFunc(requests.All(), func(what string) bool { return what[len(what)-len(" secrets"):] != " secrets" })
	slices.Sort(secrets)
	assert.Equal(t, []string{"create secrets", "get secrets"}, slices.Compact(secrets), "none is listed, and none is changed")
}

// bundle is what clients trust.
func (e *env) bundle() string {
	e.Helper()
	return get(e, "db-ca", &corev1.ConfigMap{}).Data["ca.crt"]
}

// served is the slot that a member serves to clients that call it by this name, or 0.
func (e *env) served(name string) int {
	e.Helper()
	slots := make([][]byte, 2)
	for i, secret := range []string{"db-tls-1", "db-tls-2"} {
		object := &corev1.Secret{}
		err := e.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: secret}, object)
		require.NoError(e, client.IgnoreNotFound(err))
		slots[i] = object.Data[corev1.TLSCertKey]
	}
	return 1 + certificate.Newest([]byte(e.bundle()), slots, name, e.clock.Now())
}

// passes lets time pass, in which the operator does what it does.
func (e *env) passes(d time.Duration) {
	e.Helper()
	e.clock.Step(d)
	e.until(isWell)
	e.settle()
}

func TestTheCertificateIsForAllNames(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	for _, name := range []string{"db", "db." + e.namespace, "db." + e.namespace + ".svc", "db-ro", "db-ro." + e.namespace, "db-ro." + e.namespace + ".svc", "db-1", "db-7"} {
		assert.Equal(t, 1, e.served(name), name)
	}
	for _, name := range []string{"db-8", "db-tls", "localhost"} {
		assert.Zero(t, e.served(name), name)
	}
	assert.Equal(t, corev1.SecretTypeTLS, get(e, "db-tls-1", &corev1.Secret{}).Type)
}

// Two thirds of its time are over, and later all of it.
func TestTheCertificateIsRenewed(t *testing.T) {
	const day = 24 * time.Hour
	e := newEnv(t)
	e.create(2)
	e.settle()
	first := e.bundle()
	e.passes(243 * day)
	assert.Equal(t, first, e.bundle(), "it is not due")

	e.requests.Take()
	e.clock.Step(day)
	e.reconcile()
	e.reconcile()
	assert.True(t, strings.HasPrefix(e.bundle(), first), "clients go on to trust the first")
	assert.Equal(t, 2, strings.Count(e.bundle(), "BEGIN CERTIFICATE"))
	assert.Equal(t, 1, e.served("db"), "clients need time to learn of the second")
	requests := e.requests.Take()
	secret, bundle := slices.Index(requests, "create secrets"), slices.Index(requests, "update configmaps")
	assert.True(t, secret >= 0 && secret < bundle, "%q", requests)

	e.clock.Step(time.Hour)
	assert.Equal(t, 2, e.served("db"))
	e.passes(122 * day)
	assert.Equal(t, 2, e.served("db"), "the first has expired")
	e.passes(122 * day)
	assert.Equal(t, 2, e.served("db"))
	assert.False(t, strings.HasPrefix(e.bundle(), first), "the third is where the first was")
	assert.Equal(t, 2, strings.Count(e.bundle(), "BEGIN CERTIFICATE"))
	e.passes(time.Hour)
	assert.Equal(t, 1, e.served("db"), "the third is where the first was")
}

// The operator's clock is wrong for a while. Members, whose clocks are right, serve what clients accept.
func TestAClockThatIsWrongForAWhileCutsNobodyOff(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, steps := range map[string][]time.Duration{
		"two years ahead":         {2 * year, -2 * year},
		"two years behind":        {-2 * year, 2 * year},
		"behind and then ahead":   {-2 * year, 4 * year, -2 * year},
		"an hour ahead":           {time.Hour, -time.Hour},
		"a second back and forth": {-time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.create(2)
			e.settle()
			for _, step := range steps {
				e.clock.Step(step)
				for range 3 {
					e.reconcile()
				}
			}
			assert.NotZero(t, e.served("db"))
			assert.NotZero(t, e.served("db-2"))
			e.passes(250 * 24 * time.Hour)
			assert.NotZero(t, e.served("db"), "the next one is not where the present one is")
			e.passes(2 * time.Hour)
			assert.NotZero(t, e.served("db"), "it was renewed when that was due")
			e.passes(200 * 24 * time.Hour)
			assert.NotZero(t, e.served("db"), "so it is there when the first has expired")
		})
	}
}

// What was made is of no use without the rest, and is made again. It may be of another operator,
// which is about to write the rest.
func TestTwoOperatorsIssueOneCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		finish func(*env, certificate.Issued) // what the other operator does in the end
		waits  time.Duration
	}{
		"the other one goes on": {func(e *env, issued certificate.Issued) {
			require.Empty(e, e.operator.restore(e.Context(), e.cluster(), []shared{sharedBundle(e.cluster(), issued)}))
		}, 0},
		"the other one was killed": {func(*env, certificate.Issued) {}, 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			cluster := e.create(1)
			issued, err := readBundle(cluster, &corev1.ConfigMap{}).Issue(certificateNames(cluster), e.clock.Now())
			require.NoError(t, err)
			require.NoError(t, e.operator.fillSlot(t.Context(), cluster, 1, issued))
			err = e.operator.issueCertificate(t.Context(), cluster)
			require.ErrorIs(t, err, errSlotTaken)
			tc.finish(e, issued)
			e.clock.Step(tc.waits)
			e.settle()
			assert.Equal(t, 1, e.served("db"))
		})
	}
}

func TestABundleOfSomebodyElseIsLeftAlone(t *testing.T) {
	e := newEnv(t)
	foreign := &corev1.ConfigMap{ObjectMeta: e.meta("db-ca"), Data: map[string]string{"ca.crt": "theirs"}}
	require.NoError(t, e.Create(t.Context(), foreign))
	cluster := e.create(1)
	err := e.operator.issueCertificate(t.Context(), cluster)
	require.ErrorAs(t, err, new(foreignError))
	assert.NotContains(t, e.requests.All(), "create secrets", "nobody would trust it")
	require.NoError(t, e.Delete(t.Context(), foreign))
	e.settle()
}

// To delete the bundle is to have all made again.
func TestABundleThatIsDeletedIsMadeAnew(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	first := e.bundle()
	require.NoError(t, e.Delete(t.Context(), get(e, "db-ca", &corev1.ConfigMap{})))
	e.clock.Step(2 * time.Minute)
	e.until(func(*postgres.PostgresCluster) bool {
		return e.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "db-ca"}, &corev1.ConfigMap{}) == nil
	})
	e.settle()
	assert.NotEqual(t, first, e.bundle())
	assert.Equal(t, 1, e.served("db"))
}
