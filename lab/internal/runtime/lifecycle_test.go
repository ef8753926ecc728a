package runtime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	crierrors "k8s.io/cri-api/pkg/errors"
)

const (
	running = runtimeapi.ContainerState_CONTAINER_RUNNING
	exited  = runtimeapi.ContainerState_CONTAINER_EXITED
)

func TestExitCode(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("codes")
	for name, tc := range map[string]struct {
		script string
		want   int32
	}{
		"success":                          {"exit 0", 0},
		"what the program returns":         {"exit 42", 42},
		"128 more than the killing signal": {"kill -9 $$", 137},
	} {
		t.Run(name, func(t *testing.T) {
			st := w.exited(w.run(pod, tc.script))
			assert.Equal(t, tc.want, st.ExitCode, st.Message)
			assert.GreaterOrEqual(t, st.FinishedAt, st.StartedAt)
			assert.GreaterOrEqual(t, st.StartedAt, st.CreatedAt)
			assert.Equal(t, map[bool]string{true: "Completed", false: "Error"}[tc.want == 0], st.Reason)
		})
	}
}

func TestStartError(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("errors")
	for name, tc := range map[string]struct {
		change change
		want   string
	}{
		"no such program": {
			func(c *runtimeapi.ContainerConfig) { c.Command = []string{"foo"} },
			`exec: "foo": executable file not found in $PATH`,
		},
		"no such path": {
			func(c *runtimeapi.ContainerConfig) { c.Command = []string{"/no/such/program"} },
			`exec: "/no/such/program": no such file or directory`,
		},
		"not a program": {
			func(c *runtimeapi.ContainerConfig) { c.Command = []string{"/etc/passwd"} },
			`exec: "/etc/passwd": permission denied`,
		},
		"no such working directory": {
			func(c *runtimeapi.ContainerConfig) { c.WorkingDir = "/no/such/dir" },
			`changing to the working directory "/no/such/dir": no such file or directory`,
		},
		"no such volume": {
			func(c *runtimeapi.ContainerConfig) {
				c.Mounts = []*runtimeapi.Mount{{HostPath: "/no/such/volume", ContainerPath: "/data"}}
			},
			"mounting a volume at /data: stat /no/such/volume: no such file or directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := w.create(pod, "exit 0", tc.change)
			require.EqualError(t, w.StartContainer(t.Context(), id), tc.want)
			st := w.status(id)
			assert.Equal(t, exited, st.State)
			assert.EqualValues(t, 128, st.ExitCode)
			assert.Equal(t, "StartError", st.Reason)
			assert.Equal(t, tc.want, st.Message)
		})
	}
}

func TestContainerStartsOnce(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("once"), idle)
	require.Error(t, w.StartContainer(t.Context(), id))
	assert.Equal(t, running, w.status(id).State)
}

func TestUnknownImage(t *testing.T) {
	w := newWorld(t)
	want := `image "nginx:1.29" is not in the lab: it knows busybox, pause; load others with: lab load IMAGE.tar`
	_, err := w.Images().PullImage(t.Context(), &runtimeapi.ImageSpec{Image: "nginx:1.29"}, nil, nil)
	require.EqualError(t, err, want)
	status, err := w.Images().ImageStatus(t.Context(), &runtimeapi.ImageSpec{Image: "nginx:1.29"}, false)
	require.NoError(t, err)
	assert.Nil(t, status.Image)
}

func TestPauseOnlyWaits(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("pause"), "", func(c *runtimeapi.ContainerConfig) {
		c.Image.Image, c.Command = "pause:3.10", nil
	})
	assert.Equal(t, running, w.status(id).State)
	require.NoError(t, w.StopContainer(t.Context(), id, longGrace))
	assert.Zero(t, w.exited(id).ExitCode)
}

func TestWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	_, err := w.ContainerStatus(t.Context(), "none", false)
	assert.True(t, crierrors.IsNotFound(err), err)
	_, err = w.PodSandboxStatus(t.Context(), "none", false)
	assert.True(t, crierrors.IsNotFound(err), err)
	assert.True(t, crierrors.IsNotFound(w.StartContainer(t.Context(), "none")))
	assert.NoError(t, w.RemoveContainer(t.Context(), "none"))
	assert.NoError(t, w.StopPodSandbox(t.Context(), "none"))
	assert.NoError(t, w.RemovePodSandbox(t.Context(), "none"))
}

func TestList(t *testing.T) {
	w := newWorld(t)
	one, two := w.pod("one"), w.pod("two")
	first := w.run(one, idle)
	second := w.run(two, "exit 0")
	w.exited(second)

	list := func(f *runtimeapi.ContainerFilter) (ids []string) {
		containers, err := w.ListContainers(t.Context(), f)
		require.NoError(t, err)
		for _, c := range containers {
			ids = append(ids, c.Id)
		}
		return ids
	}
	assert.Equal(t, []string{second, first}, list(nil))
	assert.Equal(t, []string{first}, list(&runtimeapi.ContainerFilter{PodSandboxId: one}))
	assert.Equal(t, []string{second}, list(&runtimeapi.ContainerFilter{State: &runtimeapi.ContainerStateValue{State: exited}}))
	sandboxes, err := w.ListPodSandbox(t.Context(), &runtimeapi.PodSandboxFilter{LabelSelector: map[string]string{"app": "two"}})
	require.NoError(t, err)
	require.Len(t, sandboxes, 1)
	assert.Equal(t, two, sandboxes[0].Id)
}
