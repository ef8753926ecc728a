package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

// ready creates the Lighthouse, and an operator that makes it ready.
func (c *coast) ready() *operator {
	c.Helper()
	require.NoError(c, c.Create(c.Context(), eddystone()))
	return c.operator(&wire{}).drive(func() bool { return c.is() == "Ready Burning" })
}

// becomes drives the operator until the condition that is True is this one.
func (o *operator) becomes(is string) {
	o.Helper()
	o.drive(func() bool { return o.is() == is })
}

func TestAReconcileThatChangesNothingMakesNoCall(t *testing.T) {
	c := newCoast(t)
	o := c.ready()
	before := len(o.calls)
	for range 5 {
		again, err := o.reconcile(t.Context())
		require.NoError(t, err)
		assert.Equal(t, checkEvery, again)
	}
	assert.Empty(t, o.calls[before:])
	o.clock.Step(checkEvery)
	_, err := o.reconcile(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"office: GET"}, o.calls[before:], "once in a while it looks at the Light List")
}

func TestItHealsWhatItOwnsAndLeavesTheRest(t *testing.T) {
	c := newCoast(t)
	o := c.ready()
	deployment, service := &appsv1.Deployment{}, &corev1.Service{}
	key := client.ObjectKey{Name: "eddystone"}
	require.NoError(t, c.Get(t.Context(), key, deployment))
	assert.True(t, metav1.IsControlledBy(deployment, c.light()), "so that it goes with the Lighthouse")
	deployment.Spec.Replicas = new(int32(9))
	deployment.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}
	deployment.Spec.Template.Spec.Containers[0].Env[0].Value = "long"
	require.NoError(t, c.Update(t.Context(), deployment))
	require.NoError(t, c.Get(t.Context(), key, service))
	require.NoError(t, c.Delete(t.Context(), service))

	before := len(o.calls)
	_, err := o.reconcile(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"PATCH deployments", "PATCH services", "PUT lighthouses/status"}, o.calls[before:])
	healed := &appsv1.Deployment{}
	require.NoError(t, c.Get(t.Context(), key, healed))
	assert.EqualValues(t, 3, *healed.Spec.Replicas)
	assert.Equal(t, "short short", healed.Spec.Template.Spec.Containers[0].Env[0].Value)
	assert.Equal(t, deployment.Spec.Template.Annotations, healed.Spec.Template.Annotations)
	require.NoError(t, c.Get(t.Context(), key, service))
	assert.Equal(t, map[string]string{"lighthouse": "eddystone"}, service.Spec.Selector)
	assert.Equal(t, "Reconciling Lighting", c.is(), "the numbers are those of an older Deployment")
}

func TestADeploymentOfSomebodyElseIsLeftAlone(t *testing.T) {
	named := metav1.ObjectMeta{Namespace: "coast", Name: "eddystone"}
	ofTheLast := named
	ofTheLast.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Lighthouse", Name: "eddystone", UID: "0", Controller: new(true)},
	}
	for name, test := range map[string]struct {
		foreign client.Object
		is, why string
	}{
		"a Deployment": {&appsv1.Deployment{ObjectMeta: named}, "Stalled NameTaken", "the Deployment eddystone belongs to somebody else"},
		"a Service":    {&corev1.Service{ObjectMeta: named}, "Stalled NameTaken", "the Service eddystone belongs to somebody else"},
		"a Service that the garbage collector deletes soon": {
			&corev1.Service{ObjectMeta: ofTheLast}, "Reconciling NameTaken", "the Service of the last Lighthouse of this name isn't gone yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShore(t, test.foreign)
			foreign := test.foreign.DeepCopyObject().(client.Object)
			key := client.ObjectKeyFromObject(foreign)
			require.NoError(t, s.Get(t.Context(), key, foreign))
			version := foreign.GetResourceVersion()
			require.NoError(t, s.reconcile())
			assert.Equal(t, test.is, s.is())
			assert.Contains(t, s.light().Status.Conditions[0].Message, test.why)
			require.NoError(t, s.Get(t.Context(), key, foreign))
			assert.Equal(t, version, foreign.GetResourceVersion())
			assert.Zero(t, s.registered())
			s.delete(foreign)
			require.NoError(t, s.reconcile())
			assert.Equal(t, 1, s.registered())
		})
	}
}

