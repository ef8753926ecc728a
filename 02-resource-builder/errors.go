package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// explainEach takes apart what a visit has put together, errors of lists of
// errors, and explains each. Nothing is said twice: a hundred objects of an
// unknown type are one thing to repair.
func (c cluster) explainEach(err error) []error {
	if err == nil {
		return nil
	}
	var explained []error
	seen := map[string]bool{}
	for _, err := range utilerrors.Flatten(utilerrors.NewAggregate([]error{err})).Errors() {
		err = c.explain(err)
		if !seen[err.Error()] {
			seen[err.Error()] = true
			explained = append(explained, err)
		}
	}
	return explained
}

// explain turns an error into a sentence that says what went wrong and what to
// do next. There are three families: the server answered and said no; no answer
// came; or cli-runtime could not make a request of the arguments or the file.
func (c cluster) explain(err error) error {
	typed, unknown := unknownType(err)
	switch {
	case apierrors.ReasonForError(err) != "":
		return explainAnswer(err, c.server)
	case unknown:
		return suggest(err, typed, c.api)
	default:
		if next := explainSilence(err, c.server); next != nil {
			return next
		}
		return explainInput(err)
	}
}

// explainAnswer is for what the server says. client-go returns that as a
// *StatusError, and the functions of apierrors ask it for its reason.
func explainAnswer(err error, server string) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept the credentials: they are wrong or have expired; log in again, or get a new kubeconfig (%w)", server, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; ask an administrator for that verb on that resource", err)
	case apierrors.IsNotFound(err):
		return explainNotFound(err)
	case apierrors.IsBadRequest(err):
		return fmt.Errorf("%w; correct -l or --field-selector (each kind has metadata.name and metadata.namespace, and few more)", err)
	case apierrors.IsResourceExpired(err):
		return fmt.Errorf("the server has forgotten the rest of the list; run the command again, or use --chunk-size=0 (%w)", err)
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return tooLate(server)
	default:
		return fmt.Errorf("%s: %w; see how the server is with kubectl get --raw /readyz", server, err)
	}
}

// explainNotFound tells an object that is not there from a type that is not.
// The second happens although discovery found it, for discovery may be a memory.
func explainNotFound(err error) error {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && answer.Status().Details != nil && answer.Status().Details.Name != "" {
		details := answer.Status().Details
		resource := schema.GroupResource{Group: details.Group, Resource: details.Kind}
		return fmt.Errorf("%w; see which there are: resource-builder %s -A --unstructured", err, resource)
	}
	return fmt.Errorf("%w; if the type was removed, discovery still remembers it: delete ~/.kube/cache/discovery", err)
}

// explainSilence is for errors of Go's own network packages: no answer came.
func explainSilence(err error, server string) error {
	var (
		network     net.Error
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
		transport   *url.Error
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return tooLate(server)
	case errors.As(err, &certificate):
		return fmt.Errorf("the certificate of %s is not trusted; get a new kubeconfig, or make sure that this is the right server (%w)", server, certificate.Err)
	case errors.As(err, &name):
		return fmt.Errorf("the host of %s was not found; check its name in the kubeconfig, and the network (%w)", server, name)
	case errors.As(err, &transport):
		return fmt.Errorf("%s cannot be reached; start the cluster, or choose another with --context or --kubeconfig (%w)", server, transport.Err)
	}
	return nil
}

// tooLate leaves out the cause. The deadline of one request can show in several
// ways, which would make several errors of one.
func tooLate(server string) error {
	return fmt.Errorf("%s did not answer in time; check that it is up, or give it longer with --request-timeout", server)
}

// explainInput is for what cli-runtime itself refuses. These errors have no
// types, only words. Our own errors come by here as well and stay as they are.
func explainInput(err error) error {
	// Some bring an advice of their own in a second line.
	line, _, _ := strings.Cut(err.Error(), "\n")
	for _, known := range []struct{ words, next string }{
		{"error parsing ", "correct the YAML there; what follows it in the file was not read"},
		{"unable to decode ", "each document needs apiVersion, kind and metadata.name"},
		{"no matches for kind ", "correct apiVersion and kind, or install its CustomResourceDefinition first"},
		{"unable to recognize ", "see how the server is with kubectl get --raw /readyz"},
		{"no namespace set on resource ", "set metadata.namespace, or use -n in place of -A"},
		{"recognized file extensions are ", "name the file itself, or search deeper with -R"},
		{"the path ", "correct -f"},
		{"arguments in resource/name form ", "write TYPE/NAME"},
		{"standard input cannot be used ", "write -f - only once"},
	} {
		if strings.Contains(line, known.words) {
			return fmt.Errorf("%s; %s", line, known.next)
		}
	}
	return err
}
