import fc from 'fast-check';
import { aScorecard, aScreen } from '../test/cli-fakes.js';
import { bar, barLine, ProgressView } from './progress.js';

const count = fc.integer({ min: 0, max: 120_000 });
const someCounts = fc.record({
  queued: count,
  waiting: count,
  running: count,
  passed: count,
  failed: count,
  errored: count,
});

describe('the bar', () => {
  test('shows what is settled, what runs and what is left', () => {
    expect(bar(aScorecard({ counts: { passed: 4, failed: 1, running: 2, queued: 3 } }), 10)).toBe('█████▒▒░░░');
  });

  test('is full only when everything is settled', () => {
    fc.assert(
      fc.property(someCounts, (counts) => {
        const view = aScorecard({ counts });
        const isFull = view.counts.submitted > 0 && view.counts.settled === view.counts.submitted;
        expect(bar(view, 30)).toHaveLength(30);
        expect(bar(view, 30) === '█'.repeat(30)).toBe(isFull);
      }),
    );
  });

  test('leaves the last column of any terminal free, so that it never wraps', () => {
    fc.assert(
      fc.property(someCounts, fc.integer({ min: 20, max: 200 }), (counts, columns) => {
        expect(barLine(aScorecard({ counts, status: 'running' }), 5_000, columns).length).toBeLessThan(columns);
      }),
    );
  });

  test('says how many are in each state', () => {
    const view = aScorecard({
      status: 'running',
      counts: { passed: 3, failed: 1, errored: 1, running: 2, waiting: 4, queued: 5 },
    });
    expect(barLine(view, 61_000, 200)).toMatch(
      /^█+▒+░+ 5\/16 {2}queued 5 {2}waiting 4 {2}running 2 {2}passed 3 {2}failed 1 {2}errored 1 {2}1:01$/,
    );
  });
});

describe('the bar on a narrow terminal', () => {
  const counts = { passed: 40, failed: 4, errored: 1, running: 4 };
  const oldest = { run: 7, caseId: 'math/a-very-long-name-of-a-case', trial: 1, ageMs: 65_000 };
  const line = (columns: number, extra: object = {}) =>
    barLine({ ...aScorecard({ status: 'running', counts }), ...extra }, 9_000, columns);

  test('leaves out what is not in the way of knowing, and never half a number', () => {
    expect([120, 80, 60, 40, 12].map((columns) => line(columns).replace(/[█▒░]+ /, '# '))).toEqual([
      '# 45/49  queued 0  waiting 0  running 4  passed 40  failed 4  errored 1  0:09',
      '# 45/49  running 4  passed 40  failed 4  errored 1  0:09',
      '# 45/49  passed 40  failed 4  errored 1  0:09',
      '# 45/49  0:09',
      '45/49  0:09',
    ]);
  });

  test('makes room for the oldest case', () => {
    expect(line(80, { oldest })).toMatch(
      /^[█▒░]{10,} 45\/49 {2}passed 40 {2}failed 4 {2}errored 1 {2}0:09 {2}oldest: math.*… 1:05$/,
    );
    expect(line(60, { oldest })).toMatch(/^[█▒░]{10,} 45\/49 {2}0:09 {2}oldest: math.*… 1:05$/);
    expect(line(200, { oldest })).toMatch(/running 4.*oldest: math\/a-very-long-name-of-a-case 1:05$/);
  });
});

describe('progress on a terminal', () => {
  test('is redrawn in place and left on the screen at the end', () => {
    const screen = aScreen({ isTty: true });
    const progress = new ProgressView(screen, 0);
    progress.show(aScorecard({ status: 'running', counts: { queued: 1 } }), 0);
    progress.show(aScorecard({ counts: { passed: 1 } }), 500);
    progress.end();
    const [first, second, third] = screen.text.split('\r\u001b[2K');
    expect(first).toBe('');
    expect(second).toContain('queued 1');
    expect(third).toMatch(/passed 1.*\n$/);
  });

  test('goes on with the time while nothing changes', () => {
    const screen = aScreen({ isTty: true });
    const progress = new ProgressView(screen, 0);
    const oldest = { run: 7, caseId: 'slow', trial: 1, ageMs: 60_000 };
    progress.show({ ...aScorecard({ status: 'running', counts: { running: 1 } }), oldest }, 1_000);
    progress.redraw(6_000);
    expect(screen.text.split('\r\u001b[2K').at(-1)).toMatch(/0:06 {2}oldest: slow 1:05$/);
  });

  test('makes room for a message', () => {
    const screen = aScreen({ isTty: true });
    const progress = new ProgressView(screen, 0);
    progress.show(aScorecard({ counts: { queued: 1 } }), 0);
    progress.say('something happened');
    expect(screen.text).toMatch(/\nsomething happened\n$/);
  });
});

describe('progress in a log', () => {
  const running = (passed: number) => aScorecard({ status: 'running', counts: { passed, queued: 9 - passed } });

  test('is a line per change, at most one a second', () => {
    const screen = aScreen();
    const progress = new ProgressView(screen, 0);
    progress.show(running(0), 0);
    progress.show(running(1), 500);
    progress.show(running(2), 1_000);
    progress.show(running(2), 9_000);
    expect(screen.text.split('\n')).toEqual([
      '[0:00] 0/9  queued 9  waiting 0  running 0  passed 0  failed 0  errored 0',
      '[0:01] 2/9  queued 7  waiting 0  running 0  passed 2  failed 0  errored 0',
      '',
    ]);
  });

  test('comes later where it was too soon for it, also if nothing changes any more', () => {
    const screen = aScreen();
    const progress = new ProgressView(screen, 0);
    progress.show(running(0), 0);
    progress.show(running(1), 900);
    progress.redraw(1_000);
    progress.redraw(2_000);
    expect(screen.text.split('\n')).toEqual([
      '[0:00] 0/9  queued 9  waiting 0  running 0  passed 0  failed 0  errored 0',
      '[0:01] 1/9  queued 8  waiting 0  running 0  passed 1  failed 0  errored 0',
      '',
    ]);
  });

  test('shows the end at once, and once', () => {
    const screen = aScreen();
    const progress = new ProgressView(screen, 0);
    progress.show(running(8), 0);
    progress.show(aScorecard({ counts: { passed: 9 } }), 10);
    progress.show(aScorecard({ counts: { passed: 9 } }), 20);
    expect(screen.text.match(/passed 9/g)).toHaveLength(1);
    expect(screen.text).not.toContain('\u001b');
  });
});
