package image

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The image runs on another distribution: it has all that its programs load, where they
// look for it.
func TestTheImageHasASystemOfItsOwn(t *testing.T) {
	m := makeOf(t, like(t))
	shell, err := elf.Open("/bin/sh")
	require.NoError(t, err)
	defer shell.Close()
	needed, err := shell.ImportedLibraries()
	require.NoError(t, err)
	require.NotEmpty(t, needed)
	for _, library := range needed {
		assert.True(t, hasBase(m, library), library)
	}
	for _, segment := range shell.Progs {
		if segment.Type == elf.PT_INTERP {
			loader := make([]byte, segment.Filesz)
			_, err := segment.ReadAt(loader, 0)
			require.NoError(t, err)
			assert.Contains(t, m.entries, strings.TrimRight(string(loader), "\x00"))
		}
	}
	assert.Contains(t, m.entries, "/bin/sh")
	assert.Contains(t, m.texts["/etc/passwd"], "postgres:x:26:26:")
	assert.EqualValues(t, 0o1777, m.entries["/tmp"].Mode)
	assert.Equal(t, 26, m.entries["/var/lib/postgresql"].Uid)
	assert.NotContains(t, m.entries, "/usr/share/zoneinfo/UTC", "this PostgreSQL has its own")
}

func TestTimeZonesOfTheMachine(t *testing.T) {
	if _, err := os.Stat("/usr/share/zoneinfo/UTC"); err != nil {
		return // and PostgreSQL without its own would not work here
	}
	p := like(t)
	require.NoError(t, os.RemoveAll(filepath.Join(p.share, "timezone")))
	m := makeOf(t, p)
	assert.Contains(t, m.entries, "/usr/share/zoneinfo/UTC")
	assert.NotContains(t, m.entries, "/usr/share/zoneinfo/localtime", "where this machine is")
}

func TestALibraryThatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct{ output, want string }{
		"is an error":                 {"/pg/bin/postgres:\n\tlibssl.so.9 => not found\n", "/pg/bin/postgres needs libssl.so.9, which is not on this machine; install it"},
		"is not one that has no file": {"/pg/bin/postgres:\n\tlinux-vdso.so.1 (0x1)\n\tlibm.so.6 => /lib/libm.so.6 (0x2)\n\t/lib64/ld.so (0x3)\n/bin/sh:\n\tlibm.so.6 => /lib/libm.so.6 (0x2)\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text(t, filepath.Join(dir, "output"), tc.output)
			program(t, filepath.Join(dir, "ldd"), "cat '"+dir+"/output'")
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			libraries, err := librariesOf(t.Context(), nil)
			if tc.want != "" {
				require.EqualError(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{"/lib/libm.so.6", "/lib64/ld.so"}, libraries)
		})
	}
}

func hasBase(m made, name string) bool {
	for path := range m.entries {
		if filepath.Base(path) == name {
			return true
		}
	}
	return false
}
