package load

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
)

const (
	nodes       = 4
	podsPerNode = "20000"
	startLimit  = 2 * time.Minute
	callLimit   = 30 * time.Second // of one request
)

// kubectlLimit is a flag: kubectl says what it waited for, and so it has to end before the lab's command is ended.
var kubectlLimit = "--timeout=" + (startLimit - 10*time.Second).String()

// stages are what KWOK does with nodes and pods.
//
//go:embed kwok.yaml
var stages []byte

// Programs are the paths of what a measurement runs.
type Programs struct {
	Lab     string // the lab's binary
	Kwok    string
	Manager string
	CRDs    string // the folder with those of the manager
}

// cluster is a lab of its own. Its nodes are simulated, and its own node gets no pods.
type cluster struct {
	programs Programs
	dir      string // of the lab; the logs of all processes are next to it
	kube     kubernetes.Interface
	ats      versioned.Interface
	kwok     *process
}

// startCluster takes some ten seconds. What it has started ends with stop, also when it returns
// an error.
func startCluster(ctx context.Context, programs Programs, progress io.Writer) (c *cluster, stop func(), err error) {
	temp, err := os.MkdirTemp("", "load")
	if err != nil {
		return nil, func() {}, err
	}
	c = &cluster{programs: programs, dir: filepath.Join(temp, "lab")}
	fmt.Fprintf(progress, "starting a lab in %s, and %d simulated nodes\n", c.dir, nodes)
	stop = func() {
		fmt.Fprintln(progress, "stopping the lab")
		if c.kwok != nil {
			c.kwok.end(syscall.SIGTERM)
		}
		if _, err := c.lab(context.WithoutCancel(ctx), "down"); err != nil {
			fmt.Fprintln(progress, err)
			return
		}
		_ = os.RemoveAll(temp)
	}
	for _, command := range [][]string{
		{"up"},
		{"kubectl", "apply", "-k", programs.CRDs},
		{"kubectl", "wait", "--for=condition=Established", "crd", "--all", kubectlLimit},
		{"kubectl", "cordon", "--selector=" + corev1.LabelHostname}, // its own node
	} {
		if _, err := c.lab(ctx, command...); err != nil {
			return c, stop, err
		}
	}
	if err := c.connect(); err != nil {
		return c, stop, err
	}
	return c, stop, c.simulateNodes(ctx)
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// environment is that of the programs which use the cluster.
func (c *cluster) environment() []string {
	return append(os.Environ(), "LAB_DIR="+c.dir, "KUBECONFIG="+c.kubeconfig())
}

func (c *cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		return err
	}
	config.QPS, config.Timeout = -1, callLimit
	if c.kube, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	c.ats, err = versioned.NewForConfig(config)
	return err
}

// simulateNodes creates nodes, and waits until KWOK keeps them.
func (c *cluster) simulateNodes(ctx context.Context) error {
	file := filepath.Join(filepath.Dir(c.dir), "kwok.yaml")
	if err := os.WriteFile(file, stages, 0o600); err != nil {
		return err
	}
	var err error
	c.kwok, err = c.start("kwok", nil, c.programs.Kwok, "--kubeconfig="+c.kubeconfig(), "--config="+file,
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=40", "--v=WARN")
	if err != nil {
		return err
	}
	for i := range nodes {
		if _, err := c.kube.CoreV1().Nodes().Create(ctx, simulatedNode(fmt.Sprintf("simulated-%d", i)), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if _, err := c.lab(ctx, "kubectl", "wait", "--for=condition=Ready", "node", "--selector=type=kwok", kubectlLimit); err != nil {
		return fmt.Errorf("waiting for the nodes that KWOK simulates: %w; its log ends with: %s", err, c.kwok.tail())
	}
	return nil
}

func simulatedNode(name string) *corev1.Node {
	room := corev1.ResourceList{"cpu": resource.MustParse("1000"), "memory": resource.MustParse("1000Gi"), "pods": resource.MustParse(podsPerNode)}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels:      map[string]string{"type": "kwok", corev1.LabelHostname: name},
		},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

// lab runs a command of the lab, and returns what it prints, which is part of its error, too.
func (c *cluster) lab(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	command := exec.CommandContext(ctx, c.programs.Lab, args...)
	command.Env = c.environment()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for this program
	output, err := command.CombinedOutput()
	output = bytes.TrimSpace(output)
	if err != nil {
		return "", fmt.Errorf("lab %s: %w: %s", args[0], err, output)
	}
	return string(output), nil
}
