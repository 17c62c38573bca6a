import { refusalOfRegister } from './nomad.refusals.js';

test('a job that exists is told by its text', () => {
  const text = 'Enforcing job modify index 0: job already exists';
  expect(refusalOfRegister({ status: 500, text })).toBe('exists');
});

test('a namespace that is not there is told by its field', () => {
  const text = '1 error occurred:\n\t* job "m8" is in nonexistent namespace "gp"\n\n';
  expect(refusalOfRegister({ status: 500, text })).toMatchObject({
    code: 'BAD_SPEC',
    message: '`namespace`: there is no namespace gp; create it, or name another',
  });
});
