// Office serves the Light List: see package lightlist.
package main

import (
	"flag"
	"log"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
)

func main() {
	settings := lightlist.Settings{}
	address := flag.String("listen", ":8080", "the `address` to listen on")
	flag.StringVar(&settings.Bearer, "bearer", "trinity", "the bearer `token` that clients have to send")
	flag.DurationVar(&settings.Takes.Duration, "takes", 5*time.Second, "how `long` a light waits for its number")
	flag.Parse()
	log.Println("the office opens on", *address)
	log.Fatal(http.ListenAndServe(*address, lightlist.New(clock.RealClock{}, settings)))
}
