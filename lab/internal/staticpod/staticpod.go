// Package staticpod writes the manifests with which the kubelet runs the scheduler and the
// controller manager: static pods, as kubeadm and kind have them. What the kubelet finds in
// its folder of manifests it runs, whether there is an API server or not. It shows such a pod
// there as a mirror pod.
package staticpod

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// Namespace is that of the pods.
const Namespace = metav1.NamespaceSystem

// Names are those of the components that may be static pods, and of their containers.
var Names = []string{settings.Scheduler, settings.ControllerManager}

// Ports are those on which they listen everywhere. One that another program has, a second lab
// for instance, is replaced by the lab's own.
var Ports = map[string]int{settings.Scheduler: 10259, settings.ControllerManager: 10257}

// The manifests are those of kubeadm. Of its flags, the controller manager lacks those for two
// controllers that serve kubeadm's own commands, and asks the API server as often as the lab's
// own one does.
//
//go:embed *.yaml
var manifests embed.FS

var templates = template.Must(template.ParseFS(manifests, "*.yaml"))

// values are what differs from lab to lab.
type values struct {
	Image, Kubeconfig, PKI string
	Port                   int
	OtherPort              bool
}

// Manifest is the file of a component's pod.
func Manifest(l layout.Layout, name string) string {
	return filepath.Join(l.StaticPods(), name+".yaml")
}

// Write writes the manifests that are not there, and leaves those that are: you may
// have changed them. It returns a sentence for each, and for each file that the kubelet won't run.
func Write(l layout.Layout, s settings.Settings) (sentences []string, err error) {
	files, err := Files(l)
	if err != nil {
		return nil, err
	}
	for _, name := range Names {
		sentence, err := ensure(l, s, files, name)
		if err != nil {
			return sentences, fmt.Errorf("writing a manifest: %w", err)
		}
		sentences = append(sentences, sentence...)
	}
	for _, f := range files {
		if f.NotRun != "" {
			sentences = append(sentences, fmt.Sprintf("warning: the kubelet does not run %s: %s", filepath.Join(l.StaticPods(), f.Name), f.NotRun))
		}
	}
	return sentences, nil
}

// ensure writes the manifest of a component, unless there is one, in whatever file.
func ensure(l layout.Layout, s settings.Settings, files []File, name string) (sentences []string, err error) {
	file := Manifest(l, name)
	f, isThere := fileOf(files, name)
	if isThere {
		file = filepath.Join(l.StaticPods(), f.Name)
	} else if _, err := os.Stat(file); err == nil {
		isThere = true // you are at work on it
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if isThere {
		return []string{name + " is the static pod in " + file + ", as it is"}, nil
	}
	v := values{Image: image.OfKubernetes(name), Kubeconfig: l.Kubeconfig(name), PKI: l.PKI(), Port: Ports[name]}
	if !free(v.Port) {
		v.Port, v.OtherPort = s.Ports[name], true
		sentences = append(sentences, fmt.Sprintf("port %d is taken by another program: %s listens on %d", Ports[name], name, v.Port))
	}
	var content bytes.Buffer
	if err := templates.ExecuteTemplate(&content, name+".yaml", v); err != nil {
		return sentences, err
	}
	return append(sentences, name+" is a static pod now: "+file), put(file, content.Bytes())
}

// put moves the manifest to its place when it is whole. The kubelet reads each file that it sees
// in the folder, and would take an unfinished one for a pod of its own.
func put(file string, content []byte) error {
	unfinished := hidden(file)
	if err := atomicfile.Write(unfinished, content); err != nil {
		return err
	}
	return os.Rename(unfinished, file)
}

// hidden is a name that the kubelet does not read: it begins with a dot.
func hidden(file string) string {
	return filepath.Join(filepath.Dir(file), "."+filepath.Base(file))
}

// SetAside takes the manifests from the kubelet, which then ends the pods: all of them, since an
// editor's backup is as good to the kubelet.
func SetAside(l layout.Layout) (sentences []string, err error) {
	files, err := Files(l)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, name := range Names {
			file := filepath.Join(l.StaticPods(), f.Name)
			if f.Key() != Namespace+"/"+name && file != Manifest(l, name) {
				continue
			}
			aside := hidden(file)
			if err := os.Rename(file, aside); err != nil {
				return sentences, fmt.Errorf("setting a manifest aside: %w", err)
			}
			sentences = append(sentences, name+" is no static pod any more; its manifest is kept as "+aside)
		}
	}
	return sentences, nil
}

// Read reads the manifest that the kubelet runs as the pod of a component.
func Read(l layout.Layout, name string) (*corev1.Pod, error) {
	files, err := Files(l)
	if err != nil {
		return nil, err
	}
	if f, ok := fileOf(files, name); ok {
		return f.Pod, nil
	}
	file := Manifest(l, name)
	for _, f := range files {
		if f.Name == filepath.Base(file) {
			return nil, fmt.Errorf("the kubelet does not run %s as %s: %s", file, name, cmp.Or(f.NotRun, "its pod is "+f.Key()))
		}
	}
	return nil, fmt.Errorf("there is no manifest %s (to write it: lab up --static-pods)", file)
}

// Probe returns the port and the URL of a manifest's liveness probe. Without one, the URL is empty.
func Probe(pod *corev1.Pod) (port int, url string) {
	for _, c := range pod.Spec.Containers {
		if c.LivenessProbe == nil || c.LivenessProbe.HTTPGet == nil {
			continue
		}
		get := c.LivenessProbe.HTTPGet
		port := get.Port.IntValue()
		for _, p := range c.Ports {
			if p.Name == get.Port.String() {
				port = int(p.ContainerPort)
			}
		}
		return port, "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + get.Path
	}
	return 0, ""
}

func free(port int) bool {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
