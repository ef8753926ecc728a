#!/bin/sh
# Step 2: the operator has created a Deployment. It may be gone again, and its events are still there.
if [ -z "$(kubectl get events --field-selector involvedObject.name=eddystone,reason=ScalingReplicaSet -o name 2>/dev/null)" ]; then
	echo "there was no Deployment eddystone yet: solve create, and run your operator"
	exit 1
fi
echo done
