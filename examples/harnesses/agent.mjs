/**
 * A small agent without a model. It looks up the case in a table of steps, does the work in the current directory,
 * and reports the way every `command` harness does: the answer on stdout or in $EVERDICT_ANSWER_FILE, what it used in
 * $EVERDICT_USAGE_FILE.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/** What a step may use. `steps` counts the uses, as an agent would count its tool calls. */
function toolbox(task, isVerbose) {
  const tools = {
    task,
    steps: 0,
    /** stderr belongs to the log of the run and is no part of the answer. */
    note(text) {
      tools.steps += 1;
      if (isVerbose) process.stderr.write(`step ${tools.steps}: ${text}\n`);
    },
    bytes(path) {
      tools.note(`read ${path}`);
      return fs.readFileSync(path);
    },
    read: (path) => tools.bytes(path).toString('utf8'),
    lines: (path) => tools.read(path).split('\n').slice(0, -1),
    json: (path) => JSON.parse(tools.read(path)),
    write(path, text) {
      tools.note(`write ${path}`);
      fs.writeFileSync(path, text);
    },
    edit(path, before, after) {
      const parts = tools.read(path).split(before);
      if (parts.length !== 2) throw new Error(`${path} holds this ${parts.length - 1} times: ${before}`);
      tools.write(path, parts.join(after));
    },
    sh(script) {
      tools.note(script);
      return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    },
  };
  return tools;
}

/** A short answer goes to stdout; a long one to the file, which then counts instead of stdout. */
function deliver(answer) {
  if (answer === undefined) return;
  const text = String(answer);
  const file = process.env.EVERDICT_ANSWER_FILE;
  if (!file || text.length < 60) {
    process.stdout.write(text);
    return;
  }
  fs.writeFileSync(file, text);
  process.stdout.write('The answer is in the answer file.\n');
}

function reportUsage(steps) {
  const file = process.env.EVERDICT_USAGE_FILE;
  if (file) fs.writeFileSync(file, JSON.stringify({ steps, inputTokens: 0, outputTokens: 0, costUsd: 0 }));
}

/** A large task is not in the environment, only in the file. */
function readTask() {
  return process.env.EVERDICT_TASK ?? fs.readFileSync(process.env.EVERDICT_TASK_FILE, 'utf8');
}

/** Runs the step of this case. A step returns the answer, if the task asks for one. */
export async function run(table, style = process.argv[2]) {
  const caseId = process.env.EVERDICT_CASE_ID;
  const tools = toolbox(readTask(), style === 'verbose');
  const step = Object.hasOwn(table, caseId) ? table[caseId] : undefined;
  if (!step) {
    process.stderr.write(`I do not know how to solve ${caseId}\n`);
    process.exitCode = 1;
    return;
  }
  deliver(await step(tools));
  reportUsage(tools.steps);
}
