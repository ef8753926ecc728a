// Package proxy is a small kube-proxy in userspace: it listens at the node ports of
// Services, on 127.0.0.1 and with TCP only, and passes each connection on to a pod. So a
// program of the host reaches the pods behind a Service by one address, whichever pods
// these are at the moment.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

const loopback = "127.0.0.1"

// retryInterval is the pause before another try to listen at a port that was taken.
const retryInterval = time.Second

type proxy struct {
	services corelisters.ServiceLister
	pods     corelisters.PodLister
	events   record.EventRecorder
	log      *slog.Logger

	servers map[int32]*server // by node port
	refused map[int32]bool    // ports at which nobody can listen, which was said
}

// Run listens for the Services, and knows the pods of node, until ctx ends.
func Run(ctx context.Context, client kubernetes.Interface, node string, events record.EventRecorder, log *slog.Logger) error {
	ofServices := selecting(client, "spec.type", string(corev1.ServiceTypeNodePort))
	ofPods := selecting(client, "spec.nodeName", node)
	services, pods := ofServices.Core().V1().Services(), ofPods.Core().V1().Pods()
	p := &proxy{
		services: services.Lister(), pods: pods.Lister(), events: events, log: log,
		servers: map[int32]*server{}, refused: map[int32]bool{},
	}
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default: // one is waiting already
		}
	}
	for _, informer := range []cache.SharedIndexInformer{services.Informer(), pods.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { notify() },
			UpdateFunc: func(any, any) { notify() },
			DeleteFunc: func(any) { notify() },
		}); err != nil {
			return err
		}
	}
	defer p.close()
	for _, factory := range []informers.SharedInformerFactory{ofServices, ofPods} {
		factory.StartWithContext(ctx)
		defer factory.Shutdown()
		factory.WaitForCacheSyncWithContext(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	for {
		var retry <-chan time.Time
		if !p.sync() {
			retry = time.After(retryInterval)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-retry:
		}
	}
}

// selecting returns informers of the objects whose field has this value.
func selecting(client kubernetes.Interface, field, value string) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(field, value).String()
	}))
}

// sync makes the servers those of the Services. It reports whether all could listen.
func (p *proxy) sync() bool {
	services, err := p.services.List(labels.Everything())
	if err != nil {
		return false
	}
	wanted := map[int32]bool{}
	complete := true
	for _, service := range services {
		for _, port := range service.Spec.Ports {
			if port.NodePort == 0 || port.Protocol != corev1.ProtocolTCP {
				continue
			}
			wanted[port.NodePort] = true
			if !p.listen(service, port.NodePort) {
				complete = false
				continue
			}
			p.servers[port.NodePort].set(endpointsOf(service, port, p.selected(service)))
		}
	}
	for port, server := range p.servers {
		if !wanted[port] {
			server.close()
			delete(p.servers, port)
		}
	}
	maps.DeleteFunc(p.refused, func(port int32, _ bool) bool { return !wanted[port] })
	return complete
}

// selected returns the pods of the Service. Without a selector it has none.
func (p *proxy) selected(service *corev1.Service) []*corev1.Pod {
	if len(service.Spec.Selector) == 0 {
		return nil
	}
	pods, _ := p.pods.Pods(service.Namespace).List(labels.SelectorFromSet(service.Spec.Selector))
	return pods
}

// listen listens at a port, unless that is done, and says once if it cannot be done.
func (p *proxy) listen(service *corev1.Service, port int32) bool {
	if p.servers[port] != nil {
		return true
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(int(port))))
	if err == nil {
		p.servers[port] = serve(listener)
		delete(p.refused, port)
		return true
	}
	if !p.refused[port] {
		p.refused[port] = true
		if errors.Is(err, syscall.EADDRINUSE) {
			err = errors.New("another program has it (end that program, or choose another nodePort)")
		}
		message := fmt.Sprintf("Nobody listens for this Service on port %d of %s: %v", port, loopback, err)
		p.events.Event(service, corev1.EventTypeWarning, "FailedToListen", message)
		p.log.Warn(message, "service", service.Namespace+"/"+service.Name)
	}
	return false
}

func (p *proxy) close() {
	for _, server := range p.servers {
		server.close()
	}
}
