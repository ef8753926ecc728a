package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/hacking-a-controller/lab/internal/image"
	"example.com/hacking-a-controller/lab/internal/shim"
)

// serviceAccountDir is where every pod finds its credentials.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// useHostFiles prepares a container that sees the host's files: LAB_ROOT leads
// to what would be in its own root directory, and KUBECONFIG to the API server.
func (s *Service) useHostFiles(c *container, spec *shim.Spec, rootfs string, img image.Image) error {
	env := environment(spec.Env)
	env.set("LAB_ROOT", rootfs)
	cwd, err := shim.Resolve(rootfs, spec.Cwd) // before links to volumes lead out of it
	if err != nil {
		return err
	}
	if err := linkVolumes(rootfs, spec.Mounts); err != nil {
		return err
	}
	if err := s.writeKubeconfig(c, spec.Mounts, &env); err != nil {
		return err
	}
	if img.Builtin {
		spec.Env = env
		return nil
	}
	// The image's own programs come first.
	var path []string
	for _, dir := range filepath.SplitList(env.get("PATH")) {
		path = append(path, filepath.Join(rootfs, dir))
	}
	env.set("PATH", strings.Join(append(path, defaultPath), ":"))
	if program := filepath.Join(rootfs, spec.Args[0]); filepath.IsAbs(spec.Args[0]) {
		if _, err := os.Stat(program); err == nil {
			spec.Args[0] = program
		}
	}
	spec.Cwd = filepath.Join(rootfs, cwd)
	spec.Env = env
	return os.MkdirAll(spec.Cwd, 0o755)
}

func (e environment) get(name string) string {
	for _, pair := range e {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// linkVolumes makes each volume reachable below rootfs. A volume within another
// one gets no link: it would be a change to the outer one.
//
// The links of an image lead to places within rootfs, as they would in a root
// directory of its own: /var/run may be a link to /run. They are followed before
// the first volume is linked, since the links to volumes lead out of rootfs.
func linkVolumes(rootfs string, mounts []shim.Mount) error {
	root, err := os.OpenRoot(rootfs)
	if err != nil {
		return err
	}
	defer root.Close()
	byDepth := slices.Clone(mounts)
	for i, m := range byDepth {
		resolved, err := shim.Resolve(rootfs, m.Target)
		if err != nil {
			return fmt.Errorf("linking the volume for %s: %w", m.Target, err)
		}
		byDepth[i].Target = strings.TrimPrefix(resolved, "/")
	}
	slices.SortStableFunc(byDepth, func(a, b shim.Mount) int { return len(a.Target) - len(b.Target) })
	for i, m := range byDepth {
		inner := slices.ContainsFunc(byDepth[:i], func(outer shim.Mount) bool {
			return strings.HasPrefix(m.Target, outer.Target+"/")
		})
		if inner {
			continue
		}
		if err := replaceByLink(root, m.Target, m.Source); err != nil {
			return fmt.Errorf("linking the volume for /%s: %w", m.Target, err)
		}
	}
	return nil
}

// replaceByLink puts a link where the image may have a directory of its own.
func replaceByLink(root *os.Root, path, source string) error {
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(path); err != nil {
		return err
	}
	return root.Symlink(source, path)
}

// writeKubeconfig stands in for the in-cluster configuration, which reads the
// service account from a fixed path.
func (s *Service) writeKubeconfig(c *container, mounts []shim.Mount, env *environment) error {
	i := slices.IndexFunc(mounts, func(m shim.Mount) bool { return filepath.Clean(m.Target) == serviceAccountDir })
	if i < 0 {
		return nil
	}
	namespace, err := os.ReadFile(filepath.Join(mounts[i].Source, "namespace"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	path := filepath.Join(c.dir, "kubeconfig")
	content := fmt.Sprintf(kubeconfig, "https://"+s.options.APIServer, s.options.CAFile,
		filepath.Join(mounts[i].Source, "token"), strings.TrimSpace(string(namespace)))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	env.set("KUBECONFIG", path)
	return nil
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster: {server: %q, certificate-authority: %q}
users:
- name: service-account
  user: {tokenFile: %q}
contexts:
- name: lab
  context: {cluster: lab, user: service-account, namespace: %q}
`
