import type { AccessWorld } from './access-table.js';
import { type Api, type Reply, registerWorld } from './server.js';

export function keyOf(...parts: readonly string[]): string {
  return `ak_${parts.join('_').padEnd(43, 'x')}`;
}

/** Something of everything in `team-a`, where the key of its admin is known. */
export async function accessWorld(api: Api): Promise<AccessWorld> {
  const asAdmin = { authorization: `Bearer ${keyOf('admin', 'admin')}` };
  const send: Api['send'] = (method, path, body, headers) => api.send(method, path, body, { ...asAdmin, ...headers });
  const make = async (path: string, body: unknown, method = 'POST'): Promise<Reply['body']> => {
    const reply = await send(method, path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  await registerWorld({ ...api, send });
  await make('/datasets', { id: 'tasks', version: '0.1.0', cases: [{ id: 'one', task: 'say one' }] });
  await make('/harnesses', { kind: 'command', id: 'echo', version: '0.1.0', command: 'true' });
  await make('/runtimes', { kind: 'local', id: 'here', version: '0.1.0' });
  const submit = async () => (await make('/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' })).id;
  const run = async () =>
    (await make('/runs', { dataset: 'tasks', caseId: 'case-0', harness: 'echo', runtime: 'here' })).id;
  const [scorecard, settled, cancelled] = [await submit(), await submit(), await submit()];
  return { scorecard, settled, cancelled, run: await run(), cancelledRun: await run(), make };
}
