import { exportLines } from '../../policy/payload.js';
import type { Job } from '../backend.js';

export const LAUNCHER = 'launcher.sh';
const ENVIRONMENT = 'launcher.env';

/**
 * Stands where a wrapper would: claims the state directory, says who it is, runs the program and notes how that ended.
 * Call: launcher.sh <payload> <state> <program> [<argument> …], the nonce on stdin. The program's variables are set for
 * it alone, as it may choose a PATH on which nothing is found.
 */
const SCRIPT = `#!/bin/sh
payload=$1 state=$2
shift 2
IFS= read -r nonce && mkdir -p "$state/tmp" "$state/work" || exit 1
mkdir "$state/claim" 2>/dev/null || exit 0
start_time() { shift 19 && printf '%s' "$1"; }
read -r line </proc/$$/stat
printf '%s %s\\n' $$ "$(start_time \${line##*) })" >"$state/pid"
trap : TERM INT QUIT HUP
(
  cd "$state/work" || exit 1
  set -- "$@" "$payload"
  export EVERDICT_NONCE="$nonce"
  . "$payload/${ENVIRONMENT}"
  exec "$@"
) </dev/null
code=$?
printf '%s\\n' "$code" >"$state/status"
exit "$code"
`;

/** Files beside the payload that start a program on this host. */
export function launcherFiles({ program }: Job): Map<string, Uint8Array> {
  const encoder = new TextEncoder();
  if (!program) return new Map();
  return new Map([
    [LAUNCHER, encoder.encode(SCRIPT)],
    [ENVIRONMENT, encoder.encode(exportLines(program.env))],
  ]);
}
