package settings

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

func TestTheProgram(t *testing.T) {
	w := sharedWorld(t)
	for name, all := range map[string]bool{"one namespace": false, "all namespaces": true} {
		t.Run(name, func(t *testing.T) {
			s := w.newEnv(t, envName(name))
			o := Options{SkipNameValidation: true}
			if !all {
				o.Namespace = s.name
			}
			ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, w.role, o) }()
			s.layer("defaults", 0, data{"colour": "blue"})
			s.becomes(state{"settings": "colour=blue; of defaults", "defaults": "True Merged 1"})
			cancel()
			assert.NoError(t, <-ended)
		})
	}

	t.Run("without rights", func(t *testing.T) {
		err := Run(t.Context(), w.User(t, "jane", nil), Options{})
		require.EqualError(t, err, `settingslayers.settings.example.com is forbidden: User "jane" cannot list resource "settingslayers" in API group "settings.example.com" at the cluster scope; ask an administrator for that verb on that resource`)
	})
	t.Run("nothing listens", func(t *testing.T) {
		err := Run(t.Context(), &rest.Config{Host: "https://127.0.0.1:1"}, Options{})
		require.EqualError(t, err, "https://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)")
	})
}

func withoutTheCRD(t *testing.T, c *testcluster.Cluster) {
	err := Run(t.Context(), c.Config, Options{SkipNameValidation: true})
	require.EqualError(t, err, "the cluster does not know settingslayers; create their CRD, which is in config/crd")
}
