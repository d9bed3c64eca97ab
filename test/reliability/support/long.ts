import { writeSync } from "node:fs";

/** Whether everything is to be tried (`npm run test:long`), not a sample of it. */
export const LONG = process.env.HOSTFORM_LONG === "1";

/** Each `every`th item, beginning with another one at each turn; with `npm run test:long` all items. */
export function sampled<T>(items: readonly T[], every: number, turn = 0): readonly T[] {
  return LONG ? items : items.filter((_, at) => (at + turn) % every === 0);
}

/** Says how much was covered, on the terminal. */
export function announce(text: string): void {
  writeSync(2, `${text}\n`);
}

/** Two at a time: the machine that this runs on may have no more. */
export async function inPairs<T>(items: readonly T[], work: (item: T, at: number) => Promise<void>): Promise<void> {
  const queue = items.entries();
  const worker = async () => {
    for (const [at, item] of queue) await work(item, at);
  };
  await Promise.all([worker(), worker()]);
}
