#!/bin/sh
# The operator has a repository, with the pipeline in it.
cd "$(dirname "$0")/../../.." || exit 1

for file in cmd/manager/main.go chart/Chart.yaml pipeline.sh smoke.sh .github/workflows/pipeline.yml; do
	if ! git -C ../bin/mine ls-files --error-unmatch "$file" >/dev/null 2>&1; then
		echo "the repository ../bin/mine doesn't have $file yet: copy it as the step does, and commit it"
		exit 1
	fi
done
echo done
