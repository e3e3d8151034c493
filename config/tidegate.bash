# Completion of tidegate for bash: to be sourced, or installed as
# /usr/share/bash-completion/completions/tidegate. tests/config/api_commands.cpp
# compares the words with those that the program knows.

# Sets `words` to what may follow the command $1.
_tidegate_words() {
  case $1 in
    '') words='serve keys queues jobs dlq pull tail operations backup
      check-config version --help' ;;
    'serve') words='--help --config --listen --tls-cert --tls-key --data --threads
      --allow-target --dns-server --trusted-ca --max-in-flight --max-request-rate
      --max-body --drain-timeout --alert-url --alert-dead --alert-held
      --alert-depth --alert-age --alert-window --metrics-queues --publish-price
      --log-level --log-format' ;;
    'keys') words='create list revoke --help' ;;
    'keys create') words='--help --config --data --project --scopes --name
      --expires-at' ;;
    'keys list') words='--help --config --data --json' ;;
    'keys revoke') words='--help --config --data' ;;
    'queues') words='list show create update pause resume hold release delete
      --help' ;;
    'queues list') words='--help --limit --url --key --tls-ca --json' ;;
    'queues show') words='--help --url --key --tls-ca --json' ;;
    'queues create') words='--help --webhook-url --concurrency --mode --set
      --url --key --tls-ca --json' ;;
    'queues update') words='--help --set --url --key --tls-ca --json' ;;
    'queues pause') words='--help --url --key --tls-ca --json' ;;
    'queues resume') words='--help --url --key --tls-ca --json' ;;
    'queues hold') words='--help --reason --url --key --tls-ca --json' ;;
    'queues release') words='--help --limit-key --url --key --tls-ca --json' ;;
    'queues delete') words='--help --force --url --key --tls-ca --json' ;;
    'jobs') words='list show publish cancel run-now explain replay --help' ;;
    'jobs list') words='--help --status --limit-key --idempotency-key
      --reason --since --until --limit --url --key --tls-ca --json' ;;
    'jobs show') words='--help --url --key --tls-ca --json' ;;
    'jobs publish') words='--help --delay --run-at --priority
      --idempotency-key --limit-key --header --url --key --tls-ca --json' ;;
    'jobs cancel') words='--help --url --key --tls-ca --json' ;;
    'jobs run-now') words='--help --url --key --tls-ca --json' ;;
    'jobs explain') words='--help --url --key --tls-ca --json' ;;
    'jobs replay') words='--help --payload --url --key --tls-ca --json' ;;
    'dlq') words='list replay delete --help' ;;
    'dlq list') words='--help --reason --limit-key --since --until --limit
      --url --key --tls-ca --json' ;;
    'dlq replay') words='--help --reason --limit-key --since --until --id
      --limit --per-second --dry-run --no-wait --url --key --tls-ca --json' ;;
    'dlq delete') words='--help --reason --limit-key --since --until --all
      --url --key --tls-ca --json' ;;
    'pull') words='list show create update publish peek purge delete dlq redrive
      --help' ;;
    'pull list') words='--help --limit --url --key --tls-ca --json' ;;
    'pull show') words='--help --url --key --tls-ca --json' ;;
    'pull create') words='--help --type --set --url --key --tls-ca --json' ;;
    'pull update') words='--help --set --url --key --tls-ca --json' ;;
    'pull publish') words='--help --delay --priority --group --deduplication-id
      --idempotency-key --header --url --key --tls-ca --json' ;;
    'pull peek') words='--help --limit --url --key --tls-ca --json' ;;
    'pull purge') words='--help --url --key --tls-ca --json' ;;
    'pull delete') words='--help --force --url --key --tls-ca --json' ;;
    'pull dlq') words='--help --reason --since --until --limit --url --key
      --tls-ca --json' ;;
    'pull redrive') words='--help --reason --since --until --id --limit
      --per-second --dry-run --no-wait --url --key --tls-ca --json' ;;
    'tail') words='--help --queue --types --url --key --tls-ca --json' ;;
    'operations') words='list show cancel --help' ;;
    'operations list') words='--help --limit --url --key --tls-ca --json' ;;
    'operations show') words='--help --url --key --tls-ca --json' ;;
    'operations cancel') words='--help --url --key --tls-ca --json' ;;
    'backup') words='--help --config --data' ;;
    'check-config') words='--help' ;;
    'version') words='--help' ;;
  esac
}

# Sets `command` to the command that the words before the cursor begin with.
_tidegate_command() {
  command=
  [ "$COMP_CWORD" -gt 1 ] || return
  command=${COMP_WORDS[1]}
  case $command in
    keys | queues | jobs | dlq | pull | operations)
      [ "$COMP_CWORD" -le 2 ] || command+=" ${COMP_WORDS[2]}"
      ;;
  esac
}

_tidegate() {
  local current=${COMP_WORDS[COMP_CWORD]} command words=
  _tidegate_command
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    --config | --tls-ca | --tls-cert | --tls-key | --trusted-ca | backup | check-config)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --data)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    --status) words='pending processing awaiting_ack completed dead' ;;
    --mode) words='standard ack' ;;
    --alert-dead) words='on off' ;;
    --type) words='standard fifo' ;;
    --log-level) words='error warn info debug' ;;
    --log-format) words='json text' ;;
    *) _tidegate_words "$command" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _tidegate tidegate
