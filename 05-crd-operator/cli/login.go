package cli

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// loginTimeout is how long a login helper may take. Some open a browser, and wait for a person.
const loginTimeout = time.Minute

// Login runs the login helper of a kubeconfig, if it names one (users, exec). client-go keeps
// what the helper prints, and would otherwise run it within the first request, where no
// deadline can end it.
func Login(config *rest.Config) error { return login(config, loginTimeout) }

func login(config *rest.Config, limit time.Duration) error {
	if config.ExecProvider == nil {
		return nil
	}
	transport, err := config.TransportConfig()
	if err != nil {
		return fmt.Errorf("%w; correct users in the kubeconfig", err)
	}
	request, err := http.NewRequest(http.MethodGet, config.Host, nil) //nolint:noctx // nothing is sent
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := transport.WrapTransport(nowhere{}).RoundTrip(request) //nolint:bodyclose // there is none
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			return unreached(err, config.Host)
		}
		return nil
	case <-time.After(limit):
		return fmt.Errorf("the login helper %s did not end within %s; run it by hand to see what it waits for, then run this again", config.ExecProvider.Command, limit)
	}
}

// nowhere is a transport that sends nothing.
type nowhere struct{}

// RoundTrip is called when the helper has given credentials.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}
