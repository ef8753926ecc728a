#!/bin/sh
# Signs an image that is in a registry, and verifies what somebody else has signed:
#
#	release.sh sign IMAGE REVISION PRIVATE.PEM SBOM
#	release.sh verify IMAGE REVISION PUBLIC.PEM
#
# IMAGE is an image by digest, and REVISION the commit that it was built from. Two texts are signed: the payload says
# which image this is, and the statement from what it was built. Both follow from the arguments. So verify writes them
# itself, and believes nothing that a registry sends but what this key has signed. The formats are those of cosign.
# openssl signs, and oras speaks to the registry: bin/oras, or the program in ORAS. A registry has RELEASE_TIMEOUT seconds
# for each answer.
set -eu
fail() { echo "release.sh: $1" >&2; exit 1; }

test $# -ge 4 || fail "it needs what to do, an image, a commit and a key: release.sh verify IMAGE REVISION PUBLIC.PEM"
command=$1 image=$2 revision=$3 key=$4
repository=${image%@*} hex=${image##*@sha256:}
expr "$image" : '[^@]*/[^@]*@sha256:[0-9a-f]\{64\}$' >/dev/null ||
	fail "\"$image\" is no image by digest; write one such as registry.example.com/cnat-manager@sha256:..."
expr "$revision" : '[0-9a-f]\{40\}$' >/dev/null ||
	fail "\"$revision\" is no commit; commit your changes, and build the image again"
test -r "$key" || fail "$key is no key that can be read"
key=$(cd "$(dirname "$key")" && pwd)/$(basename "$key")
# To a loopback address it speaks HTTP, and HTTPS to all others.
case $image in 127.0.0.1:* | localhost:*) http=--plain-http ;; *) http= ;; esac
oras=${ORAS:-$(cd "$(dirname "$0")" && pwd)/bin/oras}
test -x "$oras" || fail "there is no program $oras; build it: go -C ../tools/pinned/oras build -o \"\$PWD/bin/\" oras.land/oras/cmd/oras"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT

# registry is oras with a deadline, which it has not itself.
registry() (
	"$oras" "$@" &
	trap 'kill $! 2>/dev/null; exit 130' INT # what runs in the background does not get Ctrl-C
	tenths=0
	while kill -0 $! 2>/dev/null; do
		if [ $tenths -ge $((${RELEASE_TIMEOUT:=120} * 10)) ]; then
			echo "the registry has not answered for $RELEASE_TIMEOUT seconds" >&2
			kill $!
			exit 1
		fi
		tenths=$((tenths + 1))
		sleep 0.1
	done
	wait $!
)

bom=application/vnd.cyclonedx+json
statement=application/vnd.in-toto+json

# payload is what a signature of the image is of.
payload() {
	printf '{"critical":{"identity":{"docker-reference":"%s"},"image":{"docker-manifest-digest":"sha256:%s"},"type":"cosign container image signature"},"optional":null}' \
		"$repository" "$hex"
}

# provenance is a statement about the image, whose SBOM has the digest $1. The names in it are addresses by convention:
# nothing has to answer there. The builder is the machine of a developer, who has the key.
provenance() {
	source=https://example.com/hacking-a-controller
	printf '{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"%s","digest":{"sha256":"%s"}}],"predicateType":"https://slsa.dev/provenance/v1","predicate":{' "$repository" "$hex"
	printf '"buildDefinition":{"buildType":"%s/06-shipping/tools/image@v1","externalParameters":{},"resolvedDependencies":[{"uri":"git+%s","digest":{"gitCommit":"%s"}}]},' "$source" "$source" "$revision"
	printf '"runDetails":{"builder":{"id":"%s/builders/workstation"},"byproducts":[{"name":"SBOM","mediaType":"%s","digest":{"sha256":"%s"}}]}}}' "$source" "$bom" "$1"
}

