package v1alpha1_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/testcluster"
)

const (
	crds   = "../../../config/crd"
	sample = "../../../config/samples/at.yaml"
)

// TestAgainstARealServer tests what the API server makes of the schema. All cases share
// one server, each has an At of its own.
func TestAgainstARealServer(t *testing.T) {
	c := testcluster.Start(t)
	c.InstallCRDs(t, testcluster.ReadCRDs(t, crds)...)
	for name, test := range map[string]func(*testing.T, *testcluster.Cluster){
		"the sample of the book applies unchanged":            sampleApplies,
		"each wrong input is reported in one sentence":        wrongInputs,
		"what is right is admitted, and is a time to Go":      rightInputs,
		"once it has started, it cannot be changed":           immutable,
		"an At that an older schema admitted can have status": olderSchema,
		"status is written apart from spec":                   statusApart,
		"there is a short name":                               shortName,
		"kubectl get shows the columns":                       columns,
		"kubectl explain says what is required":               explain,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

// resource are the Ats of the default namespace, as any JSON that one likes.
func resource(c *testcluster.Cluster) dynamic.ResourceInterface {
	ats := cnat.SchemeGroupVersion.WithResource("ats")
	config := rest.CopyConfig(c.Config)
	config.WarningHandler = rest.NoWarnings{} // of Ats that an older schema admitted
	return dynamic.NewForConfigOrDie(config).Resource(ats).Namespace(metav1.NamespaceDefault)
}

var (
	strictly = metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	dry      = metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}}
)

func sampleApplies(t *testing.T, c *testcluster.Cluster) {
	content, err := os.ReadFile(sample)
	require.NoError(t, err)
	assert.Contains(t, string(content), `apiVersion: cnat.programming-kubernetes.info/v1alpha1
kind: At
metadata:
  name: example-at
spec:
  schedule: "2019-04-12T10:12:00Z"
  command: "echo YAY"
`)
	var object unstructured.Unstructured
	require.NoError(t, yaml.UnmarshalStrict(content, &object.Object))
	created, err := resource(c).Create(t.Context(), &object, strictly)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"schedule": "2019-04-12T10:12:00Z", "command": "echo YAY"}, created.Object["spec"])
	assert.NotContains(t, created.Object, "status")
}

// newAt is an At of that spec, which is YAML.
func newAt(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(spec), &object))
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": cnat.SchemeGroupVersion.String(), "kind": "At",
		"metadata": map[string]any{"name": name}, "spec": object,
	}}
}

func scheduled(schedule string) string { return `{schedule: "` + schedule + `", command: echo YAY}` }

const (
	noSchedule = `spec.schedule: Required value: say when to run the command, such as 2019-04-12T10:12:00Z`
	noCommand  = `spec.command: Required value: say what to run: a line for the shell, such as echo YAY`
	noTime     = `: the schedule is not a time as in RFC 3339: date, T, time and zone, such as 2019-04-12T10:12:00Z`
)

