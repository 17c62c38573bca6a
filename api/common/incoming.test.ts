import { PassThrough } from 'node:stream';
import { incoming } from './incoming.js';

describe('a body', () => {
  test('that stops coming is given up, saying for how long nothing came', async () => {
    const body = new PassThrough();
    body.write('first');
    const chunks = incoming(body, 20);
    expect(String((await chunks.next()).value)).toBe('first');
    await expect(chunks.next()).rejects.toMatchObject({
      code: 'UPLOAD_INCOMPLETE',
      message: expect.stringContaining('nothing came for 0.02 s'),
    });
  });

  test('that breaks off is incomplete', async () => {
    const body = new PassThrough();
    const chunks = incoming(body);
    const next = chunks.next();
    body.destroy(new Error('aborted'));
    await expect(next).rejects.toMatchObject({ code: 'UPLOAD_INCOMPLETE' });
  });

  test('is thrown away from where the reader has seen enough', async () => {
    const body = new PassThrough({ highWaterMark: 10 });
    body.write('first');
    for await (const _ of incoming(body)) break;
    const drained = new Promise((resolve) => body.once('end', resolve));
    body.end('x'.repeat(1_000));
    await drained;
  });
});
