import { DatabaseRefused, explainRefusal } from './database-refused.js';

const URL_WITH_SECRET = 'postgres://eve:sesame@db.example:5432/evals?options=sesame';
const errorOf = (code?: string, message = 'said so') => Object.assign(new Error(message), { code });

test.each([
  ['28P01', 'correct the user and the password in DATABASE_URL'],
  ['28000', 'allow it in pg_hba.conf'],
  ['3D000', 'create it with CREATE DATABASE'],
  ['42501', 'GRANT CONNECT'],
])('SQLSTATE %s is refused by the server, the database and the way out, without the password', (code, wayOut) => {
  const refusal = explainRefusal(errorOf(code), URL_WITH_SECRET) as Error;
  expect(refusal).toBeInstanceOf(DatabaseRefused);
  expect(refusal.message).toContain('postgres://eve@db.example:5432/evals');
  expect(refusal.message).toContain('said so');
  expect(refusal.message).toContain(wayOut);
  expect(refusal.message).not.toContain('sesame');
});

test('a password that is missing, and TLS that is not spoken, are told by what the driver says', () => {
  const saslError = errorOf(undefined, 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
  expect(explainRefusal(saslError, URL_WITH_SECRET)).toBeInstanceOf(DatabaseRefused);
  const tlsError = errorOf(undefined, 'The server does not support SSL connections');
  expect(explainRefusal(tlsError, URL_WITH_SECRET)).toBeInstanceOf(DatabaseRefused);
});

test.each(['57P03', '53300', 'ECONNREFUSED', 'ENOTFOUND', undefined])(
  '%s may get better, and stays as it is',
  (code) => {
    const error = errorOf(code);
    expect(explainRefusal(error, URL_WITH_SECRET)).toBe(error);
  },
);
