import { readdir, readFile, readlink } from 'node:fs/promises';
import { parseScrape } from '../prometheus.js';
import type { Admin } from './admin.js';

/** What is asked in one namespace at a time: the parts of the cluster itself ask for all at once. */
const OURS =
  /^apiserver_request_total\{.*resource="(jobs|pods|events)".*scope="(namespace|resource)".*verb="(LIST|GET)"/;

/** So often jobs, pods and events of a namespace were read, since the API server started; but for logs. */
export async function readsOf(admin: Admin): Promise<number> {
  const { values } = parseScrape((await admin.ask('GET', '/metrics')).text);
  return [...values].reduce((sum, [series, value]) => (OURS.test(series) ? sum + value : sum), 0);
}

/** Connections that a process of this machine has to the cluster's address. */
export async function connectionsTo(server: string, pid: number | 'self' = 'self'): Promise<number> {
  const port = Number(new URL(server).port || 443);
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  const sockets = new Set(
    tables
      .join('\n')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , remote = '']) => remote.endsWith(`:${hex}`))
      .map((fields) => `socket:[${fields[9]}]`),
  );
  const files = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  return links.filter((link) => sockets.has(link)).length;
}
