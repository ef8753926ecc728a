// Package packaging tests the chart with Helm.
package packaging

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/hacking-a-controller/06-shipping/internal/testmanifests"
	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

const (
	chart  = "chart"
	config = "../config"
)

type objects = testmanifests.Objects

// helm runs it without a cluster and without the settings of a user.
func helm(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	testprogram.ReadBySomebodyElse(t, chart)
	command := exec.CommandContext(t.Context(), testprogram.Path(t, "HELM"), args...)
	home := t.TempDir()
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(home, "none"), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	return testprogram.Output(command)
}

// render is what `helm install` would create in cnat-system, with values that are set.
func render(t *testing.T, values ...string) objects {
	t.Helper()
	return renderIn(t, "cnat-system", values...)
}

func renderIn(t *testing.T, namespace string, values ...string) objects {
	t.Helper()
	args := []string{"template", "cnat", chart, "--namespace=" + namespace, "--include-crds"}
	for _, value := range values {
		args = append(args, "--set="+value)
	}
	output, err := helm(t, args...)
	require.NoError(t, err)
	// A CRD begins with ---, and Helm writes another.
	return slices.DeleteFunc(testmanifests.Decode(t, output), func(o *unstructured.Unstructured) bool { return o.Object == nil })
}

func TestTheChartHasNoFaultThatHelmKnows(t *testing.T) {
	_, err := helm(t, "lint", "--strict", chart)
	require.NoError(t, err)
}

func TestTheChartMakesWhatKustomizeMakes(t *testing.T) {
	for choice, tc := range map[string]struct {
		folder    string
		values    []string
		byAnAdmin []string // what Kustomize makes here, and the chart leaves to an administrator
		byHelm    []string // and the other way around
	}{
		"a manager for the cluster": {"default", nil, []string{"Namespace"}, nil},
		"two replicas":              {"overlays/ha", []string{"replicas=2"}, []string{"Namespace"}, nil},
		"two namespaces":            {"overlays/namespaced", []string{"namespaces={team-a,team-b}"}, nil, []string{"CustomResourceDefinition"}},
		"a collector of traces":     {"overlays/traced", []string{"traces.endpoint=http://collector.observability:4318"}, []string{"Namespace"}, nil},
		"a Prometheus":              {"overlays/monitored", []string{"metrics.serviceMonitor=true", "metrics.certSecret=cnat-metrics-cert"}, []string{"Namespace"}, nil},
	} {
		t.Run(choice, func(t *testing.T) {
			kustomized := testmanifests.Kustomize(t, config, tc.folder)
			want, got := byName(testmanifests.Decode(t, kustomized), tc.byAnAdmin), byName(render(t, tc.values...), tc.byHelm)
			assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
			for name, o := range want {
				if got[name] != nil {
					withoutHelm(t, got[name], o)
					assert.Equal(t, o.Object, got[name].Object, name)
				}
			}
		})
	}
}

var hashed = regexp.MustCompile(`^cnat-environment-[a-z0-9]{10}$`)

// byName names the objects, without those of some kinds. Kustomize puts a hash into the name
// of the ConfigMap, where the chart has one in an annotation; here it has none.
func byName(all objects, without []string) map[string]*unstructured.Unstructured {
	named := map[string]*unstructured.Unstructured{}
	for _, o := range all {
		if slices.Contains(without, o.GetKind()) {
			continue
		}
		o.SetName(hashed.ReplaceAllString(o.GetName(), "cnat-environment"))
		if o.GetKind() == "Deployment" {
			containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
			for _, from := range containers[0].(map[string]any)["envFrom"].([]any) {
				reference := from.(map[string]any)["configMapRef"].(map[string]any)
				reference["name"] = hashed.ReplaceAllString(reference["name"].(string), "cnat-environment")
			}
			_ = unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers")
		}
		named[fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())] = o
	}
	return named
}

// copied are the kinds, and the objects, that are files of config/, byte for byte.
var copied = []string{"CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterRole cnat-edit", "ClusterRole cnat-view"}

