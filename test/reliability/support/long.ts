import { writeSync } from "node:fs";

/** Whether everything is to be tried (`npm run test:long`), not a sample of it. */
export const LONG = process.env.HOSTFORM_LONG === "1";

/** Says how much was covered, on the terminal. */
export function announce(text: string): void {
  writeSync(2, `${text}\n`);
}
