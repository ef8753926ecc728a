package proof

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A verdict is a file that says that an exercise is honest. Its name is a hash of what
// stands in it: everything that could change that.
type verdict struct{ path, content string }

func (v verdict) known() bool {
	_, err := os.Stat(v.path)
	return err == nil
}

func (v verdict) save() error {
	if err := os.MkdirAll(filepath.Dir(v.path), 0o755); err != nil {
		return fmt.Errorf("keeping a verdict: %w", err)
	}
	return os.WriteFile(v.path, []byte(v.content), 0o644)
}

// verdict returns that of an exercise whose stage has a fingerprint.
func (p *Prover) verdict(e exercise.Exercise, fingerprint string) verdict {
	content := e.ID() + "\n" + fingerprint
	return verdict{filepath.Join(p.Cache, "verdicts", fmt.Sprintf("%x", sha256.Sum256([]byte(content)))), content}
}

// fingerprint names all that a verdict on the exercises of a stage depends on, which are
// tested in the same module as e.
func (p *Prover) fingerprint(ctx context.Context, r repository.Repository, e exercise.Exercise, module gotest.Module) (string, error) {
	program, err := hashOf(p.Program)
	if err != nil {
		return "", err
	}
	assets, err := hashOf(module.AssetsFolder())
	if err != nil {
		return "", err
	}
	inputs, err := module.Inputs(ctx)
	if err != nil {
		return "", err
	}
	environment, err := module.Env(ctx, "GOVERSION", "GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GODEBUG")
	if err != nil {
		return "", err
	}
	lines := []string{
		"workshop " + program,
		"lab " + assets,
		"inputs " + inputs,
		"go " + strings.Join(environment, " "),
		fmt.Sprintf("tested %t, dependents %t", p.Tested, p.Dependents),
	}
	replaced, err := module.Replaced(ctx)
	if err != nil {
		return "", err
	}
	folders := e.Folders()
	for _, other := range replaced {
		folders = append(folders, path.Join(e.Module(), other))
	}
	for _, folder := range folders {
		tree, err := r.Git(ctx, "rev-parse", "HEAD:"+folder)
		if err != nil {
			return "", err
		}
		lines = append(lines, folder+" "+tree)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// hashOf returns the hash of a file, or of a folder; that of one that is not there, too.
func hashOf(root string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%s %v\n", entry.Name(), entry.Type())
		switch {
		case entry.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			fmt.Fprintln(hash, target)
			return err
		case !entry.Type().IsRegular():
			return nil
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(hash, file)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hashing %s: %w", root, err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
