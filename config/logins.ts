import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** What was said once about one platform. */
const Login = z.object({ key: z.string(), workspace: z.string().optional() });
export type Login = z.infer<typeof Login>;

const Kept = z.object({
  /** The platform that commands speak to unless they are told another. */
  current: z.string().optional(),
  byUrl: z.record(z.string(), Login),
});
type Kept = z.infer<typeof Kept>;

const NONE: Kept = { byUrl: {} };

/** Keys of the user by platform, in a file that nobody else reads. A key is sent to the platform it is for. */
export class Logins {
  private readonly file: string | undefined;

  /** `configHome` and `home` as the environment has them. */
  constructor({ configHome, home }: { configHome?: string; home?: string }) {
    const base = configHome || (home && path.join(home, '.config'));
    this.file = base ? path.join(base, 'everdict', 'logins.json') : undefined;
  }

  get current(): string | undefined {
    return this.read().current;
  }

  find(url: string): Login | undefined {
    return this.read().byUrl[url];
  }

  /** Makes it the current one. Returns where it is kept. */
  keep(url: string, login: Login): string {
    return this.write({ current: url, byUrl: { ...this.read().byUrl, [url]: login } });
  }

  /** False if there is none. */
  forget(url: string): boolean {
    const { current, byUrl } = this.read();
    if (!Object.hasOwn(byUrl, url)) return false;
    const { [url]: _forgotten, ...rest } = byUrl;
    this.write({ ...(current !== url && { current }), byUrl: rest });
    return true;
  }

  private read(): Kept {
    if (this.file === undefined) return NONE;
    let text: string;
    try {
      text = readFileSync(this.file, 'utf8');
    } catch {
      return NONE;
    }
    const kept = Kept.safeParse(parsed(text));
    if (kept.success) return kept.data;
    throw new Error(`${this.file} is not what \`everdict login\` writes: remove it, and log in again`);
  }

  private write(kept: Kept): string {
    if (this.file === undefined) throw new Error('there is no home directory to keep a key in: set EVERDICT_API_KEY');
    const dir = path.dirname(this.file);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const fresh = `${this.file}.${process.pid}`;
    writeFileSync(fresh, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, this.file);
    return this.file;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
