import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JsonLog } from '../../config/log.js';
import { EventStreams } from './event-streams.js';

const HEARTBEAT_MS = 10;

test('a stream with nothing to say says so', async () => {
  const streams = new EventStreams(new JsonLog(() => {}), HEARTBEAT_MS);
  let speak = (): void => {};
  const spoken = new Promise<void>((resolve) => {
    speak = resolve;
  });
  const server = createServer((_request, response) => {
    const events = async function* () {
      await spoken;
      yield { event: 'end', id: '1', data: {} };
    };
    streams.open(response, events).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let text = '';
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for await (const bytes of body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.split(': still here').length > 3) speak();
  }
  server.close();
  expect(text).toMatch(/^retry: 1000\n\n(: still here\n\n){3,}event: end\nid: 1\ndata: \{\}\n\n$/);
});
