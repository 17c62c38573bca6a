import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { benchAdmission } from './admission.bench.js';
import { benchCancel } from './cancel.bench.js';
import { benchDispatch } from './dispatch.bench.js';
import { benchEarlyStop } from './early-stop.bench.js';
import type { Figures } from './figures.js';
import { benchMemory } from './memory.bench.js';
import { benchMetrics } from './metrics.bench.js';
import { BenchPlatform } from './platform.js';
import { benchScanner } from './scanner.bench.js';
import { benchSubmit } from './submit.bench.js';
import { benchUpload } from './upload.bench.js';

const BENCHES: Record<string, (platform: BenchPlatform) => Promise<Figures>> = {
  admission: benchAdmission,
  cancel: benchCancel,
  dispatch: benchDispatch,
  'early-stop': benchEarlyStop,
  memory: benchMemory,
  metrics: benchMetrics,
  scanner: benchScanner,
  submit: benchSubmit,
  upload: benchUpload,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}: choose among ${Object.keys(BENCHES).join(', ')}`);
  process.exit(3);
}

const results: Record<string, Figures> = {};
const platform = await BenchPlatform.start();
try {
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const figures = await bench(platform);
    results[name] = figures;
    for (const [title, table] of Object.entries(figures)) {
      console.log(`${name}: ${title}`);
      console.table(table);
    }
  }
} finally {
  await platform.stop();
}

const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model, at: new Date().toISOString() };
await mkdir('bench/results', { recursive: true });
await writeFile('bench/results/latest.json', `${JSON.stringify({ machine, results }, null, 2)}\n`);
