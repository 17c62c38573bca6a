import { PlatformError } from '../../contracts/errors.js';

/** Lets each workspace do so many things at a time, and refuses more. */
export class Places {
  private readonly taken = new Map<string, number>();

  constructor(
    private readonly most: number,
    private readonly what: string,
  ) {}

  async hold<T>(workspace: string, work: () => Promise<T>): Promise<T> {
    const taken = this.taken.get(workspace) ?? 0;
    if (taken >= this.most) {
      const message = `workspace ${workspace} has ${this.most} ${this.what} under way, which is the limit: wait for one of them`;
      throw new PlatformError('TOO_MANY_REQUESTS', message, { retryAfterSec: 1 });
    }
    this.taken.set(workspace, taken + 1);
    try {
      return await work();
    } finally {
      const left = (this.taken.get(workspace) ?? 1) - 1;
      if (left > 0) this.taken.set(workspace, left);
      else this.taken.delete(workspace);
    }
  }
}
