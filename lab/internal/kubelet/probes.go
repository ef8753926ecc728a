package kubelet

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

// checkFunc says why a probe of an address would be answered by a process that isn't of the
// pod with that address.
type checkFunc func(host string, port int) error

// checkProbes makes every probe over the network check first who listens, because all
// pods share the network of the host. The kubelet has no setting for that: it takes
// either its own manager of probes or another one, which could not be made out here.
// So the probers are replaced within its own.
func checkProbes(check checkFunc) kubelet.Option {
	return func(k *kubelet.Kubelet) {
		manager := reflect.ValueOf(k).Elem().FieldByName("probeManager").Elem()
		prober := manager.Elem().FieldByName("prober").Elem()
		overHTTP, overTCP, overGRPC := field[httpprobe.Prober](prober, "http"), field[tcpprobe.Prober](prober, "tcp"), field[grpcprobe.Prober](prober, "grpc")
		*overHTTP = httpProber{*overHTTP, check}
		*overTCP = tcpProber{*overTCP, check}
		*overGRPC = grpcProber{*overGRPC, check}
	}
}

// field returns a field that is not exported. It panics when Kubernetes has changed it.
func field[T any](of reflect.Value, name string) *T {
	f := of.FieldByName(name)
	if want := reflect.TypeFor[T](); !f.IsValid() || f.Type() != want {
		panic(fmt.Sprintf("the kubelet's prober has no field %s of type %s", name, want))
	}
	return (*T)(f.Addr().UnsafePointer())
}

type httpProber struct {
	httpprobe.Prober
	check checkFunc
}

// Probe sends a request.
func (p httpProber) Probe(req *http.Request, timeout time.Duration) (probe.Result, string, error) {
	port, err := strconv.Atoi(req.URL.Port())
	if err != nil {
		return probe.Unknown, "", err
	}
	if err := p.check(req.URL.Hostname(), port); err != nil {
		return probe.Failure, err.Error(), nil
	}
	return p.Prober.Probe(req, timeout)
}

type tcpProber struct {
	tcpprobe.Prober
	check checkFunc
}

// Probe connects.
func (p tcpProber) Probe(host string, port int, timeout time.Duration) (probe.Result, string, error) {
	if err := p.check(host, port); err != nil {
		return probe.Failure, err.Error(), nil
	}
	return p.Prober.Probe(host, port, timeout)
}

type grpcProber struct {
	grpcprobe.Prober
	check checkFunc
}

// Probe asks the server for its health.
func (p grpcProber) Probe(host, service string, port int, timeout time.Duration, options grpcprobe.ProbeOptions) (probe.Result, string, error) {
	if err := p.check(host, port); err != nil {
		return probe.Failure, err.Error(), nil
	}
	return p.Prober.Probe(host, service, port, timeout, options)
}
