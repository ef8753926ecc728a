#!/bin/sh
# observe pods -a '{.status.containerStatuses[*].restartCount}' -- ./restarts.sh
# Prints the pods whose containers were restarted more than 100 times, all together.
sum=0
for count in $3; do
	sum=$((sum + count))
done
if test "$sum" -gt 100; then
	echo "pod $1/$2 was restarted $sum times"
fi
