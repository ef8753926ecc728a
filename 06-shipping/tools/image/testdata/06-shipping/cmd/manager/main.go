// Manager stands for the real manager, which takes longer to compile.
package main

import (
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"

	yay "example.com/hacking-a-controller/05-crd-operator"
	"example.com/hacking-a-controller/06-shipping/manager"
)

func main() {
	write := pflag.String("write", "", "a file to write")
	pflag.Parse()
	fmt.Println(yay.Word, manager.Version, manager.Revision)
	fmt.Println("user", os.Getuid(), "group", os.Getgid())
	if *write != "" {
		fmt.Println(os.WriteFile(*write, nil, 0o600))
	}
	// A program that looks names up is not static by itself.
	fmt.Println(net.LookupHost("127.0.0.1"))
}