func wrongInputs(t *testing.T, c *testcluster.Cluster) {
	const when = `schedule: "2019-04-12T10:12:00Z"`
	type input struct {
		spec, want string
		right      string // looks alike, and is admitted
	}
	inputs := map[string]input{
		"no schedule":       {`command: echo YAY`, noSchedule, ""},
		"schedule null":     {`{schedule: null, command: echo YAY}`, noSchedule, ""},
		"an empty schedule": {scheduled(""), noSchedule, ""},
		"no command":        {when, noCommand, ""},
		"an empty command":  {`{command: "", ` + when + `}`, noCommand, ""},
		"a NUL in the command": {`{command: "echo \0", ` + when + `}`, "spec.command: Forbidden: the command has a NUL, which no argument of a program can have; let printf make it when the command runs",
			`{command: "printf '\\0' | wc -c", ` + when + `}`},
		"neither": {`{}`, "[" + noSchedule + ", " + noCommand + "]", ""},
		"a deadline before time": {`{startingDeadlineSeconds: -1, command: echo YAY, ` + when + `}`, "spec.startingDeadlineSeconds: Invalid value: -1: startingDeadlineSeconds is a number of seconds, 0 or more",
			`{startingDeadlineSeconds: 0, command: echo YAY, ` + when + `}`},
		"a field that is unknown": {`{comand: echo YAY, command: echo YAY, ` + when + `}`,
			`At in version "v1alpha1" cannot be handled as a At: strict decoding error: unknown field "spec.comand"`, ""},
	}
	for name, schedule := range map[string]string{
		"words":                       "tomorrow at seven",
		"a date":                      "2019-04-12",
		"a time of day":               "10:12:00Z",
		"no zone":                     "2019-04-12T10:12:00",
		"the name of a zone":          "2019-04-12T10:12:00CEST",
		"a zone that is out of range": "2019-04-12T10:12:00+24:00",
		"minutes of a zone, too":      "2019-04-12T10:12:00+01:60",
		"a zone without a colon":      "2019-04-12T10:12:00+0200",
		"a space":                     "2019-04-12 10:12:00Z",
		"a space before it":           " 2019-04-12T10:12:00Z",
		"no seconds":                  "2019-04-12T10:12Z",
		"February 30":                 "2019-02-30T10:12:00Z",
		"February 29":                 "2019-02-29T10:12:00Z",
		"month 13":                    "2019-13-01T10:12:00Z",
		"hour 24":                     "2019-04-12T24:00:00Z",
		"minute 60":                   "2019-04-12T10:60:00Z",
		"a leap second":               "2016-12-31T23:59:60Z",
		"an hour of one digit":        "2019-04-12T7:12:00Z",
		"a year of five digits":       "12019-04-12T10:12:00Z",
		"a comma":                     "2019-04-12T10:12:00,5Z",
		"an empty fraction":           "2019-04-12T10:12:00.Z",
		"a letter for a point":        "2019-04-12T10:12:00x5Z",
		"more behind it":              "2019-04-12T10:12:00ZTea",
		"seconds since 1970":          "1555063920",
	} {
		inputs[name+" for a schedule"] = input{scheduled(schedule), `spec.schedule: Invalid value: "` + schedule + `"` + noTime, ""}
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			_, err := resource(c).Create(t.Context(), newAt(t, "wrong", in.spec), dry)
			require.Error(t, err, "the API server has accepted %s", in.spec)
			_, why, _ := strings.Cut(err.Error(), `"wrong" is invalid: `)
			if apierrors.IsBadRequest(err) {
				why = err.Error()
			}
			assert.Equal(t, in.want, why)
			if in.right != "" {
				_, err := resource(c).Create(t.Context(), newAt(t, "right", in.right), dry)
				assert.NoError(t, err, "the API server has refused what is right: %s", in.right)
			}
		})
	}

	t.Run("a name of 64 letters", func(t *testing.T) {
		_, err := resource(c).Create(t.Context(), newAt(t, strings.Repeat("x", 64), scheduled("2019-04-12T10:12:00Z")), strictly)
		assert.ErrorContains(t, err, "is invalid: metadata: Forbidden: the name of an At has at most 63 characters, because it becomes a label of the pod")
	})
	// Each é takes two bytes.
	for name, command := range map[string]string{
		"a command of 200 KiB":            strings.Repeat("x", 200<<10),
		"a command of a byte too much":    strings.Repeat("x", 128<<10),
		"128 KiB, although of 64Ki signs": strings.Repeat("é", 64<<10),
	} {
		t.Run(name, func(t *testing.T) {
			at := newAt(t, "wrong", scheduled("2019-04-12T10:12:00Z"))
			create := func(command string) error {
				at.Object["spec"].(map[string]any)["command"] = command
				_, err := resource(c).Create(t.Context(), at, dry)
				return err
			}
			err := create(command)
			require.Error(t, err, "the API server has accepted %d bytes", len(command))
			require.ErrorContains(t, err, "is invalid: spec.command: Forbidden: the command has more than 131071 bytes, and Linux takes no longer argument; put it into a script in an image or a ConfigMap")
			assert.NotContains(t, err.Error(), "not checked")
			assert.Less(t, len(err.Error()), 1<<10, "the command is not repeated")
			assert.NoError(t, create(strings.Repeat("x", 128<<10-1)), "the API server has refused 131071 bytes")
		})
	}
}

