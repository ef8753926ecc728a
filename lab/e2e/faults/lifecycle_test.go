package faults

import (
	"crypto/tls"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

func TestUpTwiceDownAndUpAgain(t *testing.T) {
	lab := startLab(t)
	require.NoError(t, createConfigMap(t.Context(), t, lab, "kept"))
	before := state(t, lab)
	assert.Contains(t, lab.Run(t, "up"), "already started")
	_, err := lab.Command(t.Context(), "supervise")
	require.ErrorContains(t, err, "already has a supervisor")
	assert.Equal(t, before, state(t, lab), "the second supervisor has changed something")

	lab.Run(t, "down")
	assert.Zero(t, supervisorPID(t, lab))
	for _, c := range before.Components {
		labtest.ExpectNoProcess(t, c.PID)
	}
	assert.Contains(t, lab.Run(t, "down"), "not running")

	config, err := lab.Config()
	require.NoError(t, err)
	lab.Run(t, "up")
	again, err := lab.Config()
	require.NoError(t, err)
	assert.Equal(t, config.Host, again.Host, "the port was not remembered")
	expectConfigMap(t, lab, "kept")
}

func TestTwoUpsAtOnceStartOneLab(t *testing.T) {
	lab, err := labtest.New()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, lab.Remove()) })
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			_, err := lab.Command(t.Context(), "up")
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	expectHealthy(t, lab)
}

func TestTwoLabsAtOnce(t *testing.T) {
	one, two := startLab(t), startLab(t)
	require.NoError(t, createConfigMap(t.Context(), t, one, "in-one"))
	assert.NotContains(t, two.Kubectl(t, "get", "configmaps", "-o", "name"), "in-one")
	expectPodRuns(t, one, "first")
	expectPodRuns(t, two, "second")
	two.Run(t, "down")
	expectHealthy(t, one)
}

// A port that another program has taken since is given up, with a sentence.
func TestATakenPortMoves(t *testing.T) {
	lab := startLab(t)
	config, err := lab.Config()
	require.NoError(t, err)
	lab.Run(t, "down")
	address, err := url.Parse(config.Host)
	require.NoError(t, err)
	thief, err := net.Listen("tcp", address.Host)
	require.NoError(t, err)
	defer thief.Close()
	assert.Contains(t, lab.Run(t, "up"), "is taken by another program")
	expectHealthy(t, lab)
}

func TestSecrecy(t *testing.T) {
	lab := startLab(t)
	err := filepath.WalkDir(lab.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name := d.Name(); strings.HasSuffix(name, ".key") || strings.Contains(name, "kubeconfig") {
			info, err := d.Info()
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), path)
		}
		return nil
	})
	require.NoError(t, err)
	info, err := os.Stat(lab.Dir)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())

	// Who is nobody may know the version, and nothing else.
	config, err := lab.Config()
	require.NoError(t, err)
	stranger := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a stranger knows no authority
	}}
	for path, want := range map[string]int{"/version": 200, "/api/v1/namespaces": 403} {
		resp, err := stranger.Get(config.Host + path)
		require.NoError(t, err)
		_ = resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode, path)
	}
}

func TestWrongInput(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an unknown command":              {[]string{"upp"}, `there is no command "upp"`},
		"an argument that nobody asked":   {[]string{"up", "now"}, "now"},
		"an unknown flag":                 {[]string{"up", "--fast"}, "unknown flag: --fast"},
		"an unknown component":            {[]string{"logs", "docker"}, "choose one of supervisor, etcd"},
		"no component":                    {[]string{"logs"}, "name the component"},
		"no archive":                      {[]string{"load"}, "name the archive"},
		"status of nothing":               {[]string{"status"}, "to start one: lab up"},
		"kubectl without a lab":           {[]string{"kubectl", "get", "pods"}, "to start one: lab up"},
		"reset of somebody else's folder": {[]string{"--dir", "/usr", "reset"}, "was not written by the lab"},
		"up in somebody else's folder":    {[]string{"--dir", "/usr", "up"}, "was not written by the lab"},
	} {
		t.Run(name, func(t *testing.T) {
			lab, err := labtest.New()
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, lab.Remove()) })
			_, err = lab.Command(t.Context(), tc.args...)
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.want)
			assert.Contains(t, err.Error(), "exit status 1")
			assert.NoDirExists(t, lab.Dir, "a mistake left a folder behind")
		})
	}
}
