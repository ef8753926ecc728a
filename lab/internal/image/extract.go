package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// extract unpacks a tar stream into dir, as far as the quota allows, and returns the size of its files.
//
// The stream is not trusted: all is written through an os.Root, which lets
// nothing outside dir be touched. Devices and FIFOs are left out, and so are
// setuid and setgid bits, because containers are not isolated from the host.
func extract(r io.Reader, dir string, q *quota) (size uint64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
		name, err := place(dir, header.Name)
		if err != nil {
			return size, err
		}
		if name == "." {
			continue
		}
		if err := q.take(header.Size); err != nil { // before a byte of it is written
			return size, err
		}
		if err := extractOne(root, name, header, archive); err != nil {
			return size, fmt.Errorf("%s: %w", header.Name, err)
		}
		size += uint64(header.Size)
	}
}

// place returns where a file belongs, relative to dir. Its directory may be a
// symbolic link, absolute ones too, which mean what they mean in a container.
func place(dir, name string) (string, error) {
	name = path.Clean("/" + name) // no way up beyond the top
	parent, err := shim.Resolve(dir, path.Dir(name))
	if err != nil {
		return "", err
	}
	return filepath.Rel("/", filepath.Join(parent, path.Base(name)))
}

func extractOne(root *os.Root, name string, header *tar.Header, content io.Reader) error {
	if err := makeParents(root, filepath.Dir(name)); err != nil {
		return err
	}
	mode := header.FileInfo().Mode().Perm()
	if header.Typeflag == tar.TypeDir {
		if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// The person who runs the lab must be able to copy and to delete it.
		sticky := header.FileInfo().Mode() & fs.ModeSticky
		return errors.Join(own(root, name, header), root.Chmod(name, mode|sticky|0o700))
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeReg:
		return extractFile(root, name, mode|0o400, header, content)
	case tar.TypeSymlink:
		if err := root.Symlink(header.Linkname, name); err != nil {
			return err
		}
		return own(root, name, header)
	case tar.TypeLink:
		old, err := place(root.Name(), header.Linkname)
		if err != nil {
			return err
		}
		return root.Link(old, name)
	default:
		return nil
	}
}

// makeParents makes the folders that the archive has no entry for. Anybody may enter them,
// whatever the umask is.
func makeParents(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	err := root.Mkdir(name, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeParents(root, filepath.Dir(name)); err != nil {
			return err
		}
		err = root.Mkdir(name, 0o755)
	}
	switch {
	case err == nil:
		return root.Chmod(name, 0o755)
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

func extractFile(root *os.Root, name string, mode fs.FileMode, header *tar.Header, content io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close(), own(root, name, header), root.Chmod(name, mode))
}

// own gives a file to the user that the archive names, which only root may.
func own(root *os.Root, name string, header *tar.Header) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(name, header.Uid, header.Gid)
}
