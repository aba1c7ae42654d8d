import type { Model } from './model.ts';

/** One thing that may happen in a step. */
export interface Deed {
  name: string;
  /** How likely it is beside the others. */
  weight: number;
  possible(model: Model): boolean;
  /** Does it; answers what was done, for the trace. */
  run(model: Model): Promise<string>;
}
