// Command hello is the only file of the image that the tests load.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func main() {
	dir, _ := os.Getwd()
	_, bin := os.Stat("/usr/bin")
	write := os.WriteFile("/written", []byte("x"), 0o644)
	fmt.Println("args", os.Args[1:])
	fmt.Println("cwd", dir)
	fmt.Println("uid", os.Getuid(), "gid", os.Getgid())
	fmt.Println("env", os.Getenv("FROM"), os.Getenv("HOME"))
	fmt.Println("host files hidden", errors.Is(bin, os.ErrNotExist))
	fmt.Println("root writable", write == nil)
	data, _ := os.ReadFile(os.Getenv("LAB_ROOT") + "/data/file")
	fmt.Println("volume", string(data))
	if len(os.Args) > 1 && os.Args[1] == "wait" {
		time.Sleep(time.Hour)
	}
	if len(os.Args) > 2 && os.Args[1] == "spawn" {
		program, _ := os.Executable()
		child := exec.Command(program, os.Args[2:]...)
		child.Env, child.Stdout, child.SysProcAttr = []string{}, os.Stdout, &syscall.SysProcAttr{Setsid: true}
		fmt.Println(child.Run())
	}
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		serve(os.ExpandEnv(os.Args[2]))
	}
}

// serve answers each connection with what it got, in capitals.
func serve(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listens on", listener.Addr())
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		data, _ := io.ReadAll(conn)
		_, _ = io.WriteString(conn, strings.ToUpper(string(data)))
		_ = conn.Close()
	}
}
