#!/bin/sh
# Lets a command fail while its ConfigMap is deleted, under observe. Run it at the top of the
# exercise's copy, with the lab up.
set -eu
dir=$(mktemp -d)
trap 'kubectl delete configmap bell --ignore-not-found > /dev/null; rm -r "$dir"' EXIT
go -C 04-informer-queue build -o "$dir/" ./cmd/observe
cat > "$dir/apply.sh" << 'END'
#!/bin/sh
kubectl delete configmap "$2"
sleep 1
exit 1
END
chmod +x "$dir/apply.sh"
cd "$dir"
./observe configmaps -l app=bell --listen-addr= --exit-after=6s --delete echo -- ./apply.sh > log 2>&1 &
observe=$!
until grep -qs 'Sync ended' log || ! kill -0 $observe; do sleep 0.2; done
echo '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bell", "labels": {"app": "bell"}}}' | kubectl create -f - > /dev/null
wait $observe || true
grep -v Sync log | sed 's/^E[^]]*\] //'
