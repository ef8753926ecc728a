# Written by workshop lesson build. It runs in the reader's own shell, so it neither ends
# that shell nor fails. It waits for background.sh, half an hour at most. The checks write
# into the terminal that it runs in.
tty > /tmp/workshop.terminal || rm -f /tmp/workshop.terminal
echo 'Preparing stage 6/pipeline. This takes some minutes.'
told=
waited=0
while [ ! -e /tmp/workshop.ended ] && [ "$waited" -lt 1800 ]; do
	doing=$(tail -n 1 /tmp/workshop.progress 2>/dev/null)
	if [ "$doing" != "$told" ]; then
		echo "  $doing"
		told=$doing
	fi
	sleep 1
	waited=$((waited + 1))
done
if [ "$(cat /tmp/workshop.ended 2>/dev/null)" = 0 ]; then
	. /root/hacking-a-controller/katacoda/node/env.sh
	cd /root/hacking-a-controller/06-shipping && echo 'Ready.'
else
	echo 'This node could not be made ready. Reload the page to get another. The last lines of /tmp/workshop.log:'
	tail -n 20 /tmp/workshop.log
fi
