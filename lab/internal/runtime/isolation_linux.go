package runtime

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// possible is the isolation that the kernel may allow to this user.
func possible() isolation {
	if os.Geteuid() == 0 {
		return mountNamespace
	}
	return userNamespace
}

// attr puts a shim into a session and, as needed, namespaces of its own.
func (i isolation) attr(user *shim.User) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	switch i {
	case mountNamespace:
		attr.Cloneflags = unix.CLONE_NEWNS | unix.CLONE_NEWUTS
	case userNamespace:
		if user == nil {
			user = &shim.User{}
		}
		attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWUTS
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(user.UID), HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(user.GID), HostID: os.Getegid(), Size: 1}}
		// A user who isn't root in the namespace loses all capabilities when the shim is
		// started, unless they are ambient. The shim drops them after mounting.
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_DAC_OVERRIDE}
	}
	return attr
}
