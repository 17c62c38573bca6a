import { everdict } from '../test/cli-fakes.js';

const event = (parts: object) => ({
  ...{ id: 'aud_1', at: '2026-01-01T00:00:00.123Z', subject: 'ada', role: 'admin', keyId: 'key_1', kind: 'runtime' },
  ...{ action: 'runtimes.register', object: 'gpu@1', source: '::1', requestId: 'r1', status: 201, code: null },
  ...{ before: null, after: null },
  ...parts,
});

test('audit asks for what the filters say and shows who did what, and what was refused', async () => {
  const nobody = { subject: null, role: null, keyId: null, object: null, status: 401, code: 'UNAUTHENTICATED' };
  const words = [
    'audit',
    '--subject',
    'ada',
    '--action',
    'runtimes',
    '--object',
    'gpu',
    '--since',
    '2026-01-01T00:00:00Z',
  ];
  const { asked, out } = await everdict(words, () => ({ body: { items: [event({}), event(nobody)], next: null } }));
  expect(asked[0]).toMatchObject({
    path: '/audit',
    query: { subject: 'ada', action: 'runtimes', object: 'gpu', since: '2026-01-01T00:00:00Z' },
  });
  expect(out.split('\n')).toEqual([
    'at                   who          role   action             object  result               from  request',
    '2026-01-01T00:00:00  ada (key_1)  admin  runtimes.register  gpu@1   201                  ::1   r1',
    '2026-01-01T00:00:00  –            –      runtimes.register  –       401 UNAUTHENTICATED  ::1   r1',
    '',
  ]);
});