func TestTheTokenIsThatOfTheSecret(t *testing.T) {
	c := newCoast(t)
	c.deleteSecret()
	require.NoError(t, c.Create(t.Context(), eddystone()))
	o := c.operator(&wire{})
	o.becomes("Stalled NoToken")
	again, err := o.reconcile(t.Context())
	require.NoError(t, err)
	assert.Zero(t, again, "it doesn't poll: the watch will bring it back")
	c.secret("trinity\n")
	o.becomes("Ready Burning")

	c.list.Set(func(s *lightlist.Settings) { s.Bearer = "ulysses" })
	c.change(func(light *v1alpha1.Lighthouse) { light.Spec.Position = rame })
	o.becomes("Stalled TokenRefused")
	c.secret("ulysses\n")
	c.clock.Step(turnEvery)
	_, err = o.reconcile(t.Context())
	require.NoError(t, err)
	assert.True(t, c.listed(rame), "another token need not wait until the next check is due")
	o.becomes("Ready Burning")
}

func TestAnOfficeThatIsDownDoesNotMakeItUnready(t *testing.T) {
	c := newCoast(t)
	o := c.ready()
	c.list.Set(func(s *lightlist.Settings) { s.Down = true })
	for range 5 {
		c.clock.Step(checkEvery)
		_, err := o.reconcile(t.Context())
		require.Error(t, err, "the queue tries again")
		assert.Equal(t, "Ready Burning", c.is())
	}
	light := c.light()
	assert.Contains(t, light.Status.Conditions[0].Message, "whether the Light List still says the same isn't known: the Light List office doesn't answer as it should")
	c.change(func(light *v1alpha1.Lighthouse) { light.Spec.Position = rame })
	c.clock.Step(turnEvery)
	_, err := o.reconcile(t.Context())
	require.Error(t, err)
	assert.Equal(t, "Reconciling OfficeUnavailable", c.is())

	waits := func(want time.Duration) {
		t.Helper()
		calls := len(o.calls)
		again, err := o.reconcile(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, again)
		assert.Len(t, o.calls, calls, "it calls too early, or writes")
		assert.Equal(t, "Reconciling OfficeUnavailable", c.is(), "nothing newer is known")
		c.clock.Step(again)
	}
	for n, backoff := range []time.Duration{32 * turnEvery, 64 * turnEvery} { // after the sixth failure, and the seventh
		waits(backoff)
		o.office.wait(fmt.Sprint("fastnet-", n), "") // another Lighthouse is faster
		waits(turnEvery)
		_, err = o.reconcile(t.Context())
		require.Error(t, err)
	}
	c.list.Set(func(s *lightlist.Settings) { s.Down = false })
	o.drive(func() bool { return c.is() == "Ready Burning" && c.listed(rame) })
}

func TestWhatTheOfficeRefusesStalls(t *testing.T) {
	for code, is := range map[int]string{401: "Stalled TokenRefused", 403: "Stalled TokenRefused", 422: "Stalled Refused", 429: "Reconciling OfficeBusy", 410: "Reconciling Withdrawn", 503: "Reconciling OfficeUnavailable"} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			c := newCoast(t)
			require.NoError(t, c.Create(t.Context(), eddystone()))
			const lookUp = 4
			o := c.operator(&wire{at: lookUp, fault: answer(code, "")})
			_, _ = o.reconcile(t.Context()) // some are errors
			assert.Equal(t, is, c.is())
			calls := len(o.calls)
			c.clock.Step(time.Second)
			_, _ = o.reconcile(t.Context()) // something else brings the key
			assert.Equal(t, code == 429 || code == 503, len(o.calls) > calls, "only what may be better by now is asked again")
			c.clock.Step(checkEvery)
			o.becomes("Ready Burning")
		})
	}
}

// All Lighthouses share the turns of one office.
func TestTurns(t *testing.T) {
	now := testclock.NewFakeClock(time.Unix(0, 0))
	o := newOffice("", now)
	assert.Zero(t, o.wait("a", "x"))
	assert.Equal(t, turnEvery, o.wait("b", "x"))
	assert.Equal(t, 2*turnEvery, o.wait("c", "x"))
	assert.Equal(t, turnEvery, o.wait("b", "x"), "it has a turn already")
	now.Step(turnEvery)
	assert.Zero(t, o.wait("b", "x"))
	assert.Equal(t, 2*turnEvery, o.wait("b", "x"), "one turn is used once")

	o.pause(7 * time.Second)
	assert.Equal(t, 7*time.Second, o.wait("new", "x"), "the office wants nobody")
	now.Step(turnEvery)
	assert.Equal(t, 7*time.Second, o.wait("c", "x"), "neither those who had a turn; and they don't come all at once")
	o.next("a", time.Hour)
	assert.Equal(t, time.Hour, o.wait("a", "x"))
	assert.Equal(t, 7*time.Second+turnEvery, o.wait("a", "y"), "there is something else to send")
	o.forget("a")
	assert.Equal(t, 7*time.Second+2*turnEvery, o.wait("a", "y"))
}

func TestACallThatHangsHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice("http://office", clock.RealClock{}) // the bubble's
		o.client.Transport = testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		start := time.Now()
		_, err := o.lookUp(t.Context(), "trinity", "1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, callTimeout, time.Since(start))
		assert.NotContains(t, err.Error(), "trinity", "nobody logs the token")
	})
}

// There are four workers, and those without a call can heal.
func TestAnOfficeThatHangsHoldsUpOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice("http://office", clock.RealClock{})
		const lights, hangs, afterwards = 20, time.Minute, 20 * time.Second
		start, calls, answers := time.Now(), atomic.Int32{}, atomic.Int32{}
		o.client.Transport = testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
			now := calls.Add(1)
			defer calls.Add(-1)
			if time.Since(start) > hangs {
				answers.Add(1)
				return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody}, nil
			}
			if time.Since(start) > callTimeout+4*turnEvery { // those that began before are over
				assert.EqualValues(t, 1, now, "calls that hang at the same time")
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})

		queue := make(chan string, lights)
		for n := range lights {
			queue <- fmt.Sprint("light-", n)
		}
		ctx, stop := context.WithTimeout(t.Context(), hangs+afterwards)
		defer stop()
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for ctx.Err() == nil {
					select {
					case <-ctx.Done():
					case key := <-queue:
						wait := o.wait(key, "")
						if wait == 0 {
							_, _ = o.lookUp(t.Context(), "trinity", key)
						}
						time.AfterFunc(wait, func() { queue <- key })
					}
				}
			})
		}
		workers.Wait()
		assert.Greater(t, int(answers.Load()), lights, "the office is back, and the calls don't have their turns again")
	})
}

func TestTheCacheKeepsOfASecretOnlyTheToken(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Annotations: map[string]string{"a": "b"}}, Data: map[string][]byte{"token": []byte("t"), "tls.key": []byte("k")}}
	kept, err := onlyToken(secret)
	require.NoError(t, err)
	assert.Equal(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"token": []byte("t")}}, kept)
	assert.Len(t, secret.Data, 2)
	delete(secret.Data, "token")
	kept, err = onlyToken(secret)
	require.NoError(t, err)
	assert.Equal(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, kept, "a Secret of somebody else")
}

func TestWhatTheAPIServerRefuses(t *testing.T) {
	c := newCoast(t)
	for want, change := range map[string]func(*v1alpha1.Lighthouse){
		"a position and a secretRef go together":           func(l *v1alpha1.Lighthouse) { l.Spec.SecretRef = nil },
		"such as: 50.18N 4.27W":                            func(l *v1alpha1.Lighthouse) { l.Spec.Position = "off Plymouth" },
		"a flash is made of the words":                     func(l *v1alpha1.Lighthouse) { l.Spec.Flash = "shrot" },
		"spec.lamps: Invalid value: 10":                    func(l *v1alpha1.Lighthouse) { l.Spec.Lamps = 10 },
		"spec.lamps: Invalid value: -1":                    func(l *v1alpha1.Lighthouse) { l.Spec.Lamps = -1 },
		"the name becomes a label of the pods":             func(l *v1alpha1.Lighthouse) { l.Name = fmt.Sprintf("%064d", 0) },
		"spec.secretRef.name: Invalid value: \"\": spec.s": func(l *v1alpha1.Lighthouse) { l.Spec.SecretRef.Name = "" },
	} {
		light := eddystone()
		change(light)
		require.ErrorContains(t, c.Create(t.Context(), light, client.DryRunAll), want)
	}
	light := eddystone()
	require.NoError(t, c.Create(t.Context(), light))
	light.Spec.Position, light.Spec.SecretRef = "", nil
	require.ErrorContains(t, c.Update(t.Context(), light), "to take it out, delete it")
}
