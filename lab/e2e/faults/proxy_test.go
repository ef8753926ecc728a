package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// The proxy of whoever runs the lab knows nothing of the cluster's Services.
func TestTheAPIServerCallsAWebhookWithoutTheProxy(t *testing.T) {
	lab := newLab(t)
	lab.Env = []string{"HTTPS_PROXY=http://127.0.0.1:9"} // nobody listens there
	lab.Run(t, "up")
	path, none := "/configmaps", admissionv1.SideEffectClassNone
	_, err := lab.Client(t).AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "proxied"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:                    "proxied.example.com",
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             &none,
			ClientConfig:            admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "nowhere", Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	n := 0
	labtest.Eventually(t, "the webhook is called", func(ctx context.Context) error {
		n++
		err = createConfigMap(ctx, t, lab, fmt.Sprintf("early-%d", n))
		if err == nil || !strings.Contains(err.Error(), "proxied.example.com") {
			return errors.New("it is not called yet")
		}
		return nil
	})
	require.ErrorContains(t, err, `service "nowhere" not found`)
	assert.Contains(t, lab.Run(t, "env"), "export NO_PROXY='127.0.0.1,localhost' no_proxy='127.0.0.1,localhost'\n")
}
