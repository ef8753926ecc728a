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

// shortcomings are what a platform team would send a Deployment back for. Pod
// Security is the API server's: server_test.go.
func shortcomings(d appsv1.Deployment) []string {
	var problems []string
	want := func(what string, has bool) {
		if !has {
			problems = append(problems, what)
		}
	}
	pod := d.Spec.Template.Spec
	want("a service account of its own", pod.ServiceAccountName == "cnat-manager")
	want("to say that it wants the token", ptr.Deref(pod.AutomountServiceAccountToken, false))
	// 20 seconds to finish the reconciles that have begun, and a few to flush and to end.
	want("time to end", ptr.Deref(pod.TerminationGracePeriodSeconds, 0) >= 25)
	want("a container", len(pod.Containers) > 0)
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		want("a version of the image", version.MatchString(c.Image))
		for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			want("a request for "+resource.String(), !c.Resources.Requests.Name(resource, "").IsZero())
			want("a limit on "+resource.String(), !c.Resources.Limits.Name(resource, "").IsZero())
		}
		want("a liveness probe", c.LivenessProbe != nil && c.LivenessProbe.HTTPGet.Path == "/healthz" && names(c, c.LivenessProbe))
		want("a readiness probe", c.ReadinessProbe != nil && c.ReadinessProbe.HTTPGet.Path == "/readyz" && names(c, c.ReadinessProbe))
		want("a root that is read-only", c.SecurityContext != nil && ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false))
	}
	return problems
}

// names reports whether a probe goes to a port that the container has.
func names(c corev1.Container, probe *corev1.Probe) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == probe.HTTPGet.Port.StrVal })
}

func TestTheDeploymentHasWhatAPlatformAsksFor(t *testing.T) {
	for _, folder := range installations {
		assert.Empty(t, shortcomings(deploymentOf(t, build(t, folder))), folder)
	}
}

func TestAShortcomingIsFound(t *testing.T) {
	good := deploymentOf(t, build(t, "default"))
	for what, spoil := range map[string]func(*corev1.PodSpec, *corev1.Container){
		"a service account of its own":   func(p *corev1.PodSpec, _ *corev1.Container) { p.ServiceAccountName = "default" },
		"to say that it wants the token": func(p *corev1.PodSpec, _ *corev1.Container) { p.AutomountServiceAccountToken = nil },
		"time to end":                    func(p *corev1.PodSpec, _ *corev1.Container) { p.TerminationGracePeriodSeconds = new(int64(5)) },
		"a version of the image":         func(_ *corev1.PodSpec, c *corev1.Container) { c.Image = "cnat-manager:latest" },
		"a request for cpu":              func(_ *corev1.PodSpec, c *corev1.Container) { delete(c.Resources.Requests, corev1.ResourceCPU) },
		"a request for memory":           func(_ *corev1.PodSpec, c *corev1.Container) { delete(c.Resources.Requests, corev1.ResourceMemory) },
		"a limit on cpu":                 func(_ *corev1.PodSpec, c *corev1.Container) { delete(c.Resources.Limits, corev1.ResourceCPU) },
		"a limit on memory":              func(_ *corev1.PodSpec, c *corev1.Container) { delete(c.Resources.Limits, corev1.ResourceMemory) },
		"a liveness probe":               func(_ *corev1.PodSpec, c *corev1.Container) { c.LivenessProbe = nil },
		"a readiness probe":              func(_ *corev1.PodSpec, c *corev1.Container) { c.ReadinessProbe.HTTPGet.Port.StrVal = "helth" },
		"a root that is read-only":       func(_ *corev1.PodSpec, c *corev1.Container) { c.SecurityContext.ReadOnlyRootFilesystem = nil },
	} {
		bad := *good.DeepCopy()
		spoil(&bad.Spec.Template.Spec, &bad.Spec.Template.Spec.Containers[0])
		assert.Equal(t, []string{what}, shortcomings(bad))
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

// unknownVariables are those that no flag reads: nobody would notice a slip.
func unknownVariables(t *testing.T, all objects) []string {
	t.Helper()
	var help bytes.Buffer
	require.Zero(t, cli.Run(t.Context(), manager.Command(func(string) string { return "" }, nil), []string{"--help"}, &help, io.Discard))
	var unknown []string
	for _, c := range of[corev1.ConfigMap](t, all, "ConfigMap") {
		for name := range c.Data {
			flag := "--" + strings.ToLower(strings.ReplaceAll(name, "_", "-")) + " "
			if !strings.Contains(help.String(), flag) && name != "OTEL_EXPORTER_OTLP_ENDPOINT" {
				unknown = append(unknown, name)
			}
		}
	}
	return unknown
}

func TestEachVariableIsAFlag(t *testing.T) {
	for _, folder := range installations {
		assert.Empty(t, unknownVariables(t, build(t, folder)), folder)
	}
	all := build(t, "default")
	edit(t, all, "ConfigMap", func(c *corev1.ConfigMap) { c.Data["LOGLEVEL"] = "debug" })
	assert.Equal(t, []string{"LOGLEVEL"}, unknownVariables(t, all))
}

// missed are the selectors that do not find the manager's pods.
func missed(t *testing.T, all objects) []string {
	t.Helper()
	d := deploymentOf(t, all)
	pod := labels.Set(d.Spec.Template.Labels)
	var problems []string
	want := func(what string, selector *metav1.LabelSelector) {
		if s, err := metav1.LabelSelectorAsSelector(selector); err != nil || s.Empty() || !s.Matches(pod) {
			problems = append(problems, what)
		}
	}
	for _, s := range of[corev1.Service](t, all, "Service") {
		want("Service", &metav1.LabelSelector{MatchLabels: s.Spec.Selector})
	}
	for _, p := range of[networkingv1.NetworkPolicy](t, all, "NetworkPolicy") {
		want("NetworkPolicy", &p.Spec.PodSelector)
	}
	for _, p := range of[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget") {
		want("PodDisruptionBudget", p.Spec.Selector)
	}
	for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
		want("spread over "+c.TopologyKey, c.LabelSelector)
	}
	return problems
}

func TestSelectorsFindTheManager(t *testing.T) {
	all := build(t, "overlays/ha")
	assert.Empty(t, missed(t, all))
	edit(t, all, "Deployment", func(d *appsv1.Deployment) { d.Spec.Template.Labels = map[string]string{"app": "cnat"} })
	assert.Equal(t, []string{"Service", "NetworkPolicy", "PodDisruptionBudget", "spread over kubernetes.io/hostname", "spread over topology.kubernetes.io/zone"}, missed(t, all))
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
