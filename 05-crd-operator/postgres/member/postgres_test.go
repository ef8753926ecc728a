package member

import (
	"encoding/binary"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
	"example.com/hacking-a-controller/testcluster"
)

// slowPostgres is a PostgreSQL that takes its time until it knows what to do about signals.
const slowPostgres = `#!/bin/sh
sleep 0.5
trap 'touch "$2/reloaded"' HUP
trap 'exit 0' INT
echo $$ > "$2/postmaster.pid"
while :; do sleep 0.1; done
`

func TestAPostgreSQLThatHasJustStartedCanBeReloaded(t *testing.T) {
	t.Parallel()
	// Of a test that nohup has started, each child ignores the signal, and a shell cannot change that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	folder := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	write("programs/postgres", slowPostgres)
	write("data/database/postmaster.pid", strconv.Itoa(os.Getpid())+"\n") // of a run that was killed
	bundle := certificate.Read(nil, "uid")
	issued, err := bundle.Issue([]string{"db", "db-1"}, time.Now())
	require.NoError(t, err)
	write("secrets/tls/1.crt", string(issued.Certificate))
	write("secrets/tls/1.key", string(issued.Key))
	write("secrets/ca.crt", string(issued.CA))

	s := &server{programs: filepath.Join(folder, "programs"), files: layout(filepath.Join(folder, "data")), settings: settings{
		member: "db-1", address: "127.0.0.1:1", sockets: folder, secrets: secrets(filepath.Join(folder, "secrets")),
	}}
	require.NoError(t, s.start())
	defer s.stopImmediate()
	require.NoError(t, s.reload())
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(s.files.database(), "reloaded"))
		return err == nil || !s.running()
	}, testcluster.TestTimeout, 10*time.Millisecond)
	assert.True(t, s.running(), "%v", s.endedError())
}

func TestTheVersionIsWhatPostgresPrints(t *testing.T) {
	for line, want := range map[string]string{
		"postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)": "15.14",
		"postgres (PostgreSQL) 17.6":                           "17.6",
		"postgres (PostgreSQL) 18beta1":                        "18beta1",
		"postgres (PostgreSQL) devel":                          "",
	} {
		t.Run(line, func(t *testing.T) {
			programs := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(programs, "postgres"), []byte("#!/bin/sh\necho '"+line+"'\n"), 0o700))
			got, err := findVersion(t.Context(), programs)
			assert.Equal(t, want, got)
			assert.Equal(t, want == "", err != nil, "%v", err)
		})
	}
}

func TestParametersInPgControl(t *testing.T) {
	control := func(version uint32) []byte {
		content := make([]byte, 8192)
		binary.LittleEndian.PutUint32(content[8:], version)
		for i, value := range []uint32{300, 8, 20, 5, 64} {
			binary.LittleEndian.PutUint32(content[180+4*i:], value)
		}
		return content
	}
	for name, tc := range map[string]struct {
		content []byte
		want    []int
	}{
		"PostgreSQL 15 to 17": {control(1300), []int{300, 8, 20, 5, 64}},
		"PostgreSQL 18":       {control(1800), []int{300, 8, 20, 5, 64}},
		"one to come":         {control(1900), nil},
		"another byte order":  {control(0x14050000), nil},
		"half a file":         {control(1300)[:190], nil},
		"an empty file":       {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, values := parseControl(tc.content)
			assert.Equal(t, tc.want, values)
		})
	}
}

// A copy of a database that took writes has another member's log.
func TestWhoseLogWasCutOff(t *testing.T) {
	l := layout(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Dir(l.control()), 0o700))
	assert.False(t, l.cutOff(), "no database")
	for state, want := range []bool{false, false, false, true, true, false, true} {
		content := make([]byte, 8192)
		binary.LittleEndian.PutUint32(content[8:], 1800)
		binary.LittleEndian.PutUint32(content[16:], uint32(state))
		require.NoError(t, os.WriteFile(l.control(), content, 0o600))
		assert.Equal(t, want, l.cutOff(), "state %d", state)
	}
	require.NoError(t, os.WriteFile(filepath.Join(l.database(), "backup_label"), nil, 0o600))
	assert.False(t, l.cutOff(), "a copy")
}
