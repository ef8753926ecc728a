package exercise

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// A package that starts an API server when somebody asks for one, as those of the stages do.
const testcluster = `package testcluster

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var Timeout = 1

type Cluster struct{ *envtest.Environment }

func Start(t *testing.T) *Cluster { return start() }

func start() *Cluster { return &Cluster{&envtest.Environment{}} }

func (c *Cluster) Restart() { c.Environment = &envtest.Environment{} }

func Main(m *testing.M) { m.Run() }
`

func TestWhichExercisesNeedAnAPIServer(t *testing.T) {
	for name, test := range map[string]struct {
		code string // of the package of the test, with its tests
		want bool
	}{
		"it calculates":                     {`func TestIt(t *testing.T) {}`, false},
		"it starts one":                     {`func TestIt(t *testing.T) { testcluster.Start(t) }`, true},
		"a function that it calls does":     {`func TestIt(t *testing.T) { env(t) }; func env(t *testing.T) { func() { testcluster.Start(t) }() }`, true},
		"a function that it passes on does": {`func TestIt(t *testing.T) { t.Run("x", sub) }; func sub(t *testing.T) { testcluster.Start(t) }`, true},
		"one in a table does":               {`func TestIt(t *testing.T) { cases[0](t) }; var cases = []func(*testing.T){sub}; func sub(t *testing.T) { testcluster.Start(t) }`, true},
		"a method does":                     {`func TestIt(t *testing.T) { env{}.start(t) }; type env struct{}; func (env) start(t *testing.T) { testcluster.Start(t) }`, true},
		"a method of another package does":  {`func TestIt(t *testing.T) { var c testcluster.Cluster; c.Restart() }`, true},
		"it needs the programs":             {`func TestIt(t *testing.T) { os.Getenv("KUBEBUILDER_ASSETS") }`, true},
		"a script of it does":               {`func TestIt(t *testing.T) { exec.Command("sh", "-c", "exec $KUBEBUILDER_ASSETS/kubectl") }`, true},
		"another test does":                 {`func TestIt(t *testing.T) {}; func TestOther(t *testing.T) { testcluster.Start(t) }`, false},
		"one with a longer name does":       {`func TestIt(t *testing.T) {}; func TestItself(t *testing.T) { testcluster.Start(t) }`, false},
		"all begin with one":                {`func TestIt(t *testing.T) {}; func TestMain(m *testing.M) { testcluster.Start(nil) }`, true},
		"all could have one":                {`func TestIt(t *testing.T) {}; func TestMain(m *testing.M) { testcluster.Main(m) }`, false},
		"it is set up before":               {`func TestIt(t *testing.T) {}; func init() { testcluster.Start(nil) }`, true},
		"it takes only a time from there":   {`func TestIt(t *testing.T) { _ = testcluster.Timeout }`, false},
		"it calls itself":                   {`func TestIt(t *testing.T) { TestIt(t) }`, false},
		"it does not compile":               {`func TestIt(t *testing.T) { testcluster.Start(`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := exercisetest.New(t)
			repositorytest.Write(t, r.Path("01-sums", "internal", "testcluster", "cluster.go"), testcluster)
			repositorytest.Write(t, r.Path("01-sums", "sum", "it_test.go"),
				"package sum\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"example.com/sums/internal/testcluster\"\n)\n\n"+test.code+"\n")
			e := Exercise{Stage: stage, Name: "it", Judge: Judge{Tests: []Test{{Package: "./sum", Test: "TestIt/a_case"}}}}
			needing, err := NeedAPIServer(r, e)
			require.NoError(t, err)
			assert.Equal(t, test.want, len(needing) == 1)
		})
	}
}

// A stage is compiled with packages of a module beside it.
func TestAnAPIServerMayComeFromAModuleBesideTheStage(t *testing.T) {
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path("base", "go.mod"), "module example.com/base\n")
	repositorytest.Write(t, r.Path("base", "testcluster", "cluster.go"), testcluster)
	repositorytest.Write(t, r.Path("01-sums", "go.mod"), "module example.com/sums\n\ngo 1.26.0\n\nreplace example.com/base => ../base\n")
	repositorytest.Write(t, r.Path("01-sums", "sum", "it_test.go"),
		"package sum\n\nimport (\n\t\"testing\"\n\n\tcluster \"example.com/base/testcluster\"\n)\n\nfunc TestIt(t *testing.T) { cluster.Start(t) }\n")
	it := Exercise{Stage: stage, Name: "it", Judge: Judge{Tests: []Test{{Package: "./sum", Test: "TestIt"}}}}
	sum := Exercise{Stage: stage, Name: "sum", Judge: Judge{Tests: []Test{{Package: "./sum", Test: "TestSum"}}}}
	needing, err := NeedAPIServer(r, sum, it)
	require.NoError(t, err)
	assert.Equal(t, []Exercise{it}, needing)

	it.Judge.Module = "../none"
	_, err = NeedAPIServer(r, it)
	require.ErrorContains(t, err, "finding out whether 1-it needs an API server: ")
}
