import { z } from 'zod';
import { SpecVersion } from '../../contracts/ids.js';

/** A version as a path asks for it. */
export const AskedVersion = z.union([z.literal('latest'), SpecVersion]);
