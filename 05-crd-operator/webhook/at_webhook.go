// Package webhook refuses new Ats in a namespace that is closed. The API server calls it
// before it stores an At. A rule in the CRD sees nothing but the At; this one needs its
// namespace. config/webhook/policy.yaml is the same rule without a program.
package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
)

// Closed is the annotation that closes a namespace for new Ats. Its value is the reason.
const Closed = "cnat.programming-kubernetes.info/closed"

// +kubebuilder:webhookconfiguration:mutating=false,name=cnat-closed-namespaces
// +kubebuilder:webhook:path=/validate-at,mutating=false,name=closed-namespaces.cnat.programming-kubernetes.info,groups=cnat.programming-kubernetes.info,resources=ats,verbs=create,versions=v1alpha1,failurePolicy=fail,timeoutSeconds=5,sideEffects=None,admissionReviewVersions=v1,serviceName=at-webhook,serviceNamespace=cnat-system
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// AtValidator refuses Ats in closed namespaces.
type AtValidator struct{ Client kubernetes.Interface }

// ValidateCreate reads the namespace live. If that fails, nobody knows whether it is
// closed, and the At is refused: an error here is an answer, whatever failurePolicy says.
func (v AtValidator) ValidateCreate(ctx context.Context, at *cnat.At) (admission.Warnings, error) {
	namespace, err := v.Client.CoreV1().Namespaces().Get(ctx, at.Namespace, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the namespace of the At: %w", err)
	}
	return nil, validate(namespace)
}

// validate returns why a namespace takes no new Ats, or nil.
func validate(namespace *corev1.Namespace) error {
	reason, closed := namespace.Annotations[Closed]
	if !closed {
		return nil
	}
	return fmt.Errorf(`the namespace %s takes no new Ats: its annotation %s says "%s"; create the At in another namespace, or remove the annotation`, namespace.Name, Closed, reason)
}

// ValidateUpdate is never called: the marker registers the webhook for create alone.
func (AtValidator) ValidateUpdate(context.Context, *cnat.At, *cnat.At) (admission.Warnings, error) {
	return nil, nil
}

// ValidateDelete is never called either.
func (AtValidator) ValidateDelete(context.Context, *cnat.At) (admission.Warnings, error) {
	return nil, nil
}

// Main is the program.
func Main() {
	var cluster cli.ConfigFlags
	var o webhook.Options
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError) // the framework has put one into the default set
	flags.StringVar(&cluster.Kubeconfig, "kubeconfig", "", cli.KubeconfigUsage)
	flags.IntVar(&o.Port, "port", webhook.DefaultPort, "the `port` to listen on")
	flags.StringVar(&o.CertDir, "cert-dir", "certs", "the `folder` with tls.crt and tls.key")
	selfSigned := flags.Bool("self-signed", false, "listen on 127.0.0.1 only, and make a certificate for it if -cert-dir has none")
	_ = flags.Parse(os.Args[1:]) // an error ends the program

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	ctrl.SetLogger(klog.Background())
	config, _, err := cluster.Load()
	if flags.NArg() > 0 {
		err = fmt.Errorf("%q isn't a flag, and all flags after it would be ignored", flags.Arg(0))
	}
	if err == nil && *selfSigned {
		o.Host = "127.0.0.1"
		err = selfSign(o.Host, o.CertDir)
	}
	if err == nil {
		err = Run(ctx, config, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// Run serves until the context ends.
func Run(ctx context.Context, config *rest.Config, o webhook.Options) error {
	config = rest.CopyConfig(config)
	config.Timeout = 5 * time.Second // the API server waits no longer for us
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	// A right that is missing shows now, and not when somebody creates an At.
	_, err = client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	switch {
	case ctx.Err() != nil:
		return nil // interrupted
	case err != nil:
		return cli.Explain(err, config.Host)
	}
	scheme := runtime.NewScheme()
	if err := cnat.AddToScheme(scheme); err != nil {
		return err
	}
	if err := checkCertificate(o); err != nil {
		return err
	}
	// A renewed certificate is in use from the next handshake on. Without this, the
	// framework watches the files, which takes one of the few inotify instances of a user.
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return load(o.CertDir) }
	o.TLSOpts = append(o.TLSOpts, func(c *tls.Config) { c.GetCertificate = load })
	server := webhook.NewServer(o)
	server.Register("/validate-at", admission.WithValidator(scheme, AtValidator{client}))
	if err := server.Start(ctx); err != nil {
		return fmt.Errorf("serving: %w; choose another port with --port", err)
	}
	return nil
}

func load(dir string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	return &pair, err
}

// checkCertificate looks at what may have been lying there for a year. The API server would
// refuse every At, and only there would it say why.
func checkCertificate(o webhook.Options) error {
	pair, err := load(o.CertDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("loading the certificate: %w; name its folder with --cert-dir, or make one with --self-signed", err)
	case err == nil && time.Now().After(pair.Leaf.NotAfter):
		err = fmt.Errorf("%s expired at %s", filepath.Join(o.CertDir, "tls.crt"), pair.Leaf.NotAfter.Format(time.RFC3339))
	}
	if err != nil {
		return unusable(err, o.CertDir)
	}
	return nil
}

func unusable(err error, dir string) error {
	return fmt.Errorf("the certificate cannot be used: %w; remove tls.crt and tls.key in %s, make others, for example with --self-signed, and register the webhook with the new caBundle", err, dir)
}

// selfSign makes a certificate for a host, unless there is one. What is there is kept,
// whatever it is: the API server has its caBundle, and checkCertificate says what is wrong.
func selfSign(host, dir string) error {
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	found, err := cert.CanReadCertAndKey(certFile, keyFile)
	switch {
	case err != nil: // one of the two files is there, or cannot be read
		return unusable(err, dir)
	case found:
		return nil
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return err
	}
	return errors.Join(keyutil.WriteKey(keyFile, key), cert.WriteCert(certFile, certificate))
}
