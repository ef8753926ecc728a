package staticpod

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/lab/internal/layout"
)

// maxManifest is how much of a file the kubelet reads.
const maxManifest = 10 << 20

// File is a file that the kubelet takes for a manifest: each in the folder whose name does not
// begin with a dot, whatever it ends with. An editor's backup (kube-scheduler.yaml~) is one, too.
type File struct {
	// Name is that of the file.
	Name string
	// Pod is what it describes, or nil if that isn't a pod.
	Pod *corev1.Pod
	// NotRun says why the kubelet doesn't run it. It is empty for a file that the kubelet runs.
	NotRun string
}

// Key is the name of the pod, NAMESPACE/NAME, and "-" if there is none.
func (f File) Key() string {
	switch {
	case f.Pod == nil:
		return "-"
	case f.Pod.Namespace == "":
		return corev1.NamespaceDefault + "/" + f.Pod.Name
	}
	return f.Pod.Namespace + "/" + f.Pod.Name
}

// Files reads the folder as the kubelet does. Of several files with the same pod, the kubelet
// runs the last one by name.
func Files(l layout.Layout) (files []File, err error) {
	entries, err := os.ReadDir(l.StaticPods()) // by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the static pods: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		f := File{Name: entry.Name()}
		if f.Pod, err = parse(filepath.Join(l.StaticPods(), f.Name)); err != nil {
			f.NotRun = err.Error()
		}
		files = append(files, f)
	}
	last := map[string]string{}
	for i, f := range slices.Backward(files) {
		if other := last[f.Key()]; other != "" {
			files[i].NotRun = fmt.Sprintf("%s has the same pod, and is the last one by name (move one of the two elsewhere, or put a dot before its name)", other)
		} else if f.Pod != nil {
			last[f.Key()] = f.Name
		}
	}
	return files, nil
}

// parse reads a manifest. The kubelet checks more of it than this, and logs what it refuses.
func parse(path string) (*corev1.Pod, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > maxManifest:
		return nil, fmt.Errorf("it is no pod: it is longer than %d bytes", maxManifest)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	if err := yaml.Unmarshal(content, pod); err != nil {
		return nil, fmt.Errorf("it is no pod: %w", err)
	}
	if pod.APIVersion != "v1" || pod.Kind != "Pod" || pod.Name == "" {
		return nil, fmt.Errorf("it is no pod: its apiVersion is %q, its kind %q, its name %q", pod.APIVersion, pod.Kind, pod.Name)
	}
	return pod, nil
}

// fileOf returns the file that the kubelet runs as the pod of a component.
func fileOf(files []File, name string) (File, bool) {
	i := slices.IndexFunc(files, func(f File) bool { return f.NotRun == "" && f.Key() == Namespace+"/"+name })
	if i < 0 {
		return File{}, false
	}
	return files[i], true
}
