//go:build try

package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTryItOutlivesAWebhookThatRestarts(t *testing.T) {
	tries := 0
	s := newServer(t, func(_ *server, name string) error {
		if name != "light-a0" {
			return nil
		}
		if tries++; tries < 3 {
			return apierrors.NewInternalError(errors.New("conversion webhook failed: connection refused"))
		}
		return nil
	})
	rewritten, _, err := migrate(t.Context(), s, crdName, "")
	require.NoError(t, err, "it gave up at the first internal error")
	assert.Equal(t, 6, rewritten)

	s = newServer(t, func(*server, string) error { return apierrors.NewForbidden(resource, "light-0", nil) })
	_, _, err = migrate(t.Context(), s, crdName, "")
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Len(t, s.patched, 1, "what is forbidden stays forbidden")
}

func TestTryAnExpiredListBeginsAgain(t *testing.T) {
	s := newServer(t, nil)
	expired := 0
	s.refuses = func(next string) error {
		if next != "b" || expired > 0 {
			return nil
		}
		expired++
		return apierrors.NewResourceExpired("the provided continue parameter is too old")
	}
	rewritten, _, err := migrate(t.Context(), s, crdName, "")
	require.NoError(t, err, "it gave up when the list had expired")
	assert.Equal(t, 10, rewritten, "two pages, and then all three")
	assert.Equal(t, []string{"v1beta1"}, s.stored(t))
}

func TestTryItReadsAVersionThatIsServed(t *testing.T) {
	s := newServer(t, nil)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, s.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
	crd.Spec.Versions[1].Served = false
	require.NoError(t, s.Update(t.Context(), crd))
	_, storage, err := migrate(t.Context(), s, crdName, "")
	require.NoError(t, err)
	assert.Equal(t, "v1beta1", storage)
	assert.Equal(t, []string{"v1alpha1", "v1alpha1", "v1alpha1"}, s.read, "it reads a version that nobody serves")
	assert.Equal(t, []string{"v1beta1"}, s.stored(t))
}
