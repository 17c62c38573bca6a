import fc from 'fast-check';
import { TailRing } from './tail-ring.js';

describe('TailRing', () => {
  test('holds the last bytes of a stream, however it is cut into pieces', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 25 }), fc.nat(1_000), (written, limit, from) => {
        const ring = new TailRing(limit);
        let at = from;
        for (const piece of written) {
          ring.push(at, piece);
          at += piece.length;
        }
        const all = Buffer.concat(written);
        const { at: start, bytes } = ring.contents();

        expect(bytes).toEqual(all.subarray(Math.max(0, all.length - limit)));
        if (all.length > 0) expect(start + bytes.length).toBe(from + all.length);
      }),
    );
  });

  test('forgets what came before a gap', () => {
    const ring = new TailRing(10);
    ring.push(0, Buffer.from('before'));
    ring.push(100, Buffer.from('after'));

    expect(ring.contents()).toEqual({ at: 100, bytes: Buffer.from('after') });
  });
});
