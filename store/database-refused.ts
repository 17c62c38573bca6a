import { sqlCode } from './sql.js';

/** The server answered, and will not let us in however long we wait. */
export class DatabaseRefused extends Error {}

/** What a refusal means, and the way out, by SQLSTATE. A server that starts or is full is none of them. */
const REFUSALS: Record<string, { what: string; wayOut: string }> = {
  '28P01': { what: 'does not accept the user with this password', wayOut: 'correct the user and the password' },
  '28000': { what: 'does not let this user in', wayOut: 'correct the user, or allow it in pg_hba.conf' },
  '3D000': { what: 'has no such database', wayOut: 'correct the name, or create it with CREATE DATABASE' },
  '42501': { what: 'does not let this user into the database', wayOut: 'GRANT CONNECT on it, or set another user' },
};
/** What the driver itself says, which has no code. */
const NO_PASSWORD = /client password must be a string/;
const NO_TLS = /does not support SSL/;

/** Why a failed connection will not get better, in place of the error; the error itself where it may. */
export function explainRefusal(error: unknown, url: string): unknown {
  const said = error instanceof Error ? error.message : String(error);
  const refusal = REFUSALS[sqlCode(error) ?? ''] ?? driverRefusal(said);
  if (!refusal) return error;
  const message = `the Postgres of DATABASE_URL, ${withoutPassword(url)}, ${refusal.what} (${said})`;
  return new DatabaseRefused(`${message}: ${refusal.wayOut} in DATABASE_URL and start again`, { cause: error });
}

function driverRefusal(said: string): { what: string; wayOut: string } | undefined {
  if (NO_PASSWORD.test(said)) return { what: 'asks for a password', wayOut: 'add it' };
  if (NO_TLS.test(said)) return { what: 'speaks no TLS', wayOut: 'drop `sslmode`, or turn TLS on there,' };
  return undefined;
}

/** Without what else the query may hold, too. */
function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return 'which is no URL';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username && `${username}@`}${host}${pathname}`;
}
