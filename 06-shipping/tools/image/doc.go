// Package image builds the manager's image without Docker: it compiles a static program, makes it the only file of
// the only layer, and writes an archive that nodes, registries' tools and the lab take. This is the equivalent of
// ../../Dockerfile, and of what ko does.
//
//   - command.go: the program and its flags, and all of it, one after the other;
//   - compile.go: the program, which says nothing about where it was compiled, and the commit;
//   - image.go: the layer, and what a node has to know to run it;
//   - archive.go: an OCI layout, as one tar file.
//
// Nothing in the archive depends on the machine, the folder or the hour: the same commit and the same Go give the same
// digest, on any machine. So anybody can verify that an image was built from the commit that it names.
package image
