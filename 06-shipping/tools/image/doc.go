// Package image builds the manager's image without Docker: a static program, which is the only file of the only layer.
// This is the equivalent of ../../Dockerfile, and of what ko does.
//
//   - command.go: the program and its flags, and what is in the image;
//   - commit.go: the commit and its time.
//
// Package oci of stage 5 compiles, and writes the archive: it makes the image of PostgreSQL, too. The same commit and the
// same Go give the same digest, on any machine. So anybody can verify that an image was built from the commit that it
// names.
package image
