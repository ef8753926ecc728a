#!/bin/sh
# Checks everything that needs no cluster: verify.sh MODULE-FOLDERS, run from the
# top of the repository. All checks run, and the last lines name those that
# failed and what to do.
set -u
failed=

# check NAME ADVICE COMMAND...
check() {
  name=$1 advice=$2
  shift 2
  echo "==> checking $name"
  if "$@"; then
    printf 'ok  \t%s\n' "$name"
  else
    printf 'FAIL\t%s\n' "$name"
    failed="$failed  $name: $advice
"
  fi
}

formatted() {
  files=$(gofmt -l $modules) && test -z "$files" || { echo "not formatted: $files" >&2; return 1; }
}

vetted() {
  for module in $modules; do
    # A module without Go code is only a list of versions.
    if [ -z "$(find "$module" -name '*.go' | head -n 1)" ]; then continue; fi
    go -C "$module" vet ./... || return 1
  done
}

tidy() {
  for module in $modules; do
    go -C "$module" mod tidy -diff || return 1
  done
}

# generated runs each generate.sh in a copy of its module and of what all are tested with, so
# that looking changes nothing.
generated() {
  copy=$(mktemp -d) && mkdir -p "$copy/tools/pinned" && cp -R tools/pinned/generate tools/pinned/kustomize "$copy/tools/pinned/" && cp -R testcluster "$copy/" || return 1
  for script in */generate.sh */*/generate.sh; do
    [ -f "$script" ] || continue # a stage's branch has not all of them
    module=$(dirname "$script")
    folder=$copy/$(dirname "$module")
    mkdir -p "$folder" && cp -R "$module" "$folder/" && sh "$copy/$script" && diff -r "$module" "$copy/$module" || { rm -rf "$copy"; return 1; }
  done
  rm -rf "$copy"
}

# known compares the modules that git knows with those that make tests.
known() {
  found=" $(sh tools/scripts/modules.sh | tr '\n' ' ') "
  for module in $(git ls-files '*go.mod' ':!*/testdata/*' | sed 's#/go.mod$##'); do
    case "$found" in
    *" $module "*) ;;
    *) echo "make test does not find the module $module: see tools/scripts/modules.sh" >&2; return 1 ;;
    esac
  done
}

# hashed wants tests that start programs of the lab to read the hash of those, by
# themselves or in the helpers that they import: of its API server, or in an e2e of the whole lab.
hashed() {
  for package in $(grep -rl 'Getenv("KUBEBUILDER_ASSETS")' --include='*.go' [0-9]* lab testcluster | xargs -n 1 dirname | sort -u); do
    grep -qE 'Getenv\("(TEST|LAB)_INPUTS"\)|/(testcluster|internal/testenv|internal/testpostgres)"' "$package"/*.go || { echo "$package asks for KUBEBUILDER_ASSETS and reads no TEST_INPUTS: see tools/cmd/inputs" >&2; return 1; }
  done
  for package in $(git ls-files '*/e2e/*_test.go' | xargs -n 1 dirname | sort -u); do
    grep -q 'Getenv("KUBEBUILDER_ASSETS")' "$package"/*.go || continue
    grep -qE 'Getenv\("LAB_INPUTS"\)|/internal/labtest"' "$package"/*.go || { echo "$package starts labs and doesn't read LAB_INPUTS: see tools/cmd/inputs" >&2; return 1; }
  done
}

# heavy wants each line of the lists of tests to name a package that has tests.
heavy() {
  sed 's/#.*//' tools/heavy-tests.txt tools/unraced-tests.txt | while read -r module package; do
    if [ -z "$module" ] || [ ! -d "$module" ]; then continue; fi # a stage's branch has not all of them
    ls "$module/$package"/*_test.go >/dev/null || return 1
  done
}

# patches wants those of lessons and exercises to fit the code, but for those that fit what another one
# makes of it. make prove finds that, too, an hour later.
patches() {
  wrong=
  for patch in $(git ls-files '*/lesson/*.patch' ':!*/steps/*' ':!*tries/*'); do
    git apply --check "$patch" || wrong="$wrong $patch"
  done
  test -z "$wrong" || { echo "not of this code:$wrong" >&2; return 1; }
}

# scripts are read by the shell, and by shellcheck, where it is. Templates become scripts in
# katacoda/.
scripts() {
  bash -n .ci/run || return 1
  for script in $(git ls-files "*.sh"); do
    sh -n "$script" || return 1
  done
  if ! command -v shellcheck >/dev/null; then
    echo "LEFT OUT: shellcheck, which is not installed: apt-get install shellcheck, or brew install shellcheck" >&2
    test -z "${CI:-}"
    return
  fi
  git ls-files -z '*.sh' ':!katacoda/templates' | xargs -0 shellcheck --shell=sh && shellcheck .ci/run .github/bin/await
}

# pinned wants the digest of each action in a workflow, and its version as a comment: a tag
# can be moved. An action of our own has neither.
pinned() {
  ! grep -n 'uses: ' .github/workflows/*.yml .github/actions/*/action.yml 06-shipping/pipeline/*.yml | grep -vE 'uses: ([^@ ]+@[0-9a-f]{40} # v[0-9.]+|\./.*)$'
}

# marked wants what tools have written to be marked in .gitattributes.
marked() {
  unmarked=$(git grep -lE '^(//|#) (Code generated .* DO NOT EDIT|Written by workshop)|^    controller-gen.kubebuilder.io/version: ' -- ':!katacoda/templates' ':!*/testdata/*' |
    git check-attr --stdin linguist-generated | grep -v ': set$')
  test -z "$unmarked" || { echo "not marked: $unmarked" >&2; return 1; }
}

modules=$*
check "format" "run: make fmt" formatted
check "go vet" "correct what it says above" vetted
check "golangci-lint" "correct what it says above, then: make lint" sh tools/scripts/lint.sh $modules
check "go mod tidy" "run: make tidy" tidy
check "generated files" "run: make generate" generated
check "lessons and scenarios" "run: make generate" go -C tools run ./workshop lesson build --check
check "pictures" "run: make generate" go -C tools run ./cmd/pictures --check ..
check "the book" "correct the links that it names" go -C tools run ./cmd/book ..
check "modules" "each is to be tested" known
check "hashes of what tests read" "read TEST_INPUTS where the API server is started" hashed
check "heavy tests" "correct tools/heavy-tests.txt, or tools/unraced-tests.txt" heavy
check "luck" "wait for a condition, or give the reason: see tools/cmd/luck" go -C tools run ./cmd/luck ..
check "versions" "see \"Raising a version\" in CONTRIBUTING.md" go -C tools run ./cmd/versions ..
check "growth" "grow the finished program out of its page; see tools/cmd/growth" go -C tools run ./cmd/growth ..
check "words" "write the word that it names" go -C tools run ./cmd/words ..
check "patches" "make them of today's code" patches
check "scripts" "correct what it says above" scripts
check "workflows" "write uses: OWNER/NAME@DIGEST # vVERSION" pinned
check "marks of generated files" "mark them in .gitattributes" marked

if [ -n "$failed" ]; then
  printf '\nThese checks failed:\n%s' "$failed" >&2
  exit 1
fi
echo "all checks passed"
