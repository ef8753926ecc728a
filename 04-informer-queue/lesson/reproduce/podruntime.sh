# Runs podruntime with an output that cannot be written, until it has logged four lines, or for five
# seconds. It prints what was logged.
. 04-informer-queue/lesson/reproduce/common.sh
clean() { kubectl delete pod bell --now; }
four() { [ "$(lines . "$dir/log")" -ge 4 ]; }
go -C 04-informer-queue build -o "$dir/" ./podruntime
kubectl run bell --image=busybox --restart=Never -- sleep 3600 > /dev/null
kubectl wait --for=condition=Ready --timeout=2m pod/bell > /dev/null
"$dir/podruntime" -listen= 1< /dev/null 2> "$dir/log" &
pids=$!
soon grep . "$dir/log"
within 5 four || true
sed 's/^[^ ]* \([^ ]*\) .*\] /\1 /' "$dir/log" | head -n 4
