// Package claim keeps the labs of one machine apart. They share its network, so each has to
// have ports and addresses of its own, also while nothing listens there: a component that
// restarts, a pod that starts later. A lab claims each by a name. A claim is an open file: the
// kernel ends it with the last process that has the file, however that ends.
//
// Claims bind labs only. Whether another program listens at a port is for the caller to see.
package claim

import (
	"net/netip"
	"os"
	"strconv"
	"syscall"
)

// Claims are what one lab has claimed. Those of a nil *Claims always succeed, and claim nothing.
type Claims struct {
	files map[string]*os.File
}

// Port claims a port on 127.0.0.1.
func (c *Claims) Port(port int) (bool, error) { return c.take("port " + strconv.Itoa(port)) }

// Pods claims the addresses that pods get.
func (c *Claims) Pods(prefix netip.Prefix) (bool, error) { return c.take("pods " + prefix.String()) }

// NodePorts claims a range of node ports.
func (c *Claims) NodePorts(ports string) (bool, error) { return c.take("node-ports " + ports) }

// take reports whether the name is claimed now, by these Claims. It is false when another
// lab has it.
func (c *Claims) take(name string) (bool, error) {
	if c == nil || c.files[name] != nil {
		return true, nil
	}
	file, err := open(name)
	if file == nil || err != nil {
		return false, err
	}
	if c.files == nil {
		c.files = map[string]*os.File{}
	}
	c.files[name] = file
	return true, nil
}

// Files are what a child has to inherit, see [Inherit].
func (c *Claims) Files() (files []*os.File) {
	for _, file := range c.files {
		files = append(files, file)
	}
	return files
}

// Release gives all claims up, unless a child has them, too.
func (c *Claims) Release() {
	for _, file := range c.files {
		_ = file.Close()
	}
	c.files = nil
}

// Inherit keeps the claims of the parent, which are this process's first n extra files (see
// [os/exec.Cmd.ExtraFiles]), until this process ends, and hands them on to no child.
func Inherit(n int) {
	for i := range n {
		syscall.CloseOnExec(3 + i)
	}
}
