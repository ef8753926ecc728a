package faults

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// TestLifecycle runs in order: each subtest goes on with the lab that the one
// before it has left.
func TestLifecycle(t *testing.T) {
	lab := newLab(t)
	t.Run("two ups at once start one lab", func(t *testing.T) { twoUps(t, lab) })
	t.Run("another up changes nothing", func(t *testing.T) { thirdUp(t, lab) })
	t.Run("down ends every process", func(t *testing.T) { down(t, lab) })
	t.Run("up finds everything again", func(t *testing.T) { upAgain(t, lab) })
	t.Run("a port that is taken moves", func(t *testing.T) { takenPort(t, lab) })
	t.Run("down --now waits for no pod", func(t *testing.T) { downNow(t, lab) })
}

func twoUps(t *testing.T, lab *labtest.Lab) {
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

func thirdUp(t *testing.T, lab *labtest.Lab) {
	before := state(t, lab)
	assert.Contains(t, lab.Run(t, "up"), "already started")
	_, err := lab.Command(t.Context(), "supervise")
	require.ErrorContains(t, err, "already has a supervisor")
	assert.Equal(t, before, state(t, lab), "the second supervisor has changed something")
}

func down(t *testing.T, lab *labtest.Lab) {
	require.NoError(t, createConfigMap(t.Context(), t, lab, "kept"))
	createClaim(t, lab)
	appendToVolume(t, lab, "before-down")
	startPatient(t, lab)
	var before []testenv.Process
	for _, c := range state(t, lab).Components {
		before = append(before, testenv.ProcessOf(c.PID))
	}
	expectLogged := followSupervisorLog(t, lab)
	assert.Contains(t, lab.Run(t, "down"), "waiting until the pods have ended")
	assert.ElementsMatch(t, []string{"asked\nended\n", "static pod asked\n"}, stories(t, lab))
	expectLogged("stopping")
	assert.Zero(t, supervisorPID(t, lab))
	for _, process := range before {
		testenv.ExpectEnd(t, process)
	}
	assert.Contains(t, lab.Run(t, "down"), "not running")
}

func upAgain(t *testing.T, lab *labtest.Lab) {
	config, err := lab.Config()
	require.NoError(t, err)
	lab.Run(t, "up")
	again, err := lab.Config()
	require.NoError(t, err)
	assert.Equal(t, config.Host, again.Host, "the port was not remembered")
	expectConfigMap(t, lab, "kept")
	appendToVolume(t, lab, "after-up", "before-down")
	expectPatientWasAsked(t, lab)
}

// startPatient runs a pod that writes down how it ends. Its container needs longer for that
// than a process has that only the end of the lab ends.
func startPatient(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	lab.Kubectl(t, "run", "patient", "--image=busybox", "--overrides", `{"spec": {
		"containers": [{
			"name": "patient", "image": "busybox",
			"command": ["sh", "-c", "trap 'sleep 3; echo ended >> \"$LAB_ROOT\"/story/lines; exit 3' TERM; cat \"$LAB_ROOT\"/story/lines; echo begun; while true; do sleep 0.1; done"],
			"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "echo asked >> \"$LAB_ROOT\"/story/lines"]}}},
			"volumeMounts": [{"name": "story", "mountPath": "/story"}]}],
		"volumes": [{"name": "story", "emptyDir": {}}]}}`)
	// The API server has a static pod by another UID than the node.
	require.NoError(t, os.WriteFile(filepath.Join(lab.Dir, "static-pods", "static.yaml"), []byte(`
apiVersion: v1
kind: Pod
metadata: {name: static, namespace: default}
spec:
  containers:
  - name: static
    image: busybox
    command: [sh, -c, "echo begun; sleep 1000"]
    lifecycle: {preStop: {exec: {command: [sh, -c, "echo static pod asked >> \"$LAB_ROOT\"/story/lines"]}}}
    volumeMounts: [{name: story, mountPath: /story}]
  volumes: [{name: story, emptyDir: {}}]
`), 0o600))
	for _, pod := range []string{"patient", "static-lab-node"} {
		labtest.Eventually(t, pod+" runs", func(ctx context.Context) error {
			log, err := lab.Command(ctx, "kubectl", "logs", pod)
			if err == nil && !strings.Contains(log, "begun") {
				err = errors.New("it has printed nothing")
			}
			return err
		})
	}
}

// stories returns what the pods have written down.
func stories(t *testing.T, lab *labtest.Lab) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(lab.Dir, "kubelet", "pods", "*", "volumes", "kubernetes.io~empty-dir", "story", "lines"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(all, string(data))
	}
	return all
}

