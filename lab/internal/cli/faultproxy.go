package cli

import (
	"context"
	"log/slog"
	"net/url"
	"path/filepath"

	"example.com/hacking-a-controller/lab/internal/faults"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/logfile"
	"example.com/hacking-a-controller/lab/internal/pki"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/verbs"
)

// requestsLog is the log of what programs asked for that `lab run` has started.
const requestsLog = "requests"

// place is where the verbs find the running lab.
func (a *app) place() (verbs.Place, error) {
	l, err := a.running()
	if err != nil {
		return verbs.Place{}, err
	}
	faulty := l.Kubeconfig(pki.FaultProxy)
	s, err := settings.Load(l.Settings())
	return verbs.Place{
		Socket:     l.FaultsSocket(),
		Faulty:     func() (string, error) { return faulty, ownContext(faulty) },
		Kubeconfig: l.AdminKubeconfig(),
		Context:    pki.Context,
		Etcd:       faults.Etcd{Address: s.Address(settings.Etcd), CA: l.Cert(pki.EtcdCA), Cert: l.Cert(pki.EtcdClient), Key: l.Key(pki.EtcdClient)},
	}, err
}

// runFaultProxy stands between the API server and the programs that `lab run` starts.
func runFaultProxy(ctx context.Context, l layout.Layout, s settings.Settings, log *slog.Logger) {
	requests := logfile.Rotating(l.Log(requestsLog))
	defer requests.Close()
	_, _ = requests.Write(nil) // makes the file, for lab logs requests -f
	keepRunning(ctx, log, "fault proxy", func(ctx context.Context) error {
		return faults.Run(ctx, faults.Options{
			Address: s.Address(settings.FaultProxy),
			Server:  &url.URL{Scheme: "https", Host: s.Address(settings.APIServer)},
			Socket:  filepath.Base(l.FaultsSocket()), // the supervisor works in the lab's folder
			Credentials: faults.Credentials{
				CA:          l.Cert(pki.CA),
				ServingCert: l.Cert(pki.APIServer), ServingKey: l.Key(pki.APIServer),
				FrontProxyCert: l.Cert(pki.FrontProxyClient), FrontProxyKey: l.Key(pki.FrontProxyClient),
			},
			Requests: requests,
		})
	})
}
