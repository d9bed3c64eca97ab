import { Refusal } from "./refusal.ts";

/** Runs what may go deeper than the stack of this process. @throws Refusal when it does. */
export function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal("the expression or a value in it is nested too deeply", 0);
    throw error;
  }
}
