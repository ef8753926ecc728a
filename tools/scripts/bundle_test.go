package scripts

// These are the tests of offline-bundle.sh: what is in the
// place of a bundle is run, so nobody else may put anything there.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs stand in for those that take long, or need a network.
var programs = map[string]string{
	"go": `case $2 in
GOVERSION) echo go1 ;;
GOROOT) echo "$FAKES/goroot" ;;
*) echo "$FAKES/$2" ;;
esac`,
	"git": `case $1 in clone) mkdir "$4" ;; esac`,
	// At this time, the place is complete and is used.
	"make": `case $1 in
prefetch) ls -ld "$(dirname "$GOCACHE")" && mkdir -p "$GOMODCACHE/cache/download" ;;
*) echo "made $1${2:+ ${2#ARGS=}} in $PWD" ;;
esac`,
	"evil": `echo evil was here`,
}

type machine struct {
	t     *testing.T
	fakes string // in front of $PATH
	place string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	m := machine{t: t, fakes: t.TempDir(), place: filepath.Join(t.TempDir(), "hacking-a-controller")}
	require.NoError(t, os.MkdirAll(filepath.Join(m.fakes, "goroot", "bin"), 0o755))
	for name, text := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(m.fakes, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	return m
}

// sh runs a line in the folder of the archive. Files are open to all, unless one says otherwise.
func (m machine) sh(line string) (string, error) {
	m.t.Helper()
	script, err := filepath.Abs("offline-bundle.sh")
	require.NoError(m.t, err)
	_, err = os.ReadFile(script) // for go test's cache
	require.NoError(m.t, err)
	command := exec.CommandContext(m.t.Context(), "sh", "-c", "umask 0; "+line)
	command.Dir = m.fakes
	command.Env = append(os.Environ(), "PATH="+m.fakes+":"+os.Getenv("PATH"), "FAKES="+m.fakes, "BUNDLE="+script, "PLACE="+m.place)
	output, err := command.CombinedOutput()
	return string(output), err
}

const pack = `sh "$BUNDLE" archive.tar.gz "$PLACE"`

func TestABundleIsMadeWhereNobodyElseMayWrite(t *testing.T) {
	m := newMachine(t)
	output, err := m.sh(pack)
	require.NoError(t, err, output)
	assert.Regexp(t, `(?m)^drwx------.*/hacking-a-controller$`, output)
	assert.Contains(t, output, "made postgres --npm in "+filepath.Join(m.place, "workshop")+"\n")
	assert.NoDirExists(t, m.place, "it is in the archive")
}

// taken is what others may have put at the place.
var taken = map[string]func(place string) error{
	"a folder": func(place string) error { return os.Mkdir(place, 0o777) },
	"a link": func(place string) error {
		folder := place + "-of-somebody"
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		return os.Symlink(folder, place)
	},
}

func TestABundleIsNotMadeInAPlaceThatIsTaken(t *testing.T) {
	for name, take := range taken {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			require.NoError(t, take(m.place))
			env := filepath.Join(m.place, "env")
			require.NoError(t, os.WriteFile(env, []byte("evil\n"), 0o777))

			output, err := m.sh(pack)
			require.Error(t, err)
			assert.Contains(t, output, "the archive is made in "+m.place+", which is there already; remove it if it is an old one of yours")
			assert.NotContains(t, output, "evil was here")
			assert.FileExists(t, env, "it is not ours to remove")
		})
	}
}

func TestABundleIsNotUnpackedIntoAPlaceThatIsTaken(t *testing.T) {
	for name, take := range taken {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			output, err := m.sh(pack)
			require.NoError(t, err, output)
			howTo := regexp.MustCompile(`(?m)^    (.*)$`).FindStringSubmatch(output)
			require.NotNil(t, howTo, output)
			unpack := howTo[1]

			// Whoever owns the folder may put this into it after tar, too.
			require.NoError(t, take(m.place))
			output, err = m.sh(unpack)
			require.Error(t, err)
			assert.NotContains(t, output, "made stage-1")
			entries, err := os.ReadDir(m.place)
			require.NoError(t, err)
			assert.Empty(t, entries)

			require.NoError(t, os.Remove(m.place))
			output, err = m.sh(unpack)
			require.NoError(t, err, output)
			assert.Equal(t, "made stage-1 in "+filepath.Join(m.place, "workshop")+"\n", output)
		})
	}
}
