// Office serves the Light List: see package lightlist.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
)

func main() {
	settings := lightlist.Settings{}
	address := flag.String("listen", ":8080", "the `address` to listen on")
	flag.DurationVar(&settings.Takes.Duration, "takes", 5*time.Second, "how `long` a light waits for its number")
	flag.Parse()
	settings.Bearer = os.Getenv("OFFICE_TOKEN")
	if settings.Bearer == "" {
		log.Fatal("OFFICE_TOKEN is empty: set it to the bearer token that clients have to send")
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal("opening the office: ", err)
	}
	log.Println("the office opens on", listener.Addr())
	log.Fatal(http.Serve(listener, lightlist.New(clock.RealClock{}, settings)))
}
