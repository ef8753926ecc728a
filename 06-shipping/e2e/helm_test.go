package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
	"example.com/hacking-a-controller/testcluster"
)

const (
	chart    = "../packaging/chart"
	tooNewer = "v0.8.0"
	atCRD    = "ats.cnat.programming-kubernetes.info"
)

// release is the chart in a lab of its own, and Helm.
type release struct {
	*lab
	program  string
	charts   string // a folder of packed charts
	registry string // where others get them
}

// TestHelm installs the chart, upgrades it while Ats are due, rolls it back, and uninstalls it.
func TestHelm(t *testing.T) {
	l := startLab(t)
	r := &release{lab: l, program: testprogram.Path(t, "HELM"), charts: t.TempDir(), registry: l.startRegistry()}
	r.load(older)
	r.load(newer)
	before := r.clusterScoped()
	r.installChart()
	o := r.startLoad(t, "upgraded", 1)
	o.atLeast(2)
	r.upgradeChart()
	o.atLeast(4)
	r.rollBackChart()
	o.finish()
	r.uninstallChart()
	assert.Equal(t, before, r.clusterScoped())
}

func (r *release) installChart() {
	r.pack(older, chart)
	// Pod Security is set for the namespace, and Helm would make one without.
	r.kubectl("apply", "-f", "../config/manager/namespace.yaml")
	r.helm("install", "cnat", r.packed(older), "--set=region=us-east-2", "--wait", timeout)
	r.is("deployed", "cnat-0.6.0", older, 1)
	assert.Contains(r.t, r.kubectl("logs", "deployment/"+manager, "-n", system), `"region":"us-east-2"`)
	r.kubectl("apply", "-f", "../config/metrics-reader/account.yaml")
	token := strings.TrimSpace(r.kubectl("create", "token", "cnat-metrics-reader", "-n", system))
	require.EventuallyWithT(r.t, func(c *assert.CollectT) {
		assert.Contains(c, operatorMetrics(r.scrape(c, r.leaderPod().Status.PodIP, token)),
			`cnat_manager_info{region="us-east-2",revision="tested",version="`+older+`"} 1`)
	}, testcluster.TestTimeout, pause)
	r.kubectl("delete", "-f", "../config/metrics-reader/account.yaml")
}

// upgradeChart takes a new version from the registry, which changes a CRD, and then one that
// is too far away.
func (r *release) upgradeChart() {
	r.pack(newer, r.chartWithOtherCRD())
	r.pack(tooNewer, chart)
	r.helm("push", r.packed(newer), r.registry, "--plain-http")
	r.helm("upgrade", "cnat", r.registry+"/cnat", "--version="+newer[1:], "--plain-http", "--reuse-values", "--wait", timeout)
	r.is("deployed", "cnat-0.6.1", newer, 2)
	r.rolledOut(newer)
	assert.Contains(r.t, r.kubectl("logs", "deployment/"+manager, "-n", system), `"region":"us-east-2"`)

	assert.Equal(r.t, "Schedule", r.firstColumn(), "Helm upgrades no CRD")
	crds := r.helm("show", "crds", r.packed(newer))
	output, err := r.lab.run([]byte(crds), "kubectl", "apply", "--server-side", "--force-conflicts", "-f", "-")
	require.NoError(r.t, err, output)
	assert.Equal(r.t, "When", r.firstColumn())

	output, err = r.run("upgrade", "cnat", r.packed(tooNewer))
	require.Error(r.t, err)
	assert.Contains(r.t, output, "v0.6.1 is installed, and v0.8.0 is more than one minor version away: install the versions between them first, one after the other")
	r.is("deployed", "cnat-0.6.1", newer, 2)
}

func (r *release) rollBackChart() {
	r.helm("rollback", "cnat", "1", "--wait", timeout)
	r.is("deployed", "cnat-0.6.0", older, 3)
	r.rolledOut(older)
	assert.Equal(r.t, "When", r.firstColumn(), "the old version reads what the new one has written, so its CRDs may stay")
}

// uninstallChart does it in the order of NOTES.txt. The CRDs stay, and with them what users
// have made, until somebody deletes them.
func (r *release) uninstallChart() {
	r.kubectl("delete", "ats", "--all", "--all-namespaces", "--cascade=foreground", timeout)
	r.kubectl("wait", "--for=delete", "namespace/upgraded", timeout)
	r.helm("uninstall", "cnat", "--wait", timeout)
	assert.Equal(r.t, "[]\n", r.helm("list", "--output=json"))
	r.kubectl("get", "crd", atCRD)
	r.kubectl("delete", "-f", chart+"/crds")
	r.kubectl("delete", "namespace", system, timeout)
}

// is asserts what `helm list` prints.
func (r *release) is(status, chart, version string, revision int) {
	r.t.Helper()
	var listed []map[string]string
	require.NoError(r.t, json.Unmarshal([]byte(r.helm("list", "--output=json")), &listed))
	require.Len(r.t, listed, 1)
	assert.Subset(r.t, listed[0], map[string]string{"name": "cnat", "namespace": system, "status": status, "chart": chart, "app_version": version})
	assert.Equal(r.t, strconv.Itoa(revision), listed[0]["revision"])
}

func (r *release) firstColumn() string {
	return r.kubectl("get", "crd", atCRD, "-o", "jsonpath={.spec.versions[0].additionalPrinterColumns[0].name}")
}

// pack packs a chart as a version of it.
func (r *release) pack(version, chart string) {
	r.t.Helper()
	testprogram.ReadBySomebodyElse(r.t, chart)
	r.helm("package", chart, "--version="+version[1:], "--app-version="+version, "--destination="+r.charts)
}

func (r *release) packed(version string) string {
	return filepath.Join(r.charts, "cnat-"+version[1:]+".tgz")
}

// chartWithOtherCRD is a copy in which a column of kubectl get has another name.
func (r *release) chartWithOtherCRD() string {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), "cnat")
	require.NoError(r.t, os.CopyFS(dir, os.DirFS(chart)))
	path := filepath.Join(dir, "crds", "cnat.programming-kubernetes.info_ats.yaml")
	crd, err := os.ReadFile(path)
	require.NoError(r.t, err)
	require.Contains(r.t, string(crd), "name: Schedule")
	require.NoError(r.t, os.WriteFile(path, []byte(strings.Replace(string(crd), "name: Schedule", "name: When", 1)), 0o600))
	return dir
}

// startRegistry starts the registry of ../tools, and returns the address of its charts. It ends
// with the test.
func (l *lab) startRegistry() string {
	l.t.Helper()
	c := exec.CommandContext(l.t.Context(), filepath.Join(l.tools, "registry"), "--address=127.0.0.1:0")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	stdout, err := c.StdoutPipe()
	require.NoError(l.t, err)
	require.NoError(l.t, c.Start())
	l.t.Cleanup(func() { _ = c.Wait() }) // the context of the test has ended it
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(l.t, err)
	_, address, _ := strings.Cut(strings.TrimSpace(line), " listens on ")
	return "oci://" + address + "/charts"
}

// helm runs it, and returns what it prints.
func (r *release) helm(args ...string) string {
	r.t.Helper()
	output, err := r.run(args...)
	require.NoError(r.t, err, "helm %v: %s", args, output)
	return output
}

func (r *release) run(args ...string) (string, error) {
	return r.lab.run(nil, r.program, append(args, "--namespace="+system)...)
}
