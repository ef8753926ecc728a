// Package registry is a container registry on this machine, for the lessons: the API of
// the OCI distribution specification 1.1, served by go-containerregistry. It takes images,
// and artifacts of any media type, such as Helm charts.
//
// It has neither users nor TLS, so it listens on the loopback address only. Manifests and
// tags are in memory, and gone when it ends; blobs are too, unless they are kept in a
// folder. Do not use it for anything that has to last.
package registry
