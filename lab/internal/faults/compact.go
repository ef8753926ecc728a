package faults

import (
	"context"
	"crypto/tls"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// expiredKey is written so that there is a version that no client has read. The API server's keys
// begin with /registry.
const expiredKey = "/lab/expired"

// Etcd says where etcd is, and who may call it. CA, Cert and Key are paths to PEM files.
type Etcd struct{ Address, CA, Cert, Key string }

// Compact makes etcd forget all versions but the newest, which it returns.
//
// That alone would be seen by few: the API server answers a watch from its watch cache, which
// remembers events that etcd has forgotten, until it has too many, or starts again. A fault of
// kind [Expire] does the rest.
func Compact(ctx context.Context, etcd Etcd) (version uint64, err error) {
	authority, err := loadAuthority(etcd.CA)
	if err != nil {
		return 0, err
	}
	certificate, err := tls.LoadX509KeyPair(etcd.Cert, etcd.Key)
	if err != nil {
		return 0, err
	}
	client, err := clientv3.New(clientv3.Config{
		Context:   ctx,
		Endpoints: []string{etcd.Address},
		TLS:       &tls.Config{RootCAs: authority, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		Logger:    zap.NewNop(), // an error says it, too
	})
	if err != nil {
		return 0, fmt.Errorf("connecting to etcd: %w", err)
	}
	defer client.Close()
	put, err := client.Put(ctx, expiredKey, "")
	if err != nil {
		return 0, fmt.Errorf("writing a version to etcd: %w", err)
	}
	newest := put.Header.Revision
	if _, err := client.Compact(ctx, newest); err != nil {
		return 0, fmt.Errorf("compacting etcd: %w", err)
	}
	return uint64(newest), nil
}
