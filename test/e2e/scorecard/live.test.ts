import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServerEvent } from '../../../cli/event-parser.js';
import { EventReader } from '../../event-reader.js';
import { eventually } from '../../eventually.js';
import { CLI, endPrograms, Program } from '../cli/processes.js';
import { E2ePlatform, MINUTE } from '../platform.js';

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, MINUTE);
afterEach(endPrograms, MINUTE);
afterAll(() => platform?.stop(), MINUTE);

const LINES = 70;
/** Prints bytes that are no text on one stream and lines on the other, for about seven seconds. */
const TICKER = `i=0; while [ $i -lt ${LINES} ]; do
  printf '\\000\\377\\303 %s\\n' $i; printf 'warning %s\\n' $i >&2; sleep 0.1; i=$((i+1)); done`;
const numbers = Array.from({ length: LINES }, (_, i) => i);
const STDOUT = Buffer.concat(numbers.map((i) => Buffer.from(`\0\xff\xc3 ${i}\n`, 'latin1')));
const STDERR = numbers.map((i) => `warning ${i}\n`).join('');

function printed(events: readonly ServerEvent[], wanted: string): Buffer {
  const pieces = events.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data));
  const own = pieces.filter(({ stream }) => stream === wanted);
  return Buffer.concat(own.map(({ base64 }) => Buffer.from(base64, 'base64')));
}

test(
  'a running job is followed live, byte for byte, while its worker and the API are killed and come back',
  async () => {
    const request = await platform.register({ harness: { command: TICKER }, cases: [{ id: 'ticker', task: 'x' }] });
    const id = `${await platform.submit(request)}.0`;
    const url = `${platform.stack.apiUrl}/runs/${id}/logs?follow`;
    const first = await EventReader.open(url);
    const file = path.join(platform.dir, 'followed');
    const follower = new Program('sh', ['-c', `exec node ${CLI} run logs -f ${id} --stream stdout > ${file}`], {
      env: { EVERDICT_URL: platform.stack.apiUrl },
    });

    await first.until(() => printed(first.events, 'stdout').length > 0);
    expect((await platform.run(id)).state).toBe('running');
    await platform.kill('worker');
    const seen = first.events.length;
    await first.until(() => first.events.length > seen);
    await platform.kill('api');
    await first.ended;
    const last = first.events.at(-1)?.id ?? '';
    const rest = await eventually('the API answers again', async () => {
      const events = await EventReader.all(url, { 'last-event-id': last }).catch(() => []);
      return events.length > 0 && events;
    });

    expect(rest.at(-1)).toMatchObject({ event: 'end', data: '{"outcome":"passed"}' });
    const events = [...first.events, ...rest];
    expect(printed(events, 'stdout')).toEqual(STDOUT);
    expect(printed(events, 'stderr').toString()).toBe(STDERR);
    const { code, err } = await follower.ended;
    expect(readFileSync(file)).toEqual(STDOUT);
    expect(err).toMatch(/still waiting.*\n.*answers again/);
    expect(code).toBe(0);
    await platform.expectNothingLeft(id, request.runtime);
  },
  2 * MINUTE,
);
