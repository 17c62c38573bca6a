import { type Command, Option } from 'commander';
import { usageError } from './failures.js';
import { jsonBody } from './http.client.js';
import { optionsOf, withExamples } from './options.js';
import { pathOf, waitAndReport, withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { jsonFile } from './spec-files.js';
import { create } from './submit.js';
import { Regraded } from './wire.js';

interface RegradeOptions {
  graders?: string;
  dataset?: string;
  idempotencyKey?: string;
  wait: boolean;
  patience: number;
}

export function addScorecardRegrade(group: Command, terminal: Terminal): void {
  const command = group
    .command('regrade <id>')
    .description('grade the stored answers of a finished scorecard anew, in a new one, and report that; nothing runs')
    .option('--graders <file>', 'a JSON array of graders for every case; - reads stdin')
    .addOption(
      new Option('--dataset <ref>', 'id@version whose cases of the same ids have the graders').conflicts('graders'),
    )
    .option('--idempotency-key <key>', 'the same key again within 24 h is the same re-grade')
    .option('--no-wait', 'only start it')
    .action(async (id: string, _options, self: Command) => {
      const options = optionsOf<RegradeOptions>(self);
      const session = new Session(terminal, options);
      const body = jsonBody({ dataset: options.dataset, graders: await gradersOf(options) });
      const path = pathOf(id, '/regrade');
      const { reply, raw } = await create(session, path, Regraded, { body }, options.idempotencyKey);
      if (!options.wait) {
        const next = `next: npx everdict scorecard watch ${reply.id}`;
        session.answer(raw, () => `${reply.id}: answers of ${id} are graded anew\n${next}\n`);
        return;
      }
      session.note(`${reply.id}: answers of ${id}, graded anew`);
      await waitAndReport(session, reply.id, options.patience);
    });
  withExamples(withPatience(command), [
    'scorecard regrade sc_01k5q8zj3v0000000000000000 --dataset tasks@1.0.1',
    'scorecard regrade sc_01k5q8zj3v0000000000000000 --graders graders.json --json',
  ]);
}

/** Sent as they are, so that the platform names what is wrong with them. */
async function gradersOf({ graders, dataset }: RegradeOptions): Promise<unknown> {
  if (graders === undefined && dataset === undefined) {
    throw usageError('nothing says how to grade', 'give --graders <file>, or --dataset <id@version>');
  }
  if (graders === undefined) return undefined;
  const { bytes } = await jsonFile(graders);
  const read: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  return read;
}
