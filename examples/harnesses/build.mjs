/**
 * Writes solver.json, hasty.json and adder.json: each carries its whole program, so an image needs nothing but node, or
 * Python for the last.
 *   node examples/harnesses/build.mjs            write them
 *   node examples/harnesses/build.mjs --check    exit 1 if a committed one differs from its sources
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const END = 'END_OF_AGENT';
const IMPORT = /^import .* from '(.*)';$/;

const NEEDS_NODE = `command -v node > /dev/null || { echo 'this harness needs node on PATH' >&2; exit 1; }`;

const HARNESSES = [
  {
    id: 'solver',
    description: 'Solves every case of shell-tasks. A scripted agent: it needs node, and no model.',
    tags: ['example', 'scripted'],
  },
  {
    id: 'hasty',
    description: 'The solver in a hurry: wrong on seven cases of shell-tasks, listed in examples/expected.json.',
    tags: ['example', 'scripted', 'faulty'],
  },
];

/** One program of a module and all it imports: every local module once, before what needs it. */
function bundle(entry) {
  const seen = new Set();
  const builtins = new Set();
  const bodies = [];
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const body = [];
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      const from = IMPORT.exec(line)?.[1];
      if (from === undefined) body.push(line.replace(/^export /, ''));
      else if (from.startsWith('.')) visit(path.resolve(path.dirname(file), from));
      else builtins.add(line);
    }
    bodies.push(body.join('\n').trim());
  };
  visit(entry);
  return `${[...builtins].sort().join('\n')}\n\n${bodies.join('\n\n')}\n`;
}

function specOf({ id, description, tags }) {
  const program = bundle(path.join(HERE, `${id}.mjs`));
  if (program.includes(END)) throw new Error(`the sources of ${id} contain ${END}`);
  return {
    kind: 'command',
    id,
    version: '1.0.0',
    description,
    tags,
    setup: [NEEDS_NODE],
    // The quoted word keeps the shell's hands off the program.
    command: `node --input-type=module - "$EVERDICT_PARAM_STYLE" <<'${END}'\n${program}${END}\n`,
    env: { LC_ALL: 'C' },
    params: { STYLE: 'verbose' },
  };
}

/** Python runs the program from its text, and hands it the path of the payload. */
const ADDER = {
  kind: 'process',
  id: 'adder',
  version: '1.0.0',
  description: 'Adds the numbers in a task. A process, without a shell: it prints its record itself.',
  tags: ['example', 'process'],
  entrypoint: ['python3', '-c', fs.readFileSync(path.join(HERE, 'adder.py'), 'utf8')],
};

/** Short lists stay on one line, as the formatter of this repository writes them. */
function print(spec) {
  const fields = Object.entries(spec).map(([key, value]) => {
    const text = Array.isArray(value) ? `[${value.map((item) => JSON.stringify(item)).join(', ')}]` : undefined;
    return `  ${JSON.stringify(key)}: ${text ?? JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')}`;
  });
  return `{\n${fields.join(',\n')}\n}\n`;
}

const isCheck = process.argv.includes('--check');
for (const spec of [...HARNESSES.map(specOf), ADDER]) {
  const target = path.join(HERE, `${spec.id}.json`);
  const text = print(spec);
  if (!isCheck) fs.writeFileSync(target, text);
  else if (!fs.existsSync(target) || fs.readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${spec.id}.json differs from its sources: run node examples/harnesses/build.mjs\n`);
    process.exitCode = 1;
  }
}
