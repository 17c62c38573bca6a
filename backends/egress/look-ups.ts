import type { LookupAddress } from 'node:dns';

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

const AT_A_TIME = 2;
const LONGEST_QUEUE = 64;
const WITHIN_MS = 5_000;

/**
 * Looks a few names up at a time. Each look-up holds one of the four threads that the process has for such things, for as
 * long as a name server likes: names of workspaces never get all of them. Who waits too long is told so.
 */
export class LookUps {
  private underWay = 0;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly resolve: Resolve,
    private readonly withinMs = WITHIN_MS,
  ) {}

  find(name: string): Promise<LookupAddress[]> {
    return new Promise((found, failed) => {
      const begin = (): void => {
        this.underWay += 1;
        void this.resolve(name)
          .then(found, failed)
          .finally(() => {
            clearTimeout(timer);
            this.underWay -= 1;
            this.waiting.shift()?.();
          });
      };
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((other) => other !== begin);
        failed(tooLate());
      }, this.withinMs);
      if (this.underWay < AT_A_TIME) begin();
      else if (this.waiting.length < LONGEST_QUEUE) this.waiting.push(begin);
      else {
        clearTimeout(timer);
        failed(tooLate());
      }
    });
  }
}

const tooLate = (): Error => Object.assign(new Error('the name was not looked up in time'), { code: 'EAI_AGAIN' });
