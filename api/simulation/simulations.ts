import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Load } from '../../policy/admission/load.js';
import { type Question, type Simulated, simulate } from '../../policy/admission/simulate.js';
import { Turns } from '../common/turns.js';

/** Simulates one load at a time, and between its steps lets requests through. */
export class Simulations {
  private readonly turns = new Turns(1);

  run(load: Load, question: Question): Promise<Simulated> {
    return this.turns.take(async () => {
      const steps = simulate(load, question);
      for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
        await nextTurn();
      }
    });
  }
}
