#!/bin/sh
# Says in one line whether this machine is ready for the workshop, to paste into a chat, and what to
# do where it isn't: ready.sh, run from the top of the repository. Without a lab that runs it starts
# one of its own, which is gone afterwards.
set -u
line='' advice='' lacks=''

# found TEXT adds to the line; lacking WHAT TEXT ADVICE does, too, and the machine isn't ready.
found() { line="$line · $1"; }
lacking() {
  found "NO $2"
  lacks="$lacks $1"
  advise "$1: $3"
}
advise() { advice="$advice
  $1"; }

# enough WHAT HAVE NEED ADVICE wants some GB of something.
enough() {
  if [ "${2:-$3}" -ge "$3" ]; then found "$1 ${2:-?} GB"; else lacking "$1" "$1 $2 GB" "$4"; fi
}

memory=$(awk '/^MemTotal:/ { print int($2 / 1e6 + 0.5) }' /proc/meminfo 2>/dev/null || sysctl -n hw.memsize 2>/dev/null | awk '{ print int($1 / 1e9) }')
disk=$(df -Pk . | awk 'NR == 2 { for (i = 2; i <= NF; i++) if ($i ~ /%$/) print int($(i - 1) / 1e6) }')
found "$(uname -s)/$(uname -m)"
cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo '?')
load=$(LC_ALL=C uptime 2>/dev/null | sed -n 's/.*load averages*: *\([0-9]*\).*/\1/p')
found "$cpus CPUs, load ${load:-?}"
enough memory "$memory" 7 "8 GB are needed: close the browser; if the lab isn't built yet, GOFLAGS=-p=1 make lab"
if [ -x lab/bin/lab ]; then needed=5; else needed=15; fi
enough disk "$disk" "$needed" "$needed GB must be free: empty the bin, or move the clone to another disk"

if words=$(sh tools/scripts/preflight.sh 1000 2>&1); then found "$(go env GOVERSION)"; else lacking Go Go "$words"; fi

case $(basename "${SHELL:-none}") in
bash | zsh) found "$(basename "$SHELL")" ;;
*) lacking shell "${SHELL:-no shell}" "the lessons are for bash and zsh; in each terminal, run first: bash" ;;
esac

# The lessons open these ports.
if command -v curl >/dev/null; then
  taken=
  for port in $(find [0-9]* -name README.md -exec grep -ohE '(127\.0\.0\.1:|--port[= ])[0-9]{4}([^0-9]|$)' {} + 2>/dev/null | tr -cs '0-9' '\n' | grep -E '^[0-9]{4}$' | sort -u); do
    code=0
    curl --noproxy '*' -so /dev/null --max-time 1 "http://127.0.0.1:$port" || code=$?
    [ $code = 7 ] || taken="$taken $port" # 7: nothing listens there
  done
  if [ -z "$taken" ]; then found "ports free"; else lacking ports "ports$taken" "something listens at$taken: lsof -i :PORT shows what; end it"; fi
else
  lacking curl "curl" "install curl"
fi

if command -v kubectl >/dev/null && context=$(kubectl config current-context 2>/dev/null) && [ "$context" != lab ]; then
  found "kubectl: $context"
  advise "kubectl: a new terminal talks to $context; in each one, before you type: eval \"\$(make -s env)\""
else
  found "kubectl: ${context:-no cluster}"
fi

if [ ! -x lab/bin/lab ]; then
  echo "The lab isn't built yet. That takes 5 to 15 minutes, once." >&2
  make --silent lab >&2
fi
if [ ! -x lab/bin/lab ]; then
  lacking lab lab "to see why it cannot be built: make lab"
elif status=$(lab/bin/lab status 2>&1); then
  found "lab runs"
elif [ "${status#*supervisor}" != "$status" ]; then
  lacking lab lab "it runs, but not all of it is healthy; to see what isn't: make lab-status"
else
  LAB_DIR=$(mktemp -d)/lab
  export LAB_DIR
  log=$LAB_DIR.log
  end() {
    lab/bin/lab reset >/dev/null 2>&1
    rm -rf "${LAB_DIR%/lab}"
  }
  trap end EXIT
  trap 'exit 130' INT TERM
  began=$(date +%s)
  if lab/bin/lab up >"$log" 2>&1 && up=$(date +%s) && lab/bin/lab down >>"$log" 2>&1; then
    found "lab up $((up - began)) s, down $(($(date +%s) - up)) s"
  elif [ "${load:-0}" -ge "$cpus" ] 2>/dev/null; then
    lacking lab lab "other programs take the cores: wait until they are done, or end what this shows: ps -Ao pcpu,pid,args | sort -rn | head -n 5; then again: make ready"
  else
    lacking lab lab "$(tail -n 1 "$log"); to see more: make lab-up"
  fi
fi

echo "ready: $(if [ -z "$lacks" ]; then echo yes; else echo "NO ($(echo "$lacks" | sed 's/^ //; s/ /, /g'))"; fi)$line"
if [ -n "$advice" ]; then echo "What to do:$advice" >&2; fi
test -z "$lacks"
