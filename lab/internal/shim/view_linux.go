package shim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	filepath "path"
	"slices"
	"strings"
	"syscall"
)

// view is the root directory of a container as it is being built, in the mount
// namespace that this process was started in.
type view struct {
	dir   string           // of the container
	root  string           // the new root directory
	owner map[string]owner // of what is mounted where
}

// buildView makes dir/rootfs the root of the files that the container sees.
//
// It refuses to unless its namespaces are new: in those of the process that started it,
// each mount would be one of the host's.
//
// All that the container writes outside its volumes lands in dir, on disk, and
// not on a tmpfs: lab-exec builds the view once more and must find the same.
func buildView(dir string, spec *Spec) error {
	if err := requireNew(Namespaces(), os.Getenv(NamespacesEnv)); err != nil {
		return err
	}
	v := &view{dir: dir, root: filepath.Join(dir, RootDir), owner: map[string]owner{"/": ours}}
	// From here on, no mount is seen outside.
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE); err != nil {
		return err
	}
	if spec.Hostname != "" {
		if err := syscall.Sethostname([]byte(spec.Hostname)); err != nil {
			return fmt.Errorf("setting the host name: %w", err)
		}
	}
	if err := mount(v.root, v.root, "", syscall.MS_BIND); err != nil {
		return err
	}
	// The root may lie below a directory that is to appear in it.
	if err := mount("", v.root, "", syscall.MS_UNBINDABLE); err != nil {
		return err
	}
	base := v.bindSystem
	if spec.HostFiles {
		base = v.bindHost
	}
	if err := base(); err != nil {
		return err
	}
	if err := v.bindShell(spec.Shell); err != nil {
		return err
	}
	if err := v.makeDev(); err != nil {
		return err
	}
	if err := v.bindVolumes(spec.Mounts); err != nil {
		return err
	}
	if spec.ReadOnlyRoot {
		return readOnly(v.root)
	}
	return nil
}

// requireNew compares this process's namespaces with those of the process that started it.
func requireNew(ours, theirs string) error {
	own, known := strings.Fields(ours), strings.Fields(theirs)
	if len(own) != 2 || len(known) != 2 {
		return fmt.Errorf("mounting nothing: it is not known whether the namespaces are the host's (they are %q, %s is %q)", ours, NamespacesEnv, theirs)
	}
	for _, namespace := range own {
		if slices.Contains(known, namespace) {
			return fmt.Errorf("mounting nothing: the namespace %s is the host's (delete the pod: a new one gets namespaces of its own)", namespace)
		}
	}
	return nil
}

// bindHost shows each entry of the host's root directory, except for /dev and
// /tmp, which the container has to itself.
func (v *view) bindHost() error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := "/" + entry.Name()
		if path == "/dev" || path == "/tmp" {
			continue
		}
		if err := v.show(path, path, entry, host); err != nil {
			return err
		}
	}
	return v.bindOwn("tmp", "/tmp")
}

// bindShell shows another program in place of sh, which may be a link.
func (v *view) bindShell(shell string) error {
	if shell == "" {
		return nil
	}
	sh, err := Resolve(v.root, "/bin/sh")
	if err != nil {
		return err
	}
	return v.bind(shell, sh, host)
}

// bindSystem adds to the files of an image what the kernel and the host provide.
func (v *view) bindSystem() error {
	for _, path := range []string{"/proc", "/sys", "/etc/resolv.conf"} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		target, err := Resolve(v.root, path)
		if err != nil {
			return err
		}
		if err := v.bind(path, target, host); err != nil {
			return err
		}
	}
	return nil
}

// bindOwn shows a directory of the container's that everybody may write to.
func (v *view) bindOwn(name, path string) error {
	own := filepath.Join(v.dir, name)
	if err := os.MkdirAll(own, 0o777); err != nil {
		return err
	}
	if err := os.Chmod(own, 0o777|fs.ModeSticky); err != nil {
		return err
	}
	return v.bind(own, path, ours)
}

// bindVolumes mounts the volumes. The shorter path goes first: one volume may
// lie in another.
func (v *view) bindVolumes(mounts []Mount) error {
	byDepth := slices.SortedStableFunc(slices.Values(mounts), func(a, b Mount) int {
		return cmp.Compare(strings.Count(a.Target, "/"), strings.Count(b.Target, "/"))
	})
	for _, m := range byDepth {
		target, err := Resolve(v.root, m.Target)
		if err == nil {
			err = v.bind(m.Source, target, volume)
		}
		if err == nil && m.ReadOnly {
			err = readOnly(filepath.Join(v.root, target))
		}
		if err != nil {
			return fmt.Errorf("mounting a volume at %s: %w", m.Target, err)
		}
	}
	return nil
}

// bind shows the file or directory source at path, which has no links in it.
func (v *view) bind(source, path string, o owner) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if err := v.ensure(path, info.IsDir()); err != nil {
		return err
	}
	// Recursive, also because an unprivileged process may not show what lies
	// beneath a mount.
	if err := mount(source, filepath.Join(v.root, path), "", syscall.MS_BIND|syscall.MS_REC); err != nil {
		return err
	}
	v.owner[path] = o
	return nil
}

// show makes one directory entry visible at path: a link by making it again,
// anything else by a mount.
func (v *view) show(source, path string, entry fs.DirEntry, o owner) error {
	if entry.Type()&fs.ModeSymlink == 0 {
		err := v.bind(source, path, o)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // gone meanwhile, or invisible to this user anyway
		}
		return err
	}
	target, err := os.Readlink(source)
	if err != nil {
		return err
	}
	if err := os.Symlink(target, filepath.Join(v.root, path)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
