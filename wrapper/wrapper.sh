#!/bin/sh
# Runs one attempt inside its job: claim → prepare → command → kill what it left → grade → record → linger.
# Call: EVERDICT_NONCE=<hex> [EVERDICT_ATTEMPT=<name>] /bin/sh wrapper.sh <payload directory> <state directory>
# Needs /proc, a POSIX shell and: sleep kill cat printf sed wc mkdir od mkfifo tee; git for a git environment.

# Only exec replaces /proc/<pid>/environ, so the nonce leaves the environment before anything else happens.
if [ -n "${EVERDICT_NONCE-}" ]; then
  [ ! -d "$2" ] || TMPDIR=$2 # where an old bash puts a here-document
  exec 9<<END
$EVERDICT_NONCE
END
  unset EVERDICT_NONCE
  exec /bin/sh "$0" "$@"
fi
unset nonce task hex line answer usage outcomes # an image may export such names; the values are secret or large
read -r nonce <&9 || exit 2
exec 9<&-
trap '' TERM INT QUIT HUP # inherited by the helpers, so that they survive the agent's `kill 0`

payload=$1 state=$2 work_dir='' task_in_env=0 needs_git=0 setup_count=0 grader_count=0
setup_sec=600 timeout_sec=1800 grader_sec=300 grace_sec=2 linger_sec=0
answer_limit=262144 usage_limit=16384 grader_output_limit=4096
output_blocks=4194304 # of 512 bytes: 2 GB of each stream, where that goes to a file
# shellcheck source=/dev/null
. "$payload/settings"
work=$state/work${work_dir:+/$work_dir}
case $work_dir in /*) work=$work_dir ;; esac
status=- timer=none tool_missing='' setup_failed='' setup_ms=0 command_ms=0 leftovers=0 outcomes='' lines=0
unparsable='' answer='' answer_from=stdout answer_bytes=0 answer_cut=0 usage='' usage_cut='' lost='' helpers='' relay='' newline='
'

# Sets now: hundredths of a second, the resolution of /proc/uptime. The 1 keeps 08 from being octal.
read_clock() {
  read -r now _ </proc/uptime
  now=$((${now%.*} * 100 + 1${now#*.} - 100))
}

set_limit() { read_clock && limit=$((now + $1)); }
is_before() { read_clock && [ "$now" -lt "$1" ]; }
pause() { sleep "$1" 2>/dev/null || sleep 1; } # not every sleep knows fractions

# The name of a process, between brackets, may hold anything.
is_alive() {
  read -r line <"/proc/$1/stat" || return
  case ${line##*) } in [ZX]*) return 1 ;; esac
} 2>/dev/null

# Sets found: the live processes of this job besides the wrapper and its helpers. In a PID namespace of our own that is
# all of them, and no fork is needed to find them, which matters when the agent has used up its process limit.
find_processes() {
  found=''
  read -r self _ </proc/self/stat
  known=" $$ $PPID $self $helpers $relay " # what started us may bear the marker, too
  if [ $$ = 1 ]; then
    for process in /proc/[0-9]*; do
      process=${process#/proc/}
      case $known in *" $process "*) ;; *) ! is_alive "$process" || found="$found $process" ;; esac
    done
  else
    for process in $(scan_host); do
      case $known in *" $process "*) ;; *) found="$found $process" known="$known$process " ;; esac
    done
  fi
}

# Prints the pids of the process group that we lead and of the bearers of the attempt's marker. One sed reads all of
# /proc, as a process per environ would take seconds on a full host. It reads stat before environ, so that a process
# which ends in between cannot lend its marker to the next. GNU sed keeps NULs within a line, busybox ends lines there,
# also on output.
scan_host() {
  read -r self _ </proc/self/stat
  files=''
  for process in /proc/[0-9]*; do
    [ "$process" = "/proc/$self" ] || files="$files $process/stat ${EVERDICT_ATTEMPT:+$process/environ}"
  done
  set -- "/^[0-9][0-9]* (.*) [A-Za-z] [0-9]* [0-9]* [0-9]* /{
      s/^\\([0-9]*\\) (.*) \\(.\\) [0-9]* \\([0-9]*\\) .*/\\1 \\2 \\3/;/ [ZX] /s/.*//
      h;s/^\\([0-9]*\\) . $$\$/\\1/p;d
    }
    /EVERDICT_ATTEMPT=${EVERDICT_ATTEMPT-}\$/b found
    /EVERDICT_ATTEMPT=${EVERDICT_ATTEMPT-}[^-._A-Za-z0-9]/!d
    :found
    g;s/ .*/ /p"
  export LC_ALL=C
  eval "exec sed -n \"\$1\" $files"
} 2>/dev/null

