import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { allocationName } from '../../policy/naming.js';
import { aJob, aLab, type Lab, NONCE, printed, watched } from '../../test/nomad-jobs.js';

/** Three times the budget of connections. */
const CASES = 60;
const CONNECTIONS = 20;
const LINES = 5;
/** Prints for a while, then its record, and stays, as a wrapper does. */
const SCRIPT = `
trap 'exit 0' TERM
i=0
while [ $i -lt ${LINES} ]; do
  echo "line $i"
  i=$((i + 1))
  sleep 0.3
done
echo last >&2
set -- 'version 1' 'status 0' 'timer none' 'setup_ms 0' 'command_ms 5' 'answer_from stdout' 'answer_bytes 0' 'answer_cut 0' 'leftovers 0' 'end 10'
for line; do echo "__EVERDICT_RESULT__ $EVERDICT_NONCE $line"; done
sleep 60 & wait
`;

let nomad: FakeNomad;
/** Two runtimes of one address, as two versions of one are. */
let labs: [Lab, Lab];
beforeAll(async () => {
  nomad = await FakeNomad.start({ machines: [{ name: 'rack-1', cpuMhz: 1_000 * CASES }] });
  const options = { driver: 'raw_exec', connections: CONNECTIONS, maxConcurrent: CASES };
  labs = [aLab(nomad.url, options), aLab(nomad.url, { ...options, version: '2' })];
});
afterAll(async () => {
  await Promise.all(labs.map(({ client }) => client.close()));
  await nomad.stop();
});

/** From its register to its removal. */
async function whole(at: number): Promise<string> {
  const { backend } = labs[at % 2 === 0 ? 0 : 1];
  const runId = `run_${String(at).padStart(26, '0')}`;
  const ref = { name: allocationName('dep', runId, 1), nonce: NONCE };
  const job = aJob({ payload: new Map([['wrapper.sh', Buffer.from(SCRIPT)]]) });
  await backend.submit({ ...job, owner: { ...job.owner, runId } }, ref);
  const events = await watched({ backend }, ref);
  await backend.stop(ref);
  return `${printed(events)}${printed(events, 'stderr')}${events.at(-1)?.kind}`;
}

test('cases that are many at once stay within the budget of connections, and lose no output', async () => {
  const outputs = await Promise.all(Array.from({ length: CASES }, (_, at) => whole(at)));
  const lines = Array.from({ length: LINES }, (_, at) => `line ${at}\n`).join('');
  // The newline before a record is its own.
  expect(new Set(outputs)).toEqual(new Set([`${lines.trimEnd()}last\nrecord`]));
  const { peakConnections, starts, purges } = nomad.ledger;
  expect(peakConnections).toBeLessThanOrEqual(CONNECTIONS);
  expect([starts.size, [...starts.values()].every((times) => times === 1), purges]).toEqual([CASES, true, []]);
}, 120_000);
