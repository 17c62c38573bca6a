import fastify from 'fastify';
import { PlatformError } from '../../contracts/errors.js';
import { watchLongAnswers } from './long-answers.js';

test('a long answer is cut once its caller may no longer have it, and not for want of a database', async () => {
  const server = fastify();
  const refusals = ['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE', 'UNAUTHENTICATED'] as const;
  const asked: string[] = [];
  const admit = async (): Promise<void> => {
    const code = refusals[asked.length];
    if (!code) return;
    asked.push(code);
    throw new PlatformError(code, 'no');
  };
  watchLongAnswers(server, { admit }, 20);
  server.get('/stream', { config: { access: { permission: 'read' } } }, (_request, reply) => {
    reply.hijack();
    reply.raw.write('it goes on');
  });
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const answer = await fetch(`${url}/stream`);
  await expect(answer.text()).rejects.toThrow();
  expect(asked).toEqual(refusals);
  await server.close();
});
