package config_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/06-shipping/manager"
)

func deploymentOf(t *testing.T, all objects) appsv1.Deployment {
	t.Helper()
	deployments := of[appsv1.Deployment](t, all, "Deployment")
	require.Len(t, deployments, 1)
	return deployments[0]
}

var version = regexp.MustCompile(`^[^:@]+(:v\d+\.\d+\.\d+[^:@]*|@sha256:[0-9a-f]{64})$`)

// What a platform team would send a Deployment back for. Pod Security is the API server's: server_test.go.
func TestTheDeploymentHasWhatAPlatformAsksFor(t *testing.T) {
	for _, folder := range installations {
		t.Run(folder, func(t *testing.T) {
			pod := deploymentOf(t, build(t, folder)).Spec.Template.Spec
			assert.Equal(t, "cnat-manager", pod.ServiceAccountName, "an account of its own")
			assert.Equal(t, new(true), pod.AutomountServiceAccountToken, "it says that it wants the token")
			// 20 seconds to finish the reconciles that have begun, and a few to flush and to end.
			assert.GreaterOrEqual(t, ptr.Deref(pod.TerminationGracePeriodSeconds, 0), int64(25))
			require.Len(t, pod.Containers, 1)
			require.Empty(t, pod.InitContainers)
			c := pod.Containers[0]
			assert.Regexp(t, version, c.Image)
			for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				assert.Positive(t, c.Resources.Requests.Name(resource, "").Sign(), "a request for %s", resource)
				assert.Positive(t, c.Resources.Limits.Name(resource, "").Sign(), "a limit on %s", resource)
			}
			var ports []string
			for _, port := range c.Ports {
				ports = append(ports, port.Name)
			}
			for path, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
				require.NotNil(t, probe)
				assert.Equal(t, path, probe.HTTPGet.Path)
				assert.Contains(t, ports, probe.HTTPGet.Port.StrVal, "the container has the port")
			}
			assert.Equal(t, new(true), c.SecurityContext.ReadOnlyRootFilesystem)
		})
	}
}

// options are what the manager understands of a Deployment and its ConfigMap.
func options(t *testing.T, all objects) (got manager.Options) {
	t.Helper()
	container := deploymentOf(t, all).Spec.Template.Spec.Containers[0]
	environment := map[string]string{"POD_NAME": "cnat-manager-x", "POD_NAMESPACE": "cnat-system", "POD_IP": "10.1.2.3"}
	for _, variable := range container.Env {
		require.Contains(t, environment, variable.Name, "by the downward API")
	}
	require.Len(t, container.Env, len(environment))
	for _, c := range of[corev1.ConfigMap](t, all, "ConfigMap") {
		require.Equal(t, container.EnvFrom[0].ConfigMapRef.Name, c.Name)
		maps.Copy(environment, c.Data)
	}
	var args []string
	for _, arg := range container.Args {
		args = append(args, strings.ReplaceAll(arg, "$(POD_IP)", environment["POD_IP"])) // as the kubelet does
	}
	run := func(_ context.Context, o manager.Options) error { got = o; return nil }
	var stderr bytes.Buffer
	require.Zero(t, cli.Run(t.Context(), manager.Command(func(name string) string { return environment[name] }, run), args, io.Discard, &stderr), &stderr)
	return got
}

func TestTheManagerUnderstandsItsFlags(t *testing.T) {
	o := options(t, build(t, "default"))
	assert.True(t, o.LeaderElect)
	assert.Equal(t, "cnat-system", o.LeaderNamespace)
	assert.Equal(t, "cnat-manager-x", o.Identity)
	assert.Equal(t, "unknown", o.Region)
	assert.Equal(t, "[10.1.2.3]:8443", o.MetricsAddress)
	assert.Equal(t, "[10.1.2.3]:8081", o.HealthAddress)
	assert.Empty(t, o.Namespaces)
	assert.Empty(t, o.MetricsTokenFile)

	o = options(t, build(t, "overlays/namespaced"))
	assert.Equal(t, []string{"team-a", "team-b"}, o.Namespaces)
	assert.Equal(t, "/etc/cnat/metrics/token", o.MetricsTokenFile)
}

