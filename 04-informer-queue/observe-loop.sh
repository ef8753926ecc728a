kubectl get services -n quay --watch --output-watch-events -o 'jsonpath={.type} {.object.metadata.name}{"\n"}' "$@" |
while read -r event name; do
  echo "$event $name"
done
echo "the loop has ended"
