package main

import (
	"io/fs"
	"path"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"example.com/hacking-a-controller/05-crd-operator/postgres/oci"
)

// passwd names the users that programs of Kubernetes run as.
const passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"

// pack writes an image of one layer, which holds the program, to an archive. As in upstream's images, the user
// is root. Files of the layer have no times, so the same program makes the same image.
func pack(program, tag string, archive *oci.Archive) (size int64, err error) {
	entrypoint := path.Join("/usr/local/bin", filepath.Base(program))
	_, size, err = archive.Write(tag, oci.Image{
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Config:   v1.Config{Entrypoint: []string{entrypoint}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
		// The archive stays on this machine: to compress it takes longer than to write it.
		Layers: []oci.Layer{{Uncompressed: true, CreatedBy: "COPY " + filepath.Base(program) + " " + entrypoint, Files: map[string]oci.File{
			"/tmp":        {Mode: fs.ModeDir | fs.ModeSticky | 0o777},
			"/etc/passwd": {Text: passwd, Mode: 0o644},
			entrypoint:    {Source: program, Mode: 0o755},
		}}},
	})
	return size, err
}
