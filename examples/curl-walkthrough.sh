#!/usr/bin/env bash
# What can I do with curl? Creates a queue, publishes a job and sees it arrive;
# then the downstream says "not now", and the gate goes from held over probing to
# open.
#
#   examples/curl-walkthrough.sh build/tidegate
#
# Each call is printed before it is made.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=${1-${TIDEGATE-build/tidegate}}
scratch=$(mktemp -d)
TIDEGATE_API_KEY=sq_live_$(od -An -N20 -tx1 /dev/urandom | tr -d ' \n')
export TIDEGATE_API_KEY
children=()

clean_up() {
  kill "${children[@]}" 2>/dev/null || true
  wait
  rm -rf "$scratch"
}
trap clean_up EXIT

fail() {
  echo "walkthrough: $*" >&2
  exit 1
}

# start NAME COMMAND...: runs it in the background until the end; sets `address`
# to where it listens.
start() {
  local name=$1
  shift
  : >"$scratch/$name"
  "$@" >>"$scratch/$name" &
  children+=($!)
  local tries
  for tries in {1..100}; do
    address=$(sed -n 's/^listening //p' "$scratch/$name")
    [ -z "$address" ] || return 0
    kill -0 "${children[-1]}" 2>/dev/null || fail "$name ended at once"
    sleep 0.1
  done
  fail "$name does not listen after $tries tries"
}

# call METHOD PATH [BODY]: shows the call, makes it, shows and keeps the answer.
call() {
  local body=() shown=
  if [ $# -eq 3 ]; then
    body=(-d "$3")
    shown=" -d '$3'"
  fi
  printf '\n$ curl -X %s %s%s%s\n' "$1" "$url" "$2" "$shown"
  answer=$(curl -sS --fail-with-body -X "$1" "$url$2" "${body[@]}" \
    -H "authorization: Bearer $TIDEGATE_API_KEY") || fail "$answer"
  printf '%s\n' "$answer"
}

# await PATH TEXT: asks until the answer contains the text.
await() {
  local tries
  for tries in {1..100}; do
    answer=$(curl -sS "$url$1" -H "authorization: Bearer $TIDEGATE_API_KEY")
    [[ $answer != *"$2"* ]] || break
    sleep 0.1
  done
  [[ $answer == *"$2"* ]] || fail "no $2 after $tries tries: $answer"
  printf '\n$ curl %s%s\n%s\n' "$url" "$1" "$answer"
}

publish() {
  call POST /v1/queues/mail/jobs "$1"
  id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' <<<"$answer")
}

start receiver node "$here/receiver.mjs" 0
receiver=$address
start server "$binary" serve --listen 127.0.0.1:0 --data "$scratch/data" \
  --allow-target 127.0.0.0/8 --log-level error
url=$address

echo "A queue points at one webhook."
call POST /v1/queues "{\"name\":\"mail\",\"webhookUrl\":\"$receiver/\"}"

echo
echo "A job is stored before it is answered, and arrives."
publish '{"payload":{"to":"a@b.com"}}'
await "/v1/jobs/$id" '"status":"completed"'
grep -F 'a@b.com' "$scratch/receiver" || fail "nothing arrived"

echo
echo "The downstream says \"not now, in 2 seconds\": the whole queue is held."
curl -sS -X POST "$receiver/answer?status=429&retryAfter=2"
publish '{"payload":{"to":"c@d.com"}}'
await /v1/queues/mail '"state":"held"'
publish '{"payload":{"to":"e@f.com"}}'

echo
echo "A job that waits says what it waits for."
await "/v1/jobs/$id" '"gate":"hold"'

echo
echo "The downstream recovers. One probe goes out, and the queue opens."
curl -sS -X POST "$receiver/answer?status=200"
await "/v1/jobs/$id" '"status":"completed"'
await /v1/queues/mail '"state":"open"'

echo
echo "What arrived, in order:"
grep '^delivery' "$scratch/receiver"
