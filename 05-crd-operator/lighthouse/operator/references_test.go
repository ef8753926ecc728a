package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

// A Secret brings back those that refer to it, and no others: neither those of another namespace, nor those on land.
func TestASecretBringsBackTheLighthousesThatReferToIt(t *testing.T) {
	refers := func(namespace, name, secret string) *v1alpha1.Lighthouse {
		light := eddystone()
		light.Namespace, light.Name, light.Spec.SecretRef = namespace, name, &v1alpha1.SecretReference{Name: secret}
		return light
	}
	land := refers("coast", "land", "")
	land.Spec.SecretRef = nil
	s := newShore(t, refers("coast", "wolf", "light-list"), refers("coast", "fastnet", "other"), refers("bay", "smalls", "light-list"), land)
	found := s.referrers(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "coast", Name: "light-list"}})
	assert.ElementsMatch(t, []ctrl.Request{
		{NamespacedName: client.ObjectKey{Namespace: "coast", Name: "eddystone"}},
		{NamespacedName: client.ObjectKey{Namespace: "coast", Name: "wolf"}},
	}, found)
}

// TestTheTokenIsInNothingThatPeopleRead looks for it in what is logged, in the error that controller-runtime
// logs, and in the status, whatever goes wrong.
func TestTheTokenIsInNothingThatPeopleRead(t *testing.T) {
	for name, trouble := range map[string]func(*shore){
		"all is well":              func(*shore) {},
		"the office is down":       func(s *shore) { s.list.Set(func(o *lightlist.Settings) { o.Down = true }) },
		"the office is busy":       func(s *shore) { s.next(lightlist.TooMany) },
		"the office is broken":     func(s *shore) { s.next(lightlist.Broken) },
		"an answer is lost":        func(s *shore) { s.next("", lightlist.Lose) },
		"the token was replaced":   func(s *shore) { s.list.Set(func(o *lightlist.Settings) { o.Bearer = "ulysses" }) },
		"the office refuses it":    func(s *shore) { s.answers(http.StatusUnprocessableEntity, "", http.NoBody) },
		"the office has no answer": func(s *shore) { s.answers(http.StatusOK, "", strings.NewReader("<html>")) },
		"the token isn't one":      func(s *shore) { s.secret("trin\nity") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShore(t)
			trouble(s)
			err := s.reconcile()
			require.NotEmpty(t, s.light().Status.Conditions, "it reports")
			read := fmt.Sprintf("%v\n%s\n%+v", err, s.logged.String(), s.light())
			assert.NotContains(t, strings.ReplaceAll(read, "\n", ""), "trinity", "people read the token")
			assert.NotContains(t, read, "Bearer", "and what it was sent with")
		})
	}
}
