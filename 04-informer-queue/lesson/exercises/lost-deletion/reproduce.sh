#!/bin/sh
# Lets a command fail while its ConfigMap is deleted, under observe. Run it at the top of the
# exercise's copy, with the lab up.
. 04-informer-queue/lesson/reproduce/common.sh
clean() { kubectl delete configmap bell --ignore-not-found; }
go -C 04-informer-queue/observe build -o "$dir/" .
cat > "$dir/apply.sh" << 'END'
#!/bin/sh
kubectl delete configmap "$2"
sleep 1
exit 1
END
chmod +x "$dir/apply.sh"
cd "$dir"
./observe configmaps -l app=bell --listen-addr= --delete echo -- ./apply.sh > log 2>&1 &
pids=$!
soon grep 'Sync ended' log
echo '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bell", "labels": {"app": "bell"}}}' | kubectl create -f - > /dev/null
soon grep 'trying again later' log
within 5 grep 'Deleted' log || echo "# five seconds later no command has run for the deletion" >> log
grep -v Sync log | sed 's/^E[^]]*\] //'
