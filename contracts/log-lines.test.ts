import fc from 'fast-check';
import type { LogStream } from './log-events.js';
import { LogLines } from './log-lines.js';

type Piece = [LogStream, string];

function shown(pieces: readonly Piece[]): string {
  const lines = new LogLines();
  return pieces
    .map(([stream, text]) => {
      const { endsLine, rest } = lines.add(stream, Buffer.from(text));
      return `${endsLine ? '\n' : ''}${Buffer.from(rest).toString()}`;
    })
    .join('');
}

const pieces = fc.array(
  fc.tuple(fc.constantFrom<LogStream>('stdout', 'stderr'), fc.string({ unit: fc.constantFrom('a', '\n') })),
);

describe('the streams of a log on one page', () => {
  test('a newline that comes with the next piece of its stream ends its own line', () => {
    const page = shown([
      ['stderr', 'err 1\n'],
      ['stdout', 'line 1'],
      ['stderr', 'err 2\n'],
      ['stdout', '\nline 2'],
      ['stderr', 'err 3\n'],
      ['stdout', '\n'],
    ]);
    expect(page).toBe('err 1\nline 1\nerr 2\nline 2\nerr 3\n');
  });

  test('a line that the other stream breaks into goes on below', () => {
    const page = shown([
      ['stdout', '10 %'],
      ['stderr', 'slow'],
      ['stdout', ' 20 %\n\n'],
    ]);
    expect(page).toBe('10 %\nslow\n 20 %\n\n');
  });

  test('no line holds text of both streams, and nothing else is added or lost', () => {
    fc.assert(
      fc.property(pieces, (some) => {
        const upper = some.map(([stream, text]): Piece => [stream, stream === 'stderr' ? text.toUpperCase() : text]);
        const page = shown(upper);
        const letters = (text: string): string => text.replaceAll('\n', '');
        expect(letters(page)).toBe(letters(upper.map(([, text]) => text).join('')));
        expect(page).not.toMatch(/aA|Aa/);
      }),
    );
  });

  test('one stream alone stays as it is', () => {
    fc.assert(
      fc.property(pieces, (some) => {
        const alone = some.map(([, text]): Piece => ['stdout', text]);
        expect(shown(alone)).toBe(alone.map(([, text]) => text).join(''));
      }),
    );
  });
});
