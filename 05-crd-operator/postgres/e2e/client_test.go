package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/postgres/certificate"
)

// session is a connection of a client to PostgreSQL.
type session struct {
	*pgconn.PgConn
	notice *pgconn.Notice // the last one that came
}

// dialer is what a client has to know.
type dialer struct {
	role, password, database string
	tls                      *tls.Config
}

// newDialer reads what a superuser has to know.
func (e *env) newDialer() dialer { e.Helper(); return e.newDialerOf("postgres", name, name) }

// newDialerOf reads the password in a Secret of a cluster, and its CAs, once they are there.
func (e *env) newDialerOf(role, cluster, secretName string) dialer {
	e.Helper()
	secret, bundle := &corev1.Secret{}, &corev1.ConfigMap{}
	for name, object := range map[string]client.Object{secretName: secret, cluster + "-ca": bundle} {
		eventually(e, "there is "+name, func() error {
			return e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: name}, object)
		})
	}
	config, err := certificate.ClientConfig([]byte(bundle.Data["ca.crt"]), cluster+"."+e.namespace+".svc")
	require.NoError(e, err)
	return dialer{role, string(secret.Data[corev1.BasicAuthPasswordKey]), "postgres", config}
}

// primaryAddress is where the Service of the primary is reached from outside of the cluster.
func (e *env) primaryAddress() string { e.Helper(); return e.addressOf(name) }

func (e *env) addressOf(name string) string {
	e.Helper()
	service := &corev1.Service{}
	require.NoError(e, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: name}, service))
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(service.Spec.Ports[0].NodePort)))
}

func (d dialer) config(address string) (*pgconn.Config, error) {
	// Values of the environment, as of PGHOST, are not meant.
	config, err := pgconn.ParseConfig("postgres://" + d.role + "@" + address + "/" + d.database + "?sslmode=disable&connect_timeout=2&application_name=client")
	if err != nil {
		return nil, err
	}
	config.Password, config.TLSConfig = d.password, d.tls
	return config, nil
}

func (d dialer) dial(ctx context.Context, address string) (*session, error) {
	config, err := d.config(address)
	if err != nil {
		return nil, err
	}
	s := &session{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.notice = n }
	if s.PgConn, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	return s, nil
}

// close ends the session, whatever became of it.
func (s *session) close() { _ = s.Close(context.Background()) }

// query runs a command, and returns its rows. What comes with a notice was not done as was asked:
// of a commit that was cancelled while it waited for a standby, PostgreSQL says that it is done,
// and warns.
func (s *session) query(ctx context.Context, command string) ([][]string, error) {
	s.notice = nil
	results, err := s.Exec(ctx, command).ReadAll()
	if err != nil {
		return nil, err
	}
	if s.notice != nil {
		return nil, fmt.Errorf("%s: %s", s.notice.Severity, s.notice.Message)
	}
	if len(results) == 0 {
		return nil, errors.New("no result")
	}
	var rows [][]string
	for _, values := range results[len(results)-1].Rows {
		row := make([]string, len(values))
		for i, value := range values {
			row[i] = string(value)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
