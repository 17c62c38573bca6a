import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PACKAGE_ROOT } from './package-root.js';

const Package = z.object({ version: z.string() });

/** Version of this platform. */
export const VERSION = Package.parse(JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'))).version;
