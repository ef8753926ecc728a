// Package layout says where the lab keeps its files. Everything the lab
// writes lies under one folder, by names that are listed here, so that removing
// these removes the lab and nothing else.
package layout

import (
	"fmt"
	"os"
	"path/filepath"
)

// EnvDir is the environment variable that moves the lab's folder.
const EnvDir = "LAB_DIR"

// Layout names the files of one lab.
type Layout struct {
	root string
}

// New returns the layout of the lab in dir. An empty dir means $LAB_DIR or, if
// that is empty too, the folder .lab of the clone that the running binary was
// built in: the binary is CLONE/lab/bin/lab, so the folder is CLONE/.lab.
func New(dir string) (Layout, error) {
	if dir == "" {
		dir = os.Getenv(EnvDir)
	}
	if dir == "" {
		exe, err := Executable()
		if err != nil {
			return Layout{}, err
		}
		dir = filepath.Join(filepath.Dir(exe), "..", "..", ".lab")
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return Layout{}, fmt.Errorf("finding the lab's folder: %w", err)
	}
	return Layout{root: root}, nil
}

// Executable returns the path of the running binary, symbolic links resolved:
// bin/kubectl and bin/etcd are links to bin/lab.
func Executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the running binary: %w", err)
	}
	exe, err = filepath.EvalSymlinks(exe)
	if err != nil {
		return "", fmt.Errorf("finding the running binary: %w", err)
	}
	return exe, nil
}

// Root is the folder itself, an absolute path.
func (l Layout) Root() string { return l.root }

// Join returns a path below the folder.
func (l Layout) Join(elem ...string) string {
	return filepath.Join(append([]string{l.root}, elem...)...)
}

// AdminKubeconfig is the kubeconfig that people use.
func (l Layout) AdminKubeconfig() string { return l.Join("kubeconfig") }

// Kubeconfig is the kubeconfig of one component.
func (l Layout) Kubeconfig(component string) string {
	return l.Join("pki", component+".kubeconfig")
}

// PKI holds certificates, keys, and the kubeconfigs of components.
func (l Layout) PKI() string { return l.Join("pki") }

// Cert and Key are the two halves of one key pair.
func (l Layout) Cert(name string) string { return l.Join("pki", name+".crt") }

// Key is the private half of the key pair that Cert names.
func (l Layout) Key(name string) string { return l.Join("pki", name+".key") }

// Log is the file that a component's output is appended to.
func (l Layout) Log(component string) string { return l.Join("logs", component+".log") }

// Settings remembers what was chosen when the lab was first started.
func (l Layout) Settings() string { return l.Join("settings.json") }

// AuditPolicy says what the API server notes in its audit log.
func (l Layout) AuditPolicy() string { return l.Join("audit-policy.yaml") }

// State is written by the supervisor for `lab status` to read.
func (l Layout) State() string { return l.Join("state.json") }

// EtcdData holds every object of the cluster.
func (l Layout) EtcdData() string { return l.Join("etcd") }

// Kubelet is the kubelet's root directory: pods and their volumes.
func (l Layout) Kubelet() string { return l.Join("kubelet") }

// Runtime holds the state of sandboxes and containers.
func (l Layout) Runtime() string { return l.Join("runtime") }

// FaultsSocket is where the proxy of package faults takes commands.
func (l Layout) FaultsSocket() string { return l.Join("faults.sock") }

// Images holds the images that `lab load` unpacked.
func (l Layout) Images() string { return l.Join("images") }

// Volumes holds the PersistentVolumes, a folder for each.
func (l Layout) Volumes() string { return l.Join("volumes") }

// StaticPods is the folder whose manifests the kubelet runs by itself.
func (l Layout) StaticPods() string { return l.Join("static-pods") }

// PodLogs holds the logs of containers, as the kubelet lays them out.
func (l Layout) PodLogs() string { return l.Join("logs", "pods") }

// SupervisorLock is held by the supervisor and by nobody else.
func (l Layout) SupervisorLock() string { return l.Join("supervisor.lock") }

// AliveLock is held by every process of the lab: it is free only when the last
// one has ended.
func (l Layout) AliveLock() string { return l.Join("alive.lock") }

// CommandLock lets up, down and reset take turns.
func (l Layout) CommandLock() string { return l.Join("command.lock") }

// Mark makes the folder itself, and the marker in it, before anything else. It is closed to other
// users, because keys and the data of pods lie in it.
func (l Layout) Mark() error {
	exists, err := l.Exists()
	if err != nil || exists {
		return err
	}
	if err := l.makeFolders(l.root); err != nil {
		return err
	}
	return l.writeMarker()
}

// Create makes all folders. Only who holds the CommandLock may call it: a reset deletes them.
func (l Layout) Create() error {
	if err := l.Mark(); err != nil {
		return err
	}
	return l.makeFolders(l.PKI(), l.Join("logs"), l.PodLogs(), l.Kubelet(), l.Runtime(), l.Images(), l.Volumes(), l.StaticPods())
}

func (l Layout) makeFolders(paths ...string) error {
	for _, path := range paths {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("making the lab's folder (choose another with --dir or %s): %w", EnvDir, err)
		}
		if err := checkOwner(path, os.Geteuid()); err != nil {
			return err
		}
	}
	return nil
}
