import { readFileSync } from 'node:fs';
import { z } from 'zod';

const ROOT = import.meta.url.endsWith('.ts') ? '..' : '../..';
const Package = z.object({ version: z.string() });

/** Version of this platform. */
export const VERSION = Package.parse(
  JSON.parse(readFileSync(new URL(`${ROOT}/package.json`, import.meta.url), 'utf8')),
).version;
