package manager

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsServer serves the metrics over HTTPS, and only to a client that may read them:
// they show how many objects there are, and how busy their users.
func metricsServer(o Options) (metricsserver.Options, error) {
	return metricsserver.Options{
		BindAddress:   o.MetricsAddress,
		SecureServing: true,
		CertDir:       o.MetricsCertDir,
		TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.MinVersion = tls.VersionTLS12
			c.NextProtos = []string{"http/1.1"} // a scrape needs no HTTP/2, which has had its weaknesses
		}},
		FilterProvider: filterReaders(o.MetricsTokenFile), // of the metrics and of the profiles
		ExtraHandlers:  profiles(o),
	}, checkFiles(o)
}

// filterReaders lets through the requests of clients that may read. Without a file, the
// API server reviews the client's token, and whether it may get /metrics. That takes a
// right in the whole cluster. With a file, a client that presents its token may read.
func filterReaders(tokenFile string) func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	if tokenFile == "" {
		return filters.WithAuthenticationAndAuthorization
	}
	return func(*rest.Config, *http.Client) (metricsserver.Filter, error) {
		return func(log logr.Logger, metrics http.Handler) (http.Handler, error) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				token, err := readToken(tokenFile) // each time: secrets are replaced
				if err != nil {
					log.Error(err, "nobody can read the metrics")
					http.Error(w, "the token cannot be read", http.StatusInternalServerError)
					return
				}
				if !equal(r.Header.Get("Authorization"), "Bearer "+token) {
					http.Error(w, "Unauthorized", http.StatusUnauthorized)
					return
				}
				metrics.ServeHTTP(w, r)
			}), nil
		}, nil
	}
}

// checkFiles reads the files once, so that one that is missing is an error at the
// start. The framework would wait for a certificate, and log nothing.
func checkFiles(o Options) error {
	if o.MetricsTokenFile != "" {
		if _, err := readToken(o.MetricsTokenFile); err != nil {
			return fmt.Errorf("%w; correct --metrics-token-file", err)
		}
	}
	if o.MetricsCertDir != "" {
		if _, err := tls.LoadX509KeyPair(filepath.Join(o.MetricsCertDir, "tls.crt"), filepath.Join(o.MetricsCertDir, "tls.key")); err != nil {
			return fmt.Errorf("reading the certificate for metrics: %w; correct --metrics-cert-dir", err)
		}
	}
	return nil
}

func readToken(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the token of those who may read metrics: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", errors.New("the token of those who may read metrics is empty")
	}
	return token, nil
}

// equal takes as long whatever differs, so that nobody can guess a token byte by byte.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
