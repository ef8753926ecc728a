package isolate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// founder is what this program is called when it is the first process in a new network. It
// brings the loopback interface up, and stays until the network has been opened.
const founder = "workshop-network"

const ready = "ready"

func init() {
	if os.Args[0] != founder {
		return
	}
	if err := loopbackUp(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(ready)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the other side closes it, or is killed
	os.Exit(0)
}

// New makes a network. Its error says why this machine has none.
func New() (*Network, error) {
	enter, err := exec.LookPath("nsenter")
	if err != nil {
		return nil, errors.New("the program nsenter is not installed")
	}
	command := exec.Command("/proc/self/exe")
	command.Args = []string{founder}
	command.SysProcAttr = newNamespaces()
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	said, _ := bufio.NewReader(stdout).ReadString('\n')
	n := &Network{enter: enter}
	if said = strings.TrimSpace(said); said != ready {
		err = fmt.Errorf("making a network namespace: %s", said)
	} else {
		err = n.open(command.Process.Pid, command.SysProcAttr)
	}
	_ = stdin.Close()
	_ = command.Wait() // said is all there is to know
	if err == nil {
		err = n.try()
	}
	if err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// newNamespaces are for root just a network. Others must own the user namespace that it
// belongs to; in it they are who they are.
func newNamespaces() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() == 0 {
		return attributes
	}
	const capNetAdmin = 12 // for loopbackUp
	attributes.Cloneflags |= syscall.CLONE_NEWUSER
	attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attributes.AmbientCaps = []uintptr{capNetAdmin}
	return attributes
}

// open opens the namespaces of a process.
func (n *Network) open(pid int, attributes *syscall.SysProcAttr) error {
	names := []string{"net"}
	if attributes.Cloneflags&syscall.CLONE_NEWUSER != 0 {
		names = append(names, "user")
	}
	for _, name := range names {
		file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/" + name)
		if err != nil {
			return fmt.Errorf("opening a network namespace: %w", err)
		}
		n.files = append(n.files, file)
	}
	return nil
}

// try runs a command in the network.
func (n *Network) try() error {
	command := exec.Command("true")
	n.Enter(command)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("entering a network namespace: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// loopbackUp does what ip link set lo up does.
func loopbackUp() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bringing the loopback interface up: %w", err)
	}
	defer syscall.Close(socket)
	request := struct { // ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("bringing the loopback interface up: %w", errno)
	}
	return nil
}
