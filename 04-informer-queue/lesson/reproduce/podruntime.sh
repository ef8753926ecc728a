# Runs podruntime for five seconds with an output that cannot be written, and prints its log.
set -eu
dir=$(mktemp -d)
trap 'kubectl delete pod bell --now > /dev/null; rm -r "$dir"' EXIT
go -C 04-informer-queue build -o "$dir/" ./cmd/podruntime
kubectl run bell --image=busybox --restart=Never -- sleep 3600 > /dev/null
kubectl wait --for=condition=Ready pod/bell > /dev/null
"$dir/podruntime" --listen-addr= 1< /dev/null 2> "$dir/log" & program=$!
sleep 5
kill $program
sed 's/^[^ ]* \([^ ]*\) .*\] /\1 /' "$dir/log" | head -n 10