# Sets killed: how many there were. Bounded, as a process within an uninterruptible call does not die.
kill_all() {
  killed=0 signalled=' '
  set_limit 500
  find_processes
  while [ -n "$found" ] && is_before "$limit"; do
    for process in $found; do
      kill -9 "$process"
      case $signalled in *" $process "*) ;; *) signalled="$signalled$process " killed=$((killed + 1)) ;; esac
    done
    pause 0.01
    find_processes
  done
} 2>/dev/null

# A shell may have collected a child that ended long ago, and its pid may be somebody else's by now.
is_child() {
  is_alive "$1" && case ${line##*) } in ?" $$ "*) ;; *) return 1 ;; esac
}

# A helper ends by end-of-file, unless something beyond our reach holds its pipe: then after 2 s without work. One that
# works, on a busy machine, gets 20 s: what it holds is the answer.
finish_helper() {
  set_limit 2000
  last=$limit
  set_limit 200
  while is_child "$1"; do
    case ${line##*) } in [RD]*) ! is_before "$last" || set_limit 200 ;; esac
    is_before "$limit" || kill -9 "$1"
    pause 0.01
  done
  wait "$1"
} 2>/dev/null

# $1: seconds; $2: a pipe. A shell that waits for its child cannot be stopped without losing the child, so the sleep is
# a sibling whose end the guard sees on the pipe. Should it be killed early, the guard counts the rest itself.
start_timer() {
  read_clock
  begun=$now deadline=$((now + $1 * 100))
  guard "$2" >/dev/null 2>&1 & guard=$!
  { sleep "$1" 2>/dev/null & sleeper=$!; } >"$2" # opened by us, as the agent, once it runs, may delete it
}

guard() {
  read -r _ <"$1"
  trap kill_all EXIT # also if it cannot fork
  while is_before "$deadline"; do sleep 1; done
  find_processes
  for process in $found; do kill -15 "$process"; done
  set_limit $((grace_sec * 100))
  while [ -n "$found" ] && is_before "$limit"; do
    pause 0.1
    find_processes
  done
}

# Sets ms and fired. The clock says whether the timer fired; a file that says so could be the agent's.
stop_timer() {
  fired=1
  ! is_before "$deadline" || fired=0
  ms=$(((now - begun) * 10))
  if [ "$fired" = 0 ]; then
    for process in "$guard" "$sleeper"; do ! is_child "$process" || kill -9 "$process"; done
  fi
  wait "$guard" "$sleeper"
} 2>/dev/null

# Turns a subshell into script $1 of the payload.
become() {
  exec 2>&3 3>&- 8>&-
  case $1 in grader.*) exec 2>&1 ;; esac
  cd "$work" || exit 126
  set -- "$payload/$1"
  export HOME="$work" TMPDIR="$state/tmp" EVERDICT_TASK_FILE="$payload/task"
  export EVERDICT_ANSWER_FILE="$state/answer" EVERDICT_USAGE_FILE="$state/usage"
  [ "$task_in_env" = 0 ] || export EVERDICT_TASK="${task%.}"
  # shellcheck source=/dev/null
  . "$payload/env" # last, as it may choose another PATH or HOME, and change any variable of ours
  exec /bin/sh "$1"
}

# Runs $1 in the foreground, as a background list ignores SIGINT for good, and sets code. $2: where its stdout goes, if
# not to the log. The shell in between is the parent that the script sees, and may kill.
run_script() {
  trap : TERM INT QUIT HUP
  {
    (
      trap : TERM INT QUIT HUP
      [ -z "$2" ] || exec >"$2"
      (become "$1")
      exit "$?"
    )
    code=$? # within the braces: dash applies their redirections to a lone subshell instead of itself
  } </dev/null 3>&2 2>/dev/null
  trap '' TERM INT QUIT HUP
}

# Runs $1 for at most $2 seconds, passes its stdout on to ours, keeps the first $3 bytes, then kills what it left. Sets
# code, ms, fired, killed, hex, bytes and cut. The file is held open, as the script may delete it.
run_captured() {
  code=126 ms=0 fired=0 killed=0 hex=''
  mkfifo "$state/$1.out" "$state/$1.tee" "$state/$1.timer" && capture "$@" 8<>"$state/$1.hex"
}

# Turns a subshell into a tee that goes on reading whatever becomes of its outputs, so the script may print any amount. A
# file takes no more than our limit; /dev/null takes everything.
pass_on() {
  trap '' PIPE XFSZ
  ulimit -f "$output_blocks"
  exec tee /dev/null "$@"
} 2>/dev/null

# Opening a pipe waits for its other end: when the script starts, all of them are open, and may be deleted.
capture() {
  od -An -v -tx1 -N $(($3 + 1)) <"$state/$1.tee" >&8 2>/dev/null & od=$!
  (pass_on /proc/self/fd/7 7>"$state/$1.tee" <"$state/$1.out") & tee=$!
  helpers="$tee $od"
  start_timer "$2" "$state/$1.timer"
  run_script "$1" "$state/$1.out"
  stop_timer
  kill_all
  finish_helper "$tee"
  tee=$?
  finish_helper "$od"
  od=$?
  helpers=''
  [ ! -s /proc/$$/fd/8 ] || hex=$(join_lines <"/proc/$$/fd/8")
  measure "$3"
  # They end with 1 if they could not write, as on a full disk; tee also because od has enough. Killed: the agent's doing.
  case $od:$tee:$cut in 1:* | 0:1:0) lost=1 ;; esac
}

