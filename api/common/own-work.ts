import { PlatformError } from '../../contracts/errors.js';
import type { Principal } from './caller.js';

/** CI stops only what it submitted itself. */
export async function refuseForeignWork(
  { role, subject }: Principal,
  id: string,
  submitterOf: (id: string) => Promise<string | null | undefined>,
): Promise<void> {
  if (role !== 'ci') return;
  const submitter = await submitterOf(id);
  if (submitter === subject) return;
  const whose = submitter ? `${submitter} submitted ${id}` : `${id} is not yours`;
  throw new PlatformError('FORBIDDEN', `ci stops only what it submitted itself: ${whose}, and you are ${subject}`);
}
