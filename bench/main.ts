import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { benchCancel } from './cancel.bench.js';
import { benchDispatch } from './dispatch.bench.js';
import { BenchPlatform } from './platform.js';
import { benchSubmit } from './submit.bench.js';

const BENCHES: Record<string, (platform: BenchPlatform) => Promise<Record<string, number>>> = {
  cancel: benchCancel,
  dispatch: benchDispatch,
  submit: benchSubmit,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}: choose among ${Object.keys(BENCHES).join(', ')}`);
  process.exit(3);
}

const results: Record<string, Record<string, number>> = {};
const platform = await BenchPlatform.start();
try {
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    results[name] = await bench(platform);
    console.log(name);
    console.table(results[name]);
  }
} finally {
  await platform.stop();
}

const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model, at: new Date().toISOString() };
await mkdir('bench/results', { recursive: true });
await writeFile('bench/results/latest.json', `${JSON.stringify({ machine, results }, null, 2)}\n`);
