package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/hacking-a-controller/05-crd-operator/postgres/image"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/operator"
	"example.com/hacking-a-controller/testcluster"
)

// lab is a cluster of one node that knows PostgresClusters and has the image of their members.
type lab struct {
	home   string // the folder of all that it has
	assets string // the folder of its programs
	image  string
	client client.WithWatch // the administrator's
}

// shared is the lab of all tests. To start one and to make the image takes longer than most
// tests.
var shared struct {
	once sync.Once
	lab  *lab
	err  error
}

func sharedLab(t testing.TB) *lab {
	t.Helper()
	postgreSQL := testpostgres.Find(t)
	for _, read := range []string{"../cmd/agent/main.go", "../config/rbac/role.yaml"} { // by programs: for Go's test cache
		_, err := os.ReadFile(read)
		require.NoError(t, err)
	}
	testcluster.ReadCRDs(t, "../config/crd")
	shared.once.Do(func() { shared.lab, shared.err = startLab(postgreSQL) })
	require.NoError(t, shared.err)
	return shared.lab
}

func startLab(postgreSQL image.PostgreSQL) (*lab, error) {
	log.SetLogger(klog.Background()) // controller-runtime's
	l := &lab{assets: os.Getenv("KUBEBUILDER_ASSETS")}
	_ = os.Getenv("LAB_INPUTS") // Go's test cache sees that it is read: it holds a hash of the lab
	if _, err := os.Stat(filepath.Join(l.assets, "lab")); err != nil {
		return nil, fmt.Errorf("these tests need the lab: run `make lab`, then `make test-5-postgres`, at the root of the repository: %w", err)
	}
	var err error
	if l.home, err = os.MkdirTemp("", "postgres-"); err != nil {
		return nil, err
	}
	if err := l.start(postgreSQL); err != nil {
		return nil, errors.Join(err, l.end()) // a start that fails half-way has started half
	}
	return l, nil
}

func (l *lab) start(postgreSQL image.PostgreSQL) error {
	archive := filepath.Join(l.home, "postgres.tar")
	var g errgroup.Group
	g.Go(func() error {
		made, err := image.Make(context.Background(), image.Options{PostgreSQL: postgreSQL, Agent: "../cmd/agent", Output: archive})
		l.image = made.Name
		return err
	})
	g.Go(func() error { return l.run("lab", "up") })
	if err := g.Wait(); err != nil {
		return err
	}
	for _, command := range [][]string{
		{"lab", "load", archive},
		{"kubectl", "apply", "-f", "../config/crd", "-f", "../config/rbac"},
		{"kubectl", "wait", "--for=condition=Established", "crd", "--all"},
	} {
		if err := l.run(command[0], command[1:]...); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1 // and no timeout, which would end a watch, too
	scheme := runtime.NewScheme()
	if err := operator.AddToScheme(scheme); err != nil {
		return err
	}
	l.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return err
}

// end ends the lab, and leaves nothing.
func (l *lab) end() error {
	return errors.Join(l.run("lab", "reset"), os.RemoveAll(l.home))
}

func (l *lab) dir() string        { return filepath.Join(l.home, "lab") }
func (l *lab) kubeconfig() string { return filepath.Join(l.dir(), "kubeconfig") }

// run runs a program of the lab.
func (l *lab) run(program string, args ...string) error {
	_, err := l.output(program, args...)
	return err
}

func (l *lab) output(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), testcluster.TestTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(l.assets, program), args...)
	c.Env = append(os.Environ(), "LAB_DIR="+l.dir(), "KUBECONFIG="+l.kubeconfig())
	output, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %v: %w: %s", program, args, err, output)
	}
	return string(output), err
}

// component is a part of Kubernetes, as the lab's supervisor sees it.
type component struct {
	PID      int `json:"pid"`
	Restarts int `json:"restarts"`
}

func (l *lab) component(name string) (component, error) {
	content, err := os.ReadFile(filepath.Join(l.dir(), "state.json"))
	var state struct {
		Components map[string]component `json:"components"`
	}
	if err == nil {
		err = json.Unmarshal(content, &state)
	}
	return state.Components[name], err
}

// killComponent kills a part of Kubernetes, and returns when the supervisor has started it again.
func (l *lab) killComponent(t testing.TB, name string) {
	t.Helper()
	before, err := l.component(name)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	eventually(t, name+" is started again", func() error {
		now, err := l.component(name)
		if err == nil && (now.PID == 0 || now.Restarts == before.Restarts) {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})
}