# Turns the output of od into lines of 1,024 bytes.
join_lines() {
  next='$!N;$!N;$!N;$!N;$!N;$!N;$!N;'
  exec sed "$next$next$next$next$next$next$next$next${next}s/[^0-9a-f]//g"
}

# Sets bytes and cut. Limits are multiples of 1,024, so a byte beyond is a line of its own. A full disk cuts anywhere,
# and may leave half a byte.
measure() {
  bytes=0 cut=0 line=''
  for line in $hex; do bytes=$((bytes + ${#line} / 2)); done
  [ "$((${#line} % 2))" = 0 ] || hex=${hex%?}
  [ "$bytes" -le "$1" ] || cut=1 hex=${hex%"$newline"??}
}

# Sets hex, bytes and cut from the first $2 bytes of a file.
read_file() {
  hex=''
  [ ! -s "$1" ] || hex=$(od -An -v -tx1 -N $(($2 + 1)) "$1" | join_lines)
  measure "$2"
}

# Turns hex into a script that prints the bytes: digits → bits → octal escapes, which takes no process per byte.
decode='s/[^0-9a-f]//g;y/0123456789abcdef/ghijklmnopqrstuv/
  s/g/0000/g;s/h/0001/g;s/i/0010/g;s/j/0011/g;s/k/0100/g;s/l/0101/g;s/m/0110/g;s/n/0111/g
  s/o/1000/g;s/p/1001/g;s/q/1010/g;s/r/1011/g;s/s/1100/g;s/t/1101/g;s/u/1110/g;s/v/1111/g
  s/\(..\)\(...\)\(...\)/\\x0\1x\2x\3/g
  s/x000/0/g;s/x001/1/g;s/x010/2/g;s/x011/3/g;s/x100/4/g;s/x101/5/g;s/x110/6/g;s/x111/7/g
  s/..*/printf "&"/'

# A second start of the same attempt, by whoever restarts containers, ends here. Sets code.
claim() {
  mkdir -p "$state/tmp" "$work"
  code=$?
  if ! mkdir "$state/claim" 2>/dev/null; then
    [ ! -d "$state/claim" ] || exit 0
    echo "wrapper: cannot write to $state" >&2
    exit 2
  fi
  read -r line </proc/$$/stat
  position=2
  for started in ${line##*) }; do
    position=$((position + 1))
    [ "$position" != 22 ] || break
  done
  printf '%s %s\n' $$ "$started" >"$state/pid"
}

# A job that opens /dev/stderr would cut a plain file short, so its stderr is a pipe there too.
relay_stderr() {
  [ -f "/proc/$$/fd/2" ] && mkfifo "$state/stderr" || return 0
  (exec >&2 && pass_on <"$state/stderr") &
  relay=$!
  exec 2>"$state/stderr"
}

write_files() {
  while IFS= read -r line; do
    number=${line%% *} line=${line#* }
    path=$work/${line#* }
    [ -d "${path%/*}" ] || mkdir -p "${path%/*}" || return
    case $line in
      hex*) { eval "$(sed "$decode" "$payload/file.$number")"; } >"$path" || return ;;
      *) cat "$payload/file.$number" >"$path" || return ;;
    esac
  done <"$payload/files"
}

# Sets setup_failed, and timer, when the command cannot run.
prepare() {
  step=0 fired=0
  [ "$code" != 0 ] || write_files || code=1
  [ "$task_in_env" = 0 ] || task=$(cat "$payload/task" && printf .)
  [ "$code" != 0 ] || [ "$needs_git$setup_count" = 00 ] || run_setup
  [ "$fired" = 0 ] || timer=setup
  [ "$code$fired" = 00 ] || setup_failed="$step $code"
}

# Step 0 is the checkout.
run_setup() {
  mkfifo "$state/setup.timer"
  start_timer "$setup_sec" "$state/setup.timer"
  [ "$needs_git" = 0 ] || run_script setup.0 ''
  while [ "$code" = 0 ] && [ "$step" -lt "$setup_count" ] && is_before "$deadline"; do
    step=$((step + 1))
    run_script "setup.$step" ''
  done
  stop_timer
  setup_ms=$ms
}

# Says so at the end of a stdout that was too long for its file.
note_cut() {
  [ -f "/proc/$$/fd/1" ] || return 0
  [ "$(($(wc -c <"/proc/$$/fd/1")))" -lt $((output_blocks * 512)) ] || printf '\n[the rest of stdout cut]\n'
}

run_command() {
  if ! run_captured command "$timeout_sec" "$answer_limit"; then
    setup_failed="0 $code"
    return
  fi
  status=$code command_ms=$ms leftovers=$killed
  # So ends a shell that could not parse the script; or a script that chose to.
  [ "$status" != 2 ] || /bin/sh -n "$payload/command" 2>/dev/null || unparsable=1
  [ "$fired" = 0 ] || timer='command'
  answer=$hex answer_bytes=$bytes answer_cut=$cut
  if [ "$cut" = 1 ]; then answer_bytes=- && note_cut; fi
  if [ -f "$state/answer" ] && [ -r "$state/answer" ]; then
    read_file "$state/answer" "$answer_limit"
    answer=$hex answer_from=file answer_bytes=$(($(wc -c <"$state/answer"))) answer_cut=$cut
  fi
  if [ -f "$state/usage" ]; then
    read_file "$state/usage" "$usage_limit"
    usage=$hex usage_cut=$cut
  fi
}

# Sets outcomes. The agent may have deleted our directories.
grade() {
  mkdir -p "$state/tmp" "$work"
  if [ "$answer_from" = stdout ]; then
    { eval "$(printf '%s\n' "$answer" | sed "$decode")"; } >"$state/answer"
  fi
  number=0
  while [ "$number" -lt "$grader_count" ]; do
    number=$((number + 1))
    run_captured "grader.$number" "$grader_sec" "$grader_output_limit" >/dev/null
    outcomes="$outcomes${newline}grader $number $code $fired $ms"
    for line in $hex; do outcomes="$outcomes${newline}grader_output $number $line"; done
  done
}

# printf is a builtin, so the nonce is in no command line either.
emit() {
  for entry; do
    lines=$((lines + 1))
    printf '__EVERDICT_RESULT__ %s %s\n' "$nonce" "$entry" || is_printed=0
  done
}

# False if some of it could not be written.
print_record() {
  lines=0 is_printed=1
  echo || is_printed=0
  emit 'version 1' "status $status" "timer $timer" "setup_ms $setup_ms" "command_ms $command_ms"
  emit ${setup_failed:+"setup_failed $setup_failed"} ${tool_missing:+"tool_missing $tool_missing"}
  emit ${unparsable:+"unparsable $unparsable"}
  emit "answer_from $answer_from" "answer_bytes $answer_bytes" "answer_cut $answer_cut"
  for line in $answer; do emit "answer $line"; done
  emit ${lost:+"lost $lost"} ${usage_cut:+"usage_cut $usage_cut"}
  for line in $usage; do emit "usage $line"; done
  IFS=$newline
  for line in $outcomes; do emit "$line"; done
  emit "leftovers $leftovers" "end $((lines + 2))"
  unset IFS
  [ "$is_printed" = 1 ]
}

for tool in git sleep cat sed wc od mkfifo tee mkdir; do
  [ "$needs_git$tool" = 0git ] || command -v "$tool" >/dev/null || tool_missing=$tool
done
[ "$tool_missing" = mkdir ] || claim
if [ -z "$tool_missing" ]; then relay_stderr && prepare; fi
if [ -z "$tool_missing$setup_failed" ]; then
  run_command
  # What the timer stopped is not graded.
  if [ "$timer" = none ] && [ "$grader_count" -gt 0 ]; then grade; fi
fi

exec 2>/dev/null
[ -z "$relay" ] || finish_helper "$relay"

# Stays until the record is collected; TERM ends that at once. The trap does not exit, so it cuts no record short, and
# leaves the line that is being printed as it was.
printing=''
sleep "$linger_sec" >/dev/null 2>&1 & lingering=$!
trap 'printing=$line; ! is_child "$lingering" || kill -9 "$lingering"; line=$printing' TERM INT QUIT HUP
interruptions=0
until print_record 2>/dev/null; do
  if [ -f "/proc/$$/fd/1" ]; then # a disk that is full now was not there for the agent either
    lost=1
    is_child "$lingering" || break
    pause 0.5
  else # busybox gives up a line that waits for its reader when a signal comes, also that of a child that ends
    interruptions=$((interruptions + 1))
    [ "$interruptions" -lt 10 ] || break
  fi
done
wait "$lingering" 2>/dev/null
[ "$status" != - ] || exit 1
exit "$status"
