package supervisor

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

// The test binary is the supervisor's program, too: by these names.
const (
	worker  = "worker"
	another = "another-worker"
	noisy   = "noisy-worker"
	boss    = "supervisor"
)

func TestMain(m *testing.M) {
	switch os.Args[0] {
	case worker, another:
		go lifeline.Inherit().ExitWhenCut()
		work(os.Args[1:])
	case noisy:
		line := strings.Repeat("x", 1<<10-1)
		for range 30 << 10 {
			fmt.Println(line)
		}
		fmt.Println("quiet")
		work(os.Args[1:])
	case boss:
		if err := supervise(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work does something last, or else waits until it is asked to end.
func work(args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("begins", args)
	if len(args) == 0 || args[0] == "hang" {
		<-ctx.Done()
	}
	fmt.Println("ends", args)
	os.Exit(0)
}

// supervise runs one worker until SIGTERM.
func supervise(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := layout.New(dir)
	if err != nil {
		return err
	}
	return Run(ctx, ctx, l, slog.New(slog.DiscardHandler), []component.Component{{Name: worker}})
}

// newLab makes a lab that a supervisor can be run in.
func newLab(t *testing.T) layout.Layout {
	t.Helper()
	l := newLayout(t)
	_, err := pki.Create(l, component.NodeName, component.FirstServiceIP)
	require.NoError(t, err)
	return l
}

// run runs a supervisor in this process. The returned function ends it.
func run(t *testing.T, l layout.Layout, grace context.Context, components ...component.Component) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, grace, l, slog.New(slog.DiscardHandler), components) }()
	return func() {
		cancel()
		assert.NoError(t, <-done)
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, testenv.Timeout(), 10*time.Millisecond, what)
}

func logOf(l layout.Layout, name string) string {
	data, _ := os.ReadFile(l.Log(name))
	return string(data)
}

func TestAComponentDoesSomethingLast(t *testing.T) {
	l := newLab(t)
	stop := run(t, l, t.Context(), component.Component{Name: another}, component.Component{Name: worker, Last: []string{"look"}})
	for _, name := range []string{worker, another} {
		eventually(t, name+" runs", func() bool { return strings.Contains(logOf(l, name), "begins") })
	}
	stop()
	assert.Equal(t, "begins []\nends []\nbegins [look]\nends [look]\n", logOf(l, worker))
	assert.Equal(t, "begins []\nends []\n", logOf(l, another))
	state, err := ReadState(l)
	require.NoError(t, err)
	assert.True(t, state.Stopping)
	assert.True(t, state.Components[worker].Stopped)
}

// What the last component does last still needs it; the others end faster without it.
func TestWhatRunsBesideTheComponentsEndsWithTheLastStarted(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := ""
	require.NoError(t, Run(ctx, t.Context(), l, slog.New(slog.DiscardHandler),
		[]component.Component{{Name: another}, {Name: worker, Last: []string{"look"}}},
		func(own context.Context) {
			for _, name := range []string{worker, another} {
				eventually(t, name+" runs", func() bool { return strings.Contains(logOf(l, name), "begins") })
			}
			cancel()
			<-own.Done()
			seen = logOf(l, worker) + logOf(l, another)
		}))
	assert.Equal(t, "begins []\nends []\nbegins [look]\nends [look]\nbegins []\n", seen)
}

