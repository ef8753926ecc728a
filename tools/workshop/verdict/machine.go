package verdict

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// Machine names what a run in a lab depends on besides the files of the repository: the lab,
// this program, whose path is given, PostgreSQL and the kernel.
func Machine(ctx context.Context, r repository.Repository, program string) (string, error) {
	workshop, err := Hash(program)
	if err != nil {
		return "", err
	}
	lab, err := Hash(r.Path("lab", "bin"))
	if err != nil {
		return "", err
	}
	kernel, _ := exec.CommandContext(ctx, "uname", "-srm").Output() // without it, nothing is missed
	return fmt.Sprintf("workshop %s\nlab %s\nkernel %spostgres %s\n", workshop, lab, kernel, postgres()), nil
}

// postgres names the PostgreSQLs that make postgres may take.
func postgres() string {
	homes, _ := filepath.Glob("/usr/lib/postgresql/*")
	var found []string
	for _, home := range append(homes, os.Getenv("PG_HOME")) {
		if info, err := os.Stat(filepath.Join(home, "bin", "postgres")); err == nil {
			found = append(found, fmt.Sprint(home, " ", info.Size(), " ", info.ModTime().UnixNano()))
		}
	}
	return strings.Join(found, ", ")
}

// Files returns the files of a repository, also those that are not committed yet: all, or
// those below some paths.
func Files(ctx context.Context, r repository.Repository, below ...string) ([]string, error) {
	args := []string{"ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z", "--"}
	listed, err := r.Git(ctx, append(args, below...)...)
	return strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00"), err
}

// HashFiles returns the hash of files of a repository.
func HashFiles(r repository.Repository, files []string) (string, error) {
	hash := sha256.New()
	for _, file := range files {
		if err := add(hash, file, r.Path(file)); err != nil && !os.IsNotExist(err) { // it may be removed
			return "", fmt.Errorf("hashing %s: %w", file, err)
		}
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
