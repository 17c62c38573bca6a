import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';

const HOST = '127.0.0.1';
/** State of a socket in /proc/net/tcp that listens. */
const LISTENS = '0A';

/** Listens on a port, or on any free one for 0; nothing if it is taken. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, HOST, () => resolve(server));
  });
}

/** How many ports after the wanted one are tried: who comes back while that is taken finds the same one again. */
const NEXT_PORTS = 10;

/** The wanted port, else the next one that is free, else any. */
async function listenNear(wanted: number): Promise<Server | undefined> {
  const last = wanted === 0 ? 0 : Math.min(wanted + NEXT_PORTS, 65_535);
  for (let port = wanted; port <= last; port += 1) {
    const server = await listen(port);
    if (server) return server;
  }
  return listen(0);
}

/** Ports that are free now and differ from each other: each the wanted one if it is free, else one near it. */
export async function choosePorts<Name extends string>(wanted: Record<Name, number>): Promise<Record<Name, number>> {
  const chosen = { ...wanted };
  const held: Server[] = [];
  for (const name in wanted) {
    const server = await listenNear(wanted[name]);
    const address = server?.address();
    if (!server || !address || typeof address === 'string') throw new Error(`no free port on ${HOST} for ${name}`);
    held.push(server);
    chosen[name] = address.port;
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return chosen;
}

/** Why a port cannot be had; nothing if it is free. */
export async function whyTaken(wanted: number): Promise<string | undefined> {
  const { port } = await choosePorts({ port: wanted });
  return port === wanted ? undefined : `port ${wanted} is taken by ${holderOf(wanted) ?? 'another program'}`;
}

/** What listens on a port, as far as we may know. */
function holderOf(port: number): string | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set<string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readLines(`/proc/net/${table}`)) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      if (local.endsWith(suffix) && state === LISTENS) sockets.add(`socket:[${inode}]`);
    }
  }
  const pid = readNames('/proc').find((name) => /^\d+$/.test(name) && holdsOneOf(name, sockets));
  if (pid === undefined) return undefined;
  const [program = '', ...words] = (readLines(`/proc/${pid}/cmdline`)[0] ?? '').split('\0');
  const command = [path.basename(program), ...words].join(' ').replace(/\p{Cc}/gu, ' ');
  return `pid ${pid}, ${command.trim().slice(0, 50)}`;
}

function holdsOneOf(pid: string, sockets: ReadonlySet<string>): boolean {
  return readNames(`/proc/${pid}/fd`).some((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`)));
}

/** What is gone, or another user's, reads as nothing. */
function orNothing<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch {
    return nothing;
  }
}

const readNames = (dir: string): string[] => orNothing(() => readdirSync(dir), []);
const readLines = (file: string): string[] => orNothing(() => readFileSync(file, 'utf8').split('\n'), []);
const linkOf = (file: string): string => orNothing(() => readlinkSync(file), '');
