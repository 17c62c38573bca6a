const RUNC =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process';

/** What a runtime says of a program that cannot be started, in place of what this machine says. */
export function startFailure(error: unknown, program: string): string {
  const code: unknown = Reflect.get(Object(error), 'code');
  return `${RUNC}: ${reasonOf(code, program)}: unknown`;
}

function reasonOf(code: unknown, program: string): string {
  if (code === 'E2BIG') return `exec ${program}: argument list too long`;
  if (code !== 'ENOENT') return `exec: "${program}": permission denied`;
  if (program.includes('/')) return `exec: "${program}": stat ${program}: no such file or directory`;
  return `exec: "${program}": executable file not found in $PATH`;
}