// withoutHelm checks and removes what only Helm's objects have: four labels or more, and a hash.
func withoutHelm(t *testing.T, o, kustomized *unstructured.Unstructured) {
	t.Helper()
	if slices.Contains(copied, o.GetKind()) || slices.Contains(copied, o.GetKind()+" "+o.GetName()) {
		return
	}
	labels := o.GetLabels()
	for label, want := range map[string]string{
		"app.kubernetes.io/instance": "cnat", "app.kubernetes.io/version": "v0.6.0", "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "cnat-0.6.0",
	} {
		assert.Equal(t, want, labels[label], "%s of %s %s", label, o.GetKind(), o.GetName())
		delete(labels, label)
	}
	if kustomized.GetLabels() == nil {
		assert.Equal(t, map[string]string{"app.kubernetes.io/name": "cnat", "app.kubernetes.io/component": "manager"}, labels)
		labels = nil
	}
	o.SetLabels(labels)
	if o.GetKind() == "Deployment" {
		path := []string{"spec", "template", "metadata", "annotations", "checksum/environment"}
		checksum, _, _ := unstructured.NestedString(o.Object, path...)
		assert.Len(t, checksum, 64)
		unstructured.RemoveNestedField(o.Object, path...)
	}
}

// Each value changes what it names, and nothing else.
func TestTheValuesOfTheChart(t *testing.T) {
	const digest = "sha256:0123456789012345678901234567890123456789012345678901234567890123"
	const container = "Deployment cnat-manager spec.template.spec.containers.0."
	const checksum, anything = "Deployment cnat-manager spec.template.metadata.annotations.checksum/environment", "anything"
	before := fields(render(t))
	for value, want := range map[string]map[string]any{
		"image.repository=registry.example:5000/cnat": {container + "image": "registry.example:5000/cnat:v0.6.0"},
		"image.tag=v1.2.3":                            {container + "image": "cnat-manager:v1.2.3"},
		"image.digest=" + digest:                      {container + "image": "cnat-manager@" + digest},
		"region=us-east-2":                            {"ConfigMap cnat-environment data.REGION": "us-east-2", checksum: anything},
		"environment.LOG_LEVEL=debug":                 {"ConfigMap cnat-environment data.LOG_LEVEL": "debug", checksum: anything},
		"environment.CONCURRENCY=4":                   {"ConfigMap cnat-environment data.CONCURRENCY": "4", checksum: anything},
		"resources.limits.memory=1Gi":                 {container + "resources.limits.memory": "1Gi"},
		"networkPolicy.apiServerPorts={16443}": {
			"NetworkPolicy cnat-manager spec.egress.0.ports.0.port": int64(16443),
			"NetworkPolicy cnat-manager spec.egress.0.ports.1.port": nil, "NetworkPolicy cnat-manager spec.egress.0.ports.1.protocol": nil,
			"NetworkPolicy cnat-manager spec.egress.0.ports.2.port": nil, "NetworkPolicy cnat-manager spec.egress.0.ports.2.protocol": nil,
		},
		"networkPolicy.metricsFrom.metrics=allowed": {"NetworkPolicy cnat-manager spec.ingress.0.from.0.namespaceSelector.matchLabels.metrics": "allowed"},
	} {
		t.Run(value, func(t *testing.T) {
			changes := difference(before, fields(render(t, value)))
			if changes[checksum] != nil {
				changes[checksum] = anything
			}
			assert.Equal(t, want, changes)
		})
	}

	t.Run("runbooks", func(t *testing.T) {
		monitored := []string{"metrics.serviceMonitor=true", "metrics.certSecret=cnat-metrics-cert"}
		const rules = "PrometheusRule cnat-manager spec.groups.0.rules.0.annotations."
		want := map[string]any{rules + "runbook_url": "https://wiki.example/books/CnatManagerDown.md", rules + "runbook": nil}
		changes := difference(fields(render(t, monitored...)), fields(render(t, append(monitored, "runbooks=https://wiki.example/books")...)))
		for path, value := range want {
			require.Contains(t, changes, path)
			assert.Equal(t, value, changes[path])
		}
		for path := range changes {
			assert.Contains(t, path, ".annotations.runbook")
		}
	})
	t.Run("networkPolicy.enabled=false", func(t *testing.T) {
		for _, o := range render(t, "networkPolicy.enabled=false") {
			assert.NotEqual(t, "NetworkPolicy", o.GetKind())
		}
	})
}

