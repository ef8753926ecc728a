// Command hello is the only file of the image that the tests load.
package main

import (
	"errors"
	"fmt"
	"os"
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
}
