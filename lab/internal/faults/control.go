package faults

import (
	"fmt"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"slices"
)

// service is the name under which the commands of the lab find Control.
const service = "Faults"

// Control changes the faults of a proxy. Its methods are those that package net/rpc calls.
type Control struct {
	faults *set
	door   *door
}

// Add makes a fault.
func (c *Control) Add(f Fault, _ *struct{}) error {
	c.faults.add(f)
	if f.isOutage() {
		c.door.close()
	}
	return nil
}

// A Cure says which faults are to end.
type Cure struct {
	// Target is that of the faults; all, if it is empty.
	Target string
	// Kind is that of the faults; all, if it is empty.
	Kind Kind
}

// Heal ends faults, and returns them.
func (c *Control) Heal(cure Cure, ended *[]Fault) error {
	*ended = c.faults.remove(func(f Fault) bool {
		return (cure.Target == "" || cure.Target == f.Target) && (cure.Kind == "" || cure.Kind == f.Kind)
	})
	if slices.ContainsFunc(c.faults.list(), Fault.isOutage) {
		return nil
	}
	return c.door.open()
}

// List returns the faults.
func (c *Control) List(_ struct{}, all *[]Fault) error {
	*all = c.faults.list()
	return nil
}

// A Client gives commands to a proxy.
type Client struct{ rpc *rpc.Client }

// Dial connects to the socket of a proxy. It makes the socket's folder the working directory of
// this process: the path of a socket is limited to 104 bytes, and that of a folder is not.
func Dial(socket string) (*Client, error) {
	if err := os.Chdir(filepath.Dir(socket)); err != nil {
		return nil, err
	}
	connection, err := net.Dial("unix", filepath.Base(socket))
	if err != nil {
		return nil, fmt.Errorf("calling the lab's fault proxy (its log: lab logs supervisor): %w", err)
	}
	return &Client{rpc.NewClient(connection)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.rpc.Close() }

// Add makes a fault.
func (c *Client) Add(f Fault) error { return c.rpc.Call(service+".Add", f, &struct{}{}) }

// Heal ends faults, and returns them.
func (c *Client) Heal(cure Cure) (ended []Fault, err error) {
	err = c.rpc.Call(service+".Heal", cure, &ended)
	return ended, err
}

// List returns the faults.
func (c *Client) List() (all []Fault, err error) {
	err = c.rpc.Call(service+".List", struct{}{}, &all)
	return all, err
}