// YAML reads no as false where it is not quoted.
func TestANamespaceMayBeCalledNo(t *testing.T) {
	rendered := fields(render(t, "namespaces={no}", "traces.endpoint=http://collector.no:4318", "traces.namespace=no"))
	for _, path := range []string{
		"Role cnat-manager metadata.namespace", "RoleBinding cnat-manager metadata.namespace", "ConfigMap cnat-environment data.NAMESPACES",
		"NetworkPolicy cnat-manager spec.egress.1.to.0.namespaceSelector.matchLabels.kubernetes.io/metadata.name",
	} {
		assert.Equal(t, "no", rendered[path], path)
	}
}

// All that the chart makes is in the namespace of the release, the subjects of bindings too, and so are its alerts.
func TestTheNamespaceOfTheRelease(t *testing.T) {
	for _, namespace := range []string{"harbour", "no", "1234"} {
		rendered := fields(renderIn(t, namespace, "replicas=2", "metrics.serviceMonitor=true", "metrics.certSecret=cnat-metrics-cert"))
		for path, value := range rendered {
			if strings.HasSuffix(path, ".namespace") && !strings.HasPrefix(path, "CustomResourceDefinition ") {
				assert.Equal(t, namespace, value, path)
			}
			assert.NotContains(t, fmt.Sprint(value), "cnat-system", path)
		}
		const down = "PrometheusRule cnat-manager spec.groups.0.rules.0."
		assert.Equal(t, `absent(up{job="cnat-manager", namespace="`+namespace+`"} == 1)`, rendered[down+"expr"])
		assert.Equal(t, namespace, rendered[down+"labels.namespace"])
	}
}

// fields has each field of the objects, by its path.
func fields(all objects) map[string]any {
	found := map[string]any{}
	var walk func(string, any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, value := range value {
				walk(path+"."+key, value)
			}
		case []any:
			for i, value := range value {
				walk(fmt.Sprintf("%s.%d", path, i), value)
			}
		default:
			found[path] = value
		}
	}
	for _, o := range all {
		for key, value := range o.Object {
			walk(fmt.Sprintf("%s %s %s", o.GetKind(), o.GetName(), key), value)
		}
	}
	return found
}

// difference has the fields that are not the same before and after: what they are after, or nil.
func difference(before, after map[string]any) map[string]any {
	changes := maps.Clone(after)
	for path, value := range before {
		if after[path] == value {
			delete(changes, path)
		} else {
			changes[path] = after[path]
		}
	}
	return changes
}

func TestTheChartRefusesWrongValues(t *testing.T) {
	for value, want := range map[string]string{
		"replicas=0":                  "at '/replicas': minimum: got 0, want 1",
		"replica=2":                   "additional properties 'replica' not allowed",
		"image.repository=cnat:v1":    "at '/image/repository': 'cnat:v1' does not match pattern",
		"image.repository=a:5000/b:1": "at '/image/repository': 'a:5000/b:1' does not match pattern",
		"region=a b":                  "at '/region': 'a b' does not match pattern",
		"image.digest=sha256:0":       "at '/image/digest': 'sha256:0' does not match pattern",
		"namespaces={Team}":           "at '/namespaces/0': 'Team' does not match pattern",
		"namespaces={a,a}":            "at '/namespaces': items at 0 and 1 are equal",
		"environment.REGION=coast":    "invalid propertyName 'REGION'",
		"environment.log-level=debug": "invalid propertyName 'log-level'",
		"traces.endpoint=collector":   "at '/traces/endpoint': 'collector' does not match pattern",
		"traces.endpoint=https://c":   "at '/traces/endpoint': 'https://c' does not match pattern",
		"runbooks=http://wiki":        "at '/runbooks': 'http://wiki' does not match pattern",
		"metrics.serviceMonitor=true": "at '/metrics/certSecret': minLength: got 0, want 1",
	} {
		_, err := helm(t, "template", "cnat", chart, "--set="+value)
		require.ErrorContains(t, err, want, value)
	}
	_, err := helm(t, "template", "cnat", chart, "--kube-version=1.31.0")
	require.ErrorContains(t, err, "chart requires kubeVersion: >=1.32.0-0 which is incompatible with Kubernetes v1.31.0")
}