func TestWhatAComponentDoesLast(t *testing.T) {
	t.Run("is not begun without grace", func(t *testing.T) {
		l := newLab(t)
		grace, cancel := context.WithCancel(t.Context())
		stop := run(t, l, grace, component.Component{Name: worker, Last: []string{"look"}})
		eventually(t, "it runs", func() bool { return strings.Contains(logOf(l, worker), "begins") })
		cancel()
		stop()
		assert.Equal(t, "begins []\nends []\n", logOf(l, worker))
	})
	t.Run("is given up when grace ends", func(t *testing.T) {
		l := newLab(t)
		grace, cancel := context.WithCancel(t.Context())
		stop := run(t, l, grace, component.Component{Name: worker, Last: []string{"hang"}})
		eventually(t, "it runs", func() bool { return strings.Contains(logOf(l, worker), "begins") })
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			stop()
		}()
		eventually(t, "it does something last", func() bool { return strings.Contains(logOf(l, worker), "begins [hang]") })
		cancel()
		<-stopped
		assert.Contains(t, logOf(l, worker), "ends [hang]")
	})
	t.Run("is not begun by one that never ran", func(t *testing.T) {
		l := newLab(t)
		stop := run(t, l, t.Context(), component.Component{Name: worker, WaitFor: "http://127.0.0.1:1/", Last: []string{"look"}})
		eventually(t, "there is a supervisor", func() bool { _, err := ReadState(l); return err == nil })
		stop()
		assert.Empty(t, logOf(l, worker))
	})
}

func TestALogIsSetAsideWhileItsComponentRuns(t *testing.T) {
	l := newLab(t)
	stop := run(t, l, t.Context(), component.Component{Name: noisy})
	eventually(t, "it has printed 30 MB", func() bool { return strings.Contains(logOf(l, noisy), "quiet") })
	old, err := fs.Glob(os.DirFS(l.Join("logs")), noisy+"-*")
	require.NoError(t, err)
	assert.Len(t, old, 1)
	assert.Less(t, len(logOf(l, noisy)), 20<<20)
	stop()
}

func TestAComponentIsHandedOver(t *testing.T) {
	l := newLab(t)
	noPods := func(func(netip.Prefix) (bool, error)) (netip.Prefix, error) {
		return netip.MustParsePrefix("127.0.0.1/32"), nil
	}
	_, _, err := settings.Ensure(l.Settings(), nil, noPods)
	require.NoError(t, err)
	stop := run(t, l, t.Context(), component.Component{Name: worker, MayBeStatic: true}, component.Component{Name: another})
	// One that was started and does not wait for signals yet would end without a word.
	begun := func(name string, times int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%s has begun %d times", name, times), func() bool { return strings.Count(logOf(l, name), "begins") == times })
	}
	handOver := func(static bool) {
		t.Helper()
		require.NoError(t, settings.SetStaticPods(l.Settings(), static))
		require.NoError(t, syscall.Kill(os.Getpid(), HandOver))
		eventually(t, fmt.Sprintf("static: %v", static), func() bool {
			state, err := ReadState(l)
			return err == nil && state.Components[worker].Static == static
		})
	}
	begun(worker, 1)
	begun(another, 1)
	handOver(true)
	assert.Equal(t, "begins []\nends []\n", logOf(l, worker))
	handOver(false)
	begun(worker, 2)
	handOver(true)
	stop()
	assert.Equal(t, "begins []\nends []\nbegins []\nends []\n", logOf(l, worker))
	assert.Equal(t, "begins []\nends []\n", logOf(l, another), "it cannot be static")
}

// Of two schedulers, the one that the supervisor runs would have no lease.
func TestWithSettingsThatCannotBeReadAComponentStaysWithWhoRunsIt(t *testing.T) {
	l := newLayout(t)
	s := &Supervisor{layout: l, log: slog.New(slog.DiscardHandler)}
	for sentence, static := range map[string]bool{"the kubelet": true, "the supervisor": false} {
		t.Run(sentence, func(t *testing.T) {
			require.NoError(t, os.WriteFile(l.Settings(), []byte(`{"staticPods": tr`), 0o600))
			p := &process{Supervisor: s, component: component.Component{Name: worker, MayBeStatic: true}, static: static,
				cancel: func() { require.Fail(t, "it is handed over") }}
			processes := []*process{p}
			s.handOver(t.Context(), t.Context(), processes)
			assert.Same(t, p, processes[0])
			require.NoError(t, os.Remove(l.Settings()))
			s.handOver(t.Context(), t.Context(), processes)
			assert.Same(t, p, processes[0])
		})
	}
}