func rightInputs(t *testing.T, c *testcluster.Cluster) {
	for _, schedule := range []string{
		"2019-04-12T10:12:00Z", "2019-04-12t10:12:00z", "2019-04-12T12:12:00+02:00", "2019-04-12T12:12:00-23:59",
		"2020-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2019-04-12T10:12:00.5-09:45",
		"2019-04-12T10:12:00.1234567890123456789Z",
	} {
		_, err := resource(c).Create(t.Context(), newAt(t, "right", scheduled(schedule)), dry)
		require.NoError(t, err, schedule)
		_, err = lifecycle.Schedule(&cnat.At{Spec: cnat.AtSpec{Schedule: schedule}})
		require.NoError(t, err)
	}
	for name, at := range map[string]*unstructured.Unstructured{
		"a name of 63 letters":    newAt(t, strings.Repeat("x", 63), scheduled("2019-04-12T10:12:00Z")),
		"a schedule without \"\"": newAt(t, "right", `{schedule: 2019-04-12T10:12:00Z, command: echo YAY}`),
		"lines, tabs, a bell":     newAt(t, "right", `{schedule: 2019-04-12T10:12:00Z, command: "echo a\n\techo $$ \a"}`),
	} {
		_, err := resource(c).Create(t.Context(), at, dry)
		assert.NoError(t, err, name)
	}
}

func immutable(t *testing.T, c *testcluster.Cluster) {
	const (
		newSchedule = `{"spec":{"schedule":"2020-01-01T00:00:00Z"}}`
		newCommand  = `{"spec":{"command":"echo NAY"}}`
		noCommand   = `{"spec":{"command":null}}`
		newDeadline = `{"spec":{"startingDeadlineSeconds":9}}`
		label       = `{"metadata":{"labels":{"team":"harbour"}}}`

		startedSchedule = "spec.schedule: Forbidden: the schedule cannot be changed any more, because the command has been started; create another At"
		startedCommand  = "spec.command: Forbidden: the command cannot be changed any more, because it has been started; create another At"
	)
	for phase, refused := range map[string]map[string]string{
		"":        {newSchedule: "", newCommand: "", newDeadline: "", label: ""},
		"PENDING": {newSchedule: "", newCommand: "", newDeadline: "", label: ""},
		"RUNNING": {newSchedule: startedSchedule, newCommand: startedCommand, noCommand: startedCommand, newDeadline: "", label: ""},
		"DONE":    {newSchedule: startedSchedule, newCommand: startedCommand, noCommand: startedCommand, newDeadline: "", label: ""},
	} {
		t.Run("phase "+phase, func(t *testing.T) {
			ats := resource(c)
			name := "immutable" + strings.ToLower(phase)
			_, err := ats.Create(t.Context(), newAt(t, name, scheduled("2019-04-12T10:12:00Z")), strictly)
			require.NoError(t, err)
			if phase != "" {
				_, err = ats.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":{"phase":"`+phase+`"}}`), metav1.PatchOptions{}, "status")
				require.NoError(t, err)
			}
			for patch, want := range refused {
				_, err := ats.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				if want == "" {
					assert.NoError(t, err, patch)
				} else {
					assert.ErrorContains(t, err, want, patch)
				}
			}
		})
	}
}

