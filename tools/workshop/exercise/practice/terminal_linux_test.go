package practice

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
)

// newTerminal makes a terminal, and returns who sits in front of it, and it.
func newTerminal(t *testing.T) (person, file *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = person.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	file, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return person, file
}

func TestInATerminalAKeyCountsAtOnce(t *testing.T) {
	person, file := newTerminal(t)
	require.True(t, isTerminal(file))
	settings := func() *unix.Termios {
		settings, err := unix.IoctlGetTermios(int(file.Fd()), getSettings)
		require.NoError(t, err)
		return settings
	}
	before := settings()
	terminal := openTerminal(file)
	terminal.byKey()
	ask, keys := keys(file, false)
	ask()
	_, err := person.WriteString("h")
	require.NoError(t, err)
	assert.Equal(t, 'h', wait(t, keys, "h, without an end of the line"))
	assert.NotZero(t, settings().Lflag&unix.ISIG, "Ctrl-C is a signal")
	assert.NotZero(t, settings().Oflag&unix.OPOST, "a new line begins on the left")

	_, err = file.WriteString("Hint 1\n")
	require.NoError(t, err)
	text, err := bufio.NewReader(person).ReadString('\n') // one read may bring a part of the line
	require.NoError(t, err)
	assert.Equal(t, "Hint 1\r\n", text, "the key itself does not appear")

	// Text that was pasted into the wrong window is no key.
	_, err = person.WriteString("echo cat\n")
	require.NoError(t, err)
	ask()
	assert.Zero(t, wait(t, keys, "that it was no key"))
	_, err = person.WriteString("a\n")
	require.NoError(t, err)
	for _, want := range "a\n" { // fingers press Enter, too
		ask()
		assert.Equal(t, want, wait(t, keys, "each key"))
	}

	// While it was stopped, the shell had its own settings.
	require.NoError(t, unix.IoctlSetTermios(int(file.Fd()), setSettings, before))
	require.NoError(t, unix.Kill(os.Getpid(), unix.SIGCONT))
	require.Eventually(t, func() bool { return settings().Lflag&unix.ICANON == 0 }, exercisetest.Timeout, 10*time.Millisecond)
	terminal.restore()
	assert.Equal(t, before, settings())

	// A terminal that is closed has no more keys.
	ask()
	require.NoError(t, person.Close())
	_, open := <-keys
	assert.False(t, open)
	terminal.byKey()
	terminal.restore()
}
