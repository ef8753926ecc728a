// Agent stands in for the real one: it becomes the postgres that it finds in PATH. As the
// real one, it finds its volume below LAB_ROOT where the container sees the host's files.
package main

import (
	"log"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	postgres, err := exec.LookPath("postgres")
	if err == nil {
		args := append([]string{"postgres", "-D", os.Getenv("LAB_ROOT") + "/data/db", "-k", ""}, os.Args[1:]...)
		err = syscall.Exec(postgres, args, os.Environ())
	}
	log.Fatal(err)
}
