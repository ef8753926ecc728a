// Package oci makes images without Docker: that of a member here, and that of the manager in stage 6.
//
//	compile.go    a static program, in which nothing says where it was compiled
//	image.go      files as layers, and what a node has to know to run them
//	archive.go    the images for one or more platforms, as one tar file that nodes, registries' tools and the lab take
//
// Nothing in an archive depends on the machine, the folder, the user or the hour: the same files and the same Go give the
// same digest, on any machine. The library go-containerregistry has the types of the format.
package oci