// expectPatientWasAsked expects the pod to be the same one, and its container another.
func expectPatientWasAsked(t *testing.T, lab *labtest.Lab) {
	t.Helper()
	labtest.Eventually(t, "the pod runs again", func(ctx context.Context) error {
		log, err := lab.Command(ctx, "kubectl", "logs", "patient")
		if err == nil && log != "asked\nended\nbegun\n" {
			err = fmt.Errorf("it has printed %q", log)
		}
		return err
	})
	pod, err := lab.Client(t).CoreV1().Pods("default").Get(t.Context(), "patient", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, pod.Status.ContainerStatuses, 1)
	status := pod.Status.ContainerStatuses[0]
	assert.EqualValues(t, 1, status.RestartCount)
	require.NotNil(t, status.LastTerminationState.Terminated)
	assert.EqualValues(t, 3, status.LastTerminationState.Terminated.ExitCode)
}

// downNow is said by somebody to whom a down takes too long.
func downNow(t *testing.T, lab *labtest.Lab) {
	lab.Kubectl(t, "run", "endless", "--image=busybox", "--overrides", `{"spec": {
		"terminationGracePeriodSeconds": 3600,
		"containers": [{
			"name": "endless", "image": "busybox", "command": ["sleep", "1000"],
			"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "echo endless asked > \"$LAB_ROOT\"/story/lines; sleep 1000"]}}},
			"volumeMounts": [{"name": "story", "mountPath": "/story"}]}],
		"volumes": [{"name": "story", "emptyDir": {}}]}}`)
	lab.Kubectl(t, "wait", "--for=condition=Ready", "pod/endless", labtest.TimeoutFlag)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupted := make(chan error, 1)
	go func() {
		_, err := lab.Command(ctx, "down")
		interrupted <- err
	}()
	labtest.Eventually(t, "the hook runs", func(context.Context) error {
		if !slices.Contains(stories(t, lab), "endless asked\n") {
			return errors.New("it has written nothing")
		}
		return nil
	})
	cancel()
	require.ErrorContains(t, <-interrupted, "the lab goes on stopping in the background")
	assert.NotZero(t, supervisorPID(t, lab))
	lab.Run(t, "down", "--now")
	assert.Contains(t, lab.Run(t, "logs", "supervisor"), "did not end well")
	assert.Zero(t, supervisorPID(t, lab))
}

// A port that another program has taken since is given up, with a sentence.
func takenPort(t *testing.T, lab *labtest.Lab) {
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
	lab := sharedLab(t)
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
	stranger := &http.Client{Timeout: testenv.Timeout(), Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a stranger knows no authority
	}}
	for path, want := range map[string]int{"/version": 200, "/api/v1/namespaces": 403} {
		resp, err := stranger.Get(config.Host + path)
		require.NoError(t, err)
		_ = resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode, path)
	}
}

// Whatever is in a folder that is not the lab's stays as it is.
func TestNoCommandTouchesSomebodyElsesFolder(t *testing.T) {
	lab := newLab(t)
	folder := t.TempDir()
	want := map[string]string{"README": "My thesis\n", "data.txt": "precious\n"}
	for name, content := range want {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	archive := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(archive, nil, 0o600))
	for _, args := range [][]string{
		{"up"}, {"down"}, {"reset"}, {"load", archive}, {"env"}, {"status"}, {"logs", "etcd"}, {"kubectl", "get", "pods"}, {"supervise"},
	} {
		t.Run(args[0], func(t *testing.T) {
			_, err := lab.Command(t.Context(), append([]string{"--dir", folder}, args...)...)
			require.ErrorContains(t, err, "was not written by the lab")
			entries, err := os.ReadDir(folder)
			require.NoError(t, err)
			assert.Len(t, entries, len(want))
			for name, content := range want {
				data, err := os.ReadFile(filepath.Join(folder, name))
				require.NoError(t, err)
				assert.Equal(t, content, string(data))
			}
		})
	}
}

func TestWrongInput(t *testing.T) {
	lab := newLab(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an unknown command":            {[]string{"upp"}, `there is no command "upp"`},
		"an argument that nobody asked": {[]string{"up", "now"}, "now"},
		"an unknown flag":               {[]string{"up", "--fast"}, "unknown flag: --fast"},
		"an unknown component":          {[]string{"logs", "docker"}, "choose one of supervisor, etcd"},
		"no component":                  {[]string{"logs"}, "name the component"},
		"no archive":                    {[]string{"load"}, "name the archive"},
		"status of nothing":             {[]string{"status"}, "to start one: lab up"},
		"kubectl without a lab":         {[]string{"kubectl", "get", "pods"}, "to start one: lab up"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lab.Command(t.Context(), tc.args...)
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.want)
			assert.Contains(t, err.Error(), "exit status 1")
			assert.NoDirExists(t, lab.Dir, "a mistake left a folder behind")
		})
	}
}
