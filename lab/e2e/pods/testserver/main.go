// Command testserver is the program in the image that the tests load: a small
// server that can be asked to show what its container looks like.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	port := flag.String("port", "8080", "port to listen on, at $POD_IP")
	selfTest := flag.Bool("in-cluster", false, "read the own namespace through the service account, print its name, exit")
	flag.Parse()
	if *selfTest {
		os.Exit(inCluster())
	}
	os.Exit(serve(net.JoinHostPort(os.Getenv("POD_IP"), *port)))
}

// serve answers every path with the pod's name, and /healthz with 200 until
// /break was called.
func serve(address string) int {
	var broken atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			http.Error(w, "broken", http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/break", func(http.ResponseWriter, *http.Request) { broken.Store(true) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, os.Getenv("HOSTNAME")) })

	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		fmt.Println("got SIGTERM")
		_ = server.Close()
	}()
	fmt.Println("listening on", address)
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// inCluster calls the API server with nothing but what a pod is given.
func inCluster() int {
	// Without KUBECONFIG this is rest.InClusterConfig: the address from the
	// environment, the token from its fixed path.
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client.Timeout = time.Minute
	resp, err := client.Get(config.Host + "/version")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	_, _ = io.Copy(os.Stdout, resp.Body)
	return 0
}