// olderSchema stores Ats that no rule has judged. The operator can still write
// what is wrong with them: the server does not judge again what stays as it was.
func olderSchema(t *testing.T, c *testcluster.Cluster) {
	now, before := testcluster.ReadCRDs(t, crds), testcluster.ReadCRDs(t, crds)
	for _, crd := range before {
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		spec := root.Properties["spec"]
		root.XValidations, spec.XValidations, spec.Required = nil, nil, nil
		for name, field := range spec.Properties {
			field.XValidations, field.Default = nil, nil
			spec.Properties[name] = field
		}
		root.Properties["spec"] = spec
	}
	specs := map[string]string{
		"old-words":    `{schedule: at seven, command: echo YAY}`,
		"old-nothing":  `{}`,
		"old-deadline": `{schedule: 2019-04-12T10:12:00Z, command: echo YAY, startingDeadlineSeconds: -1}`,
	}
	c.InstallCRDs(t, before...)
	for name, spec := range specs {
		// The server takes up a changed schema a moment later.
		require.EventuallyWithT(t, func(tick *assert.CollectT) {
			_, err := resource(c).Create(t.Context(), newAt(t, name, spec), metav1.CreateOptions{})
			assert.NoError(tick, err)
		}, testcluster.TestTimeout, pause)
	}
	c.InstallCRDs(t, now...)
	require.EventuallyWithT(t, func(tick *assert.CollectT) {
		_, err := resource(c).Create(t.Context(), newAt(t, "new", `{}`), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		assert.ErrorContains(tick, err, noSchedule)
	}, testcluster.TestTimeout, pause)

	for name := range specs {
		for _, phase := range []string{"PENDING", "RUNNING", "DONE"} {
			_, err := resource(c).Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":{"phase":"`+phase+`"}}`), metav1.PatchOptions{}, "status")
			assert.NoError(t, err, "%s becomes %s", name, phase)
		}
	}
}

func statusApart(t *testing.T, c *testcluster.Cluster) {
	ats := resource(c)
	at := newAt(t, "apart", scheduled("2019-04-12T10:12:00Z"))
	at.Object["status"] = map[string]any{"phase": "DONE"}
	created, err := ats.Create(t.Context(), at, strictly)
	require.NoError(t, err)
	assert.NotContains(t, created.Object, "status", "who creates an At does not write its status")

	patch := []byte(`{"spec":{"command":"echo NAY"},"status":{"phase":"RUNNING"}}`)
	patched, err := ats.Patch(t.Context(), "apart", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	assert.Equal(t, "echo YAY", patched.Object["spec"].(map[string]any)["command"], "who writes the status does not write the spec")
	assert.EqualValues(t, 1, patched.GetGeneration(), "nor make a new generation")

	_, err = ats.Patch(t.Context(), "apart", types.MergePatchType, []byte(`{"status":{"phase":"WAITING"}}`), metav1.PatchOptions{}, "status")
	assert.ErrorContains(t, err, `supported values: "PENDING", "RUNNING", "DONE"`)
}

func shortName(t *testing.T, c *testcluster.Cluster) {
	list, err := c.Client.Discovery().ServerResourcesForGroupVersion(cnat.SchemeGroupVersion.String())
	require.NoError(t, err)
	found := map[string]metav1.APIResource{}
	for _, r := range list.APIResources {
		found[r.Name] = r
	}
	assert.Equal(t, []string{"at"}, found["ats"].ShortNames)
	assert.True(t, found["ats"].Namespaced)
	assert.Contains(t, found, "ats/status")
}

func columns(t *testing.T, c *testcluster.Cluster) {
	ats := resource(c)
	_, err := ats.Create(t.Context(), newAt(t, "columns", scheduled("2019-04-12T10:12:00Z")), strictly)
	require.NoError(t, err)
	_, err = ats.Patch(t.Context(), "columns", types.MergePatchType, []byte(`{"status":{"phase":"RUNNING"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)

	// This is how kubectl get asks.
	answer, err := c.Client.Discovery().RESTClient().Get().
		AbsPath("/apis", cnat.GroupName, "v1alpha1/namespaces/default/ats/columns").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(t.Context())
	require.NoError(t, err)
	var table metav1.Table
	require.NoError(t, json.Unmarshal(answer, &table))
	var names []string
	for _, column := range table.ColumnDefinitions {
		names = append(names, column.Name)
	}
	assert.Equal(t, []string{"Name", "Schedule", "Phase", "Age"}, names)
	require.Len(t, table.Rows, 1)
	assert.Equal(t, []any{"columns", "2019-04-12T10:12:00Z", "RUNNING"}, table.Rows[0].Cells[:3])
}

func explain(t *testing.T, c *testcluster.Cluster) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, c.KubeConfig, 0o600))
	// The server describes a changed schema a moment later.
	require.EventuallyWithT(t, func(tick *assert.CollectT) {
		kubectl := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "--kubeconfig", kubeconfig, "explain", "at.spec")
		output, err := kubectl.CombinedOutput()
		require.NoError(tick, err, "%s", output)
		for _, line := range []string{
			"  command\t<string> -required-\n    What to run: a line for sh -c, ",
			"  schedule\t<string> -required-\n    When to run the command: a time as in RFC 3339, ",
			"  startingDeadlineSeconds\t<integer>\n    How many whole seconds late ",
		} {
			assert.Contains(tick, string(output), line)
		}
	}, testcluster.TestTimeout, pause)
}