# envelope is what a signature of the statement in the file $1 is of: DSSE. The lengths keep somebody from moving a byte
# from the type to the statement.
envelope() { printf 'DSSEv1 %d %s %d ' ${#statement} $statement "$(($(wc -c <"$1")))"; cat "$1"; }

# signature signs the file $1.
signature() { openssl dgst -sha256 -sign "$key" "$1" | openssl base64 -A; }

# matches is whether the key has signed the file $2 with the signature in the file $1.
matches() { openssl dgst -sha256 -verify "$key" -signature "$1" "$2" >/dev/null 2>&1; }

# attach uploads the file $2 of the type $3 as something of the kind $1 that belongs to the image. The signature $4 is
# an annotation. cosign finds it by a tag that ends in $5.
attach() {
	printf '{"%s":{"dev.cosignproject.cosign/signature":"%s"}}' "$2" "$4" >annotations.json
	printf '{}' >config.json # its type says the kind once more, because registries take one or the other
	attached=$(registry attach $http --artifact-type="$1" --config="config.json:$1" --annotation-file=annotations.json --format=go-template --template='{{.digest}}' "$image" "$2:$3" 2>problem) ||
		fail "attaching the $2 to $image: $(head -n 1 problem)"
	test -z "$5" || registry tag $http "$repository@$attached" "sha256-$hex.$5" >/dev/null
}

# layer prints the digest of the only layer of the manifest $1.
layer() { registry manifest fetch $http "$repository$1" | sed 's/.*"layers":\[{[^}]*"digest":"sha256:\([0-9a-f]*\)".*/\1/'; }

case $command in
sign)
	test -r "${5:-}" || fail "which SBOM? It is the last argument"
	openssl pkey -in "$key" -noout 2>/dev/null || fail "$key is no private key; it takes one that openssl genpkey has made"
	registry manifest fetch $http --descriptor "$image" >/dev/null 2>"$work/problem" ||
		fail "$image is not in the registry, push it first: $(head -n 1 "$work/problem")"
	cp "$5" "$work/sbom.json"
	cd "$work" # oras wants names without folders
	payload >payload.json
	provenance "$(openssl dgst -sha256 -r sbom.json | cut -d ' ' -f 1)" >statement.json
	envelope statement.json >signed
	printf '{"payloadType":"%s","payload":"%s","signatures":[{"keyid":"","sig":"%s"}]}' \
		$statement "$(openssl base64 -A -in statement.json)" "$(signature signed)" >envelope.json
	attach $bom sbom.json $bom '' ''
	attach application/vnd.dev.cosign.artifact.att.v1+json envelope.json application/vnd.dsse.envelope.v1+json '' att
	attach application/vnd.dev.cosign.artifact.sig.v1+json payload.json application/vnd.dev.cosign.simplesigning.v1+json "$(signature payload.json)" sig
	echo "signed $image"
	;;
verify)
	openssl pkey -pubin -in "$key" -noout 2>/dev/null || fail "$key is no public key"
	cd "$work"
	registry manifest fetch $http "$repository:sha256-$hex.sig" >sig.json 2>problem || fail "$image has no signature: $(head -n 1 problem)"
	sed 's/.*"dev.cosignproject.cosign\/signature":"\([^"]*\)".*/\1/' sig.json | openssl base64 -d -A >sig
	payload >payload.json
	matches sig payload.json || fail "$image has a signature, but not one of this image by this key"

	att=$(layer ":sha256-$hex.att" 2>problem)
	registry blob fetch $http --output=envelope.json "$repository@sha256:$att" >/dev/null 2>>problem ||
		fail "$image has no provenance: $(head -n 1 problem)"
	sed 's/.*"sig":"\([^"]*\)".*/\1/' envelope.json | openssl base64 -d -A >att
	# A scanner may read any SBOM that is attached, and who may push may attach one. So each has to be the one of the build.
	lists=$(registry discover $http --artifact-type=$bom --format=go-template --template='{{range .referrers}}{{.digest}} {{end}}' "$image" 2>problem) ||
		fail "looking for the SBOM of $image: $(head -n 1 problem)"
	test -n "$lists" || fail "$image has no SBOM"
	for list in $lists; do
		list=$(layer "@$list")
		provenance "$list" >statement.json
		envelope statement.json >signed
		matches att signed || fail "$image has no provenance by this key that names the commit $revision and the SBOM $list"
		registry blob fetch $http --output=sbom.json "$repository@sha256:$list" >/dev/null 2>problem ||
			fail "reading the SBOM of $image: $(head -n 1 problem)"
	done
	echo "verified $image, built from $revision, with the SBOM $list"
	;;
*) fail "\"$command\" is nothing that it does; it signs, and verifies" ;;
esac