// Nobody would notice a slip in a variable that no flag reads.
func TestEachVariableIsAFlag(t *testing.T) {
	var help bytes.Buffer
	require.Zero(t, cli.Run(t.Context(), manager.Command(func(string) string { return "" }, nil), []string{"--help"}, &help, io.Discard))
	for _, folder := range installations {
		for _, c := range of[corev1.ConfigMap](t, build(t, folder), "ConfigMap") {
			for name := range c.Data {
				if name != "OTEL_EXPORTER_OTLP_ENDPOINT" {
					assert.Contains(t, help.String(), "--"+strings.ToLower(strings.ReplaceAll(name, "_", "-"))+" ", folder)
				}
			}
		}
	}
}

func TestSelectorsFindTheManager(t *testing.T) {
	all := build(t, "overlays/ha")
	d := deploymentOf(t, all)
	finds := func(what string, selector *metav1.LabelSelector) {
		s, err := metav1.LabelSelectorAsSelector(selector)
		require.NoError(t, err)
		assert.True(t, !s.Empty() && s.Matches(labels.Set(d.Spec.Template.Labels)), what)
	}
	for _, s := range of[corev1.Service](t, all, "Service") {
		finds("Service", &metav1.LabelSelector{MatchLabels: s.Spec.Selector})
	}
	for _, p := range of[networkingv1.NetworkPolicy](t, all, "NetworkPolicy") {
		finds("NetworkPolicy", &p.Spec.PodSelector)
	}
	for _, p := range of[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget") {
		finds("PodDisruptionBudget", p.Spec.Selector)
	}
	for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
		finds("spread over "+c.TopologyKey, c.LabelSelector)
	}
}

// Behind their Service, API servers listen at different ports.
func TestTheManagerMayTalkToTheAPIServer(t *testing.T) {
	for _, folder := range installations {
		policies := of[networkingv1.NetworkPolicy](t, build(t, folder), "NetworkPolicy")
		require.Len(t, policies, 1)
		for cluster, port := range map[string]int{"a cloud": 443, "kubeadm and kind": 6443, "minikube": 8443} {
			assert.True(t, slices.ContainsFunc(policies[0].Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
				return len(r.To) == 0 && slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.IntValue() == port })
			}), "%s: %s", folder, cluster)
		}
	}
}

// A collector that the policy keeps the manager from gets nothing.
func TestTheManagerMayTalkToTheCollector(t *testing.T) {
	all := build(t, "overlays/traced")
	endpoint, err := url.Parse(options(t, all).TraceEndpoint)
	require.NoError(t, err)
	_, namespace, _ := strings.Cut(endpoint.Hostname(), ".")
	allows := func(all objects, namespace, port string) bool {
		return slices.ContainsFunc(of[networkingv1.NetworkPolicy](t, all, "NetworkPolicy")[0].Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
			return len(r.To) == 1 && r.To[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] == namespace &&
				slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool { return p.Port.String() == port })
		})
	}
	assert.True(t, allows(all, namespace, endpoint.Port()))
	assert.True(t, allows(all, "kube-system", "53"), "the collector has a name")
	assert.False(t, allows(build(t, "default"), namespace, endpoint.Port()), "only if there is a collector")
}

func TestHighAvailability(t *testing.T) {
	all := build(t, "overlays/ha")
	d := deploymentOf(t, all)
	assert.EqualValues(t, 2, *d.Spec.Replicas)
	assert.Equal(t, 0, d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue())
	assert.Len(t, d.Spec.Template.Spec.TopologySpreadConstraints, 2)
	budgets := of[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget")
	require.Len(t, budgets, 1)
	assert.Equal(t, 1, budgets[0].Spec.MaxUnavailable.IntValue())
}

func TestOnlyTheManagersPodGetsAToken(t *testing.T) {
	for _, folder := range installations {
		accounts := of[corev1.ServiceAccount](t, build(t, folder), "ServiceAccount")
		assert.NotEmpty(t, accounts)
		for _, account := range accounts {
			assert.False(t, ptr.Deref(account.AutomountServiceAccountToken, true), "%s: %s", folder, account.Name)
		}
	}
}
