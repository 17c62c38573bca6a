import { createServer, type Server } from 'node:net';

const HOST = '127.0.0.1';

/** Listens on a port, or on any free one for 0; nothing if it is taken. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, HOST, () => resolve(server));
  });
}

/** Ports that are free now and differ from each other: each the wanted one if it is free, else any. */
export async function choosePorts<Name extends string>(wanted: Record<Name, number>): Promise<Record<Name, number>> {
  const chosen = { ...wanted };
  const held: Server[] = [];
  for (const name in wanted) {
    const server = (await listen(wanted[name])) ?? (await listen(0));
    const address = server?.address();
    if (!server || !address || typeof address === 'string') throw new Error(`no free port on ${HOST} for ${name}`);
    held.push(server);
    chosen[name] = address.port;
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return chosen;
}

/** The default may move to a free port; what was asked for by number may not. */
export async function requireFree(wanted: number): Promise<void> {
  const { port } = await choosePorts({ port: wanted });
  if (port !== wanted) throw new Error(`port ${wanted} is taken: choose another --port, or none for a free one`);
}
