/** Entrypoint of a process that runs a script; `$0` is the path of its payload. */
export const script = (text: string): string[] => ['/bin/sh', '-c', text];

/** Lines of a record, but for its last. */
export const recordLines = ({ status = '0', answer = '6f6b' } = {}): string[] => [
  ...['version 1', `status ${status}`, 'timer none', 'setup_ms 0', 'command_ms 1230', 'answer_from file'],
  ...[`answer_bytes ${answer.length / 2}`, 'answer_cut 0', ...(answer ? [`answer ${answer}`] : []), 'leftovers 0'],
];

/** Entrypoint of a process that prints these lines as its record, with whatever comes before and after. */
export function printing(
  lines: readonly string[],
  { before = '', after = '', nonce = '$EVERDICT_NONCE' } = {},
): string[] {
  const all = [...lines, `end ${lines.length + 1}`];
  const printed = all.map((line) => `echo "__EVERDICT_RESULT__ ${nonce} ${line}"`).join('\n');
  return script(`${before}\necho\n${printed}\n${after}`);
}
