package lifeline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be its own child.
func TestMain(m *testing.M) {
	if os.Getenv("LIFELINE_TEST_CHILD") != "" {
		ended := make(chan struct{})
		holdLifeline(ended)
		collectGarbage()
		fmt.Println("ready")
		<-ended
		fmt.Println("went on")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// holdLifeline is what each process of the lab does, and does nothing else with it.
func holdLifeline(ended chan<- struct{}) {
	files := Inherit()
	go func() {
		defer close(ended)
		files.ExitWhenCut()
	}()
}

// collectGarbage returns when what nobody needs any more has been closed.
func collectGarbage() {
	for range 3 {
		collected := make(chan struct{})
		runtime.AddCleanup(new([64]byte), func(c chan struct{}) { close(c) }, collected)
		for done := false; !done; {
			runtime.GC()
			select {
			case <-collected:
				done = true
			default:
			}
		}
	}
}

func TestAProcessHoldsTheLockAsLongAsItLives(t *testing.T) {
	pipe, cut, err := os.Pipe()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "alive")
	lock, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "LIFELINE_TEST_CHILD=1", Env)
	child.ExtraFiles = []*os.File{pipe, lock}
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	require.NoError(t, lock.Close()) // the child has it, too
	_, err = out.Read(make([]byte, 1000))
	require.NoError(t, err)

	again, err := os.Open(path)
	require.NoError(t, err)
	defer again.Close()
	take := func() error { return unix.Flock(int(again.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	require.ErrorIs(t, take(), unix.EWOULDBLOCK)
	require.NoError(t, cut.Close())
	require.Error(t, child.Wait())
	require.NoError(t, take())
}

func TestAProcessWithoutALifelineGoesOn(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "LIFELINE_TEST_CHILD=1")
	out, err := child.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "went on")
}
