#!/usr/bin/env node
// The `everdict` command of a clone: runs the built program, and builds it when there is none yet.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = new URL('../dist/cli/main.js', import.meta.url);

if (existsSync(program) || build()) await import(program.href);

function build() {
  if (!existsSync(`${root}/node_modules`)) {
    process.stderr.write(`error: the dependencies are not installed\nnext: run \`npm ci\` in ${root}\n`);
    process.exitCode = 3;
    return false;
  }
  process.stderr.write('building everdict, once\n');
  // What a build prints is no part of a command's answer.
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0) return true;
  process.stderr.write('error: the build failed\nnext: `npm ci && npm run build` shows why\n');
  process.exitCode = 3;
  return false;
}
