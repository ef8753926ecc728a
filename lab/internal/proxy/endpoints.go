package proxy

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/endpointslice"
	"k8s.io/kubernetes/pkg/api/v1/pod"
)

// endpoint is a port of a pod.
type endpoint struct {
	pod     types.UID
	address string // IP:port
}

// endpoints are those of one port of a Service. The value tells whether the endpoint
// takes new connections; one that does not keeps those that it has.
type endpoints map[endpoint]bool

// endpointsOf returns the endpoints of a port among the pods that the Service selects.
//
// It reads pods, not EndpointSlices, which hold no loopback addresses, so none of a pod of
// the lab unless root runs it. The conditions are those of an EndpointSlice: a pod that
// is ready serves; once it terminates, too, but no new clients.
func endpointsOf(service *corev1.Service, port corev1.ServicePort, selected []*corev1.Pod) endpoints {
	all := endpoints{}
	for _, p := range selected {
		number, err := endpointslice.FindPort(p, &port)
		if err != nil || p.Status.PodIP == "" || pod.IsPodTerminal(p) {
			continue
		}
		if pod.IsPodReady(p) || service.Spec.PublishNotReadyAddresses {
			all[endpoint{p.UID, net.JoinHostPort(p.Status.PodIP, strconv.Itoa(number))}] = p.DeletionTimestamp == nil
		}
	}
	return all
}
