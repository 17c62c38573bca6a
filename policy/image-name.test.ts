import { imageFault } from './image-name.js';

const HEX = 'a'.repeat(64);

test.each([
  'debian',
  'debian:12',
  'a/b/c:1',
  'UPPER/x:1',
  `a:1@sha256:${HEX}`,
  `a@sha512:${HEX}${HEX}`,
  `${HEX}:1`,
  'a__b',
  'a--b',
  '[::1]:5000/a',
  'localhost/a',
  'registry.example:5000/a/b',
  '127.0.0.1:99999/x',
  'a:_x',
  `a:${'t'.repeat(128)}`,
  'x'.repeat(247),
  `registry.example/${'x'.repeat(255)}`,
])('%s is the name of an image', (image) => {
  expect(imageFault(image)).toBeUndefined();
});

test.each([
  ['UPPER:1', 'capital letters'],
  ['host/UPPER:1', 'capital letters'],
  ['a//b', 'parsed'],
  ['/a', 'parsed'],
  ['a/', 'parsed'],
  ['a..b', 'parsed'],
  ['a___b', 'parsed'],
  ['a-', 'parsed'],
  ['_a', 'parsed'],
  ['é', 'parsed'],
  [':1', 'parsed'],
  ['registry.example/:1', 'parsed'],
  ['a:b:c', 'tag'],
  ['http://x/y', 'registry'],
  ['a:x/b', 'registry'],
  ['-a.b/c', 'registry'],
  ['a.:5/b', 'registry'],
  ['a:', 'tag'],
  ['a:.x', 'tag'],
  [`a:${'t'.repeat(129)}`, 'tag'],
  ['a:é', 'tag'],
  ['a@', 'digest'],
  ['a@b@c', 'digest'],
  ['a@sha256:00', 'digest'],
  [`a@sha256:${'A'.repeat(64)}`, 'digest'],
  [`a@md5:${'a'.repeat(32)}`, 'digest'],
  [HEX, 'id of an image'],
  ['x'.repeat(248), '247'],
  [`registry.example/${'x'.repeat(256)}`, '255'],
])('%s is none, by its %s', (image, why) => {
  expect(imageFault(image)).toContain(why);
});
