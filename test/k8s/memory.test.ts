import { inShell, LiveCase } from './live-case.js';
import { describeLive, Site } from './site.js';

/** More than there is, in the shell itself. */
const GROW = 'a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done';
const LIMITED = { resources: { memoryMb: 32 } };

describeLive('memory and disk', () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  }, 120_000);
  afterAll(() => site.close(), 180_000);

  test('K11 the first process that runs out of memory is told so, and to declare more', async () => {
    const live = new LiveCase(site, site.backend(), inShell(`echo begun; ${GROW}`, LIMITED));
    const { outcome, isRetried, reason, output } = await live.run();
    expect([outcome, isRetried, output.trim()]).toEqual(['config OOM_KILLED', false, 'begun']);
    expect(reason).toMatch(/resources\.memoryMb/);
  }, 120_000);

  test('K11 a child that ran out of memory is told so, though all ended well', async () => {
    const live = new LiveCase(site, site.backend(), inShell(`sh -c '${GROW}'; echo went on; exit 0`, LIMITED));
    const { outcome, output } = await live.run();
    expect([outcome, output.trim().split('\n').at(-1)]).toEqual(['config OOM_KILLED', 'went on']);
  }, 120_000);

  test('K11 a command that ran out of memory under the wrapper has a record, which is the verdict', async () => {
    const live = new LiveCase(site, site.backend(), { command: `sh -c '${GROW}'`, job: LIMITED });
    const { outcome, record } = await live.run();
    expect([outcome, record?.status]).toEqual(['failed', 137]);
  }, 120_000);

  test('a job that fills its disk ends by its own doing, and its output is kept', async () => {
    await site.admin.post(site.path('limitranges'), {
      metadata: { name: 'disk' },
      spec: { limits: [{ type: 'Container', default: { 'ephemeral-storage': '10Mi' } }] },
    });
    try {
      const command = 'echo begun; head -c 52428800 /dev/zero >/tmp/full; sleep 300';
      const { outcome, reason, output } = await new LiveCase(site, site.backend(), { command }).run();
      expect([outcome, output.trim()]).toEqual(['agent ABORTED', 'begun']);
      expect(reason).toMatch(/disk/);
    } finally {
      await site.admin.remove(site.path('limitranges/disk'));
    }
  }, 180_000);
});
