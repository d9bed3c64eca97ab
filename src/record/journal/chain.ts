import { createHash } from "node:crypto";

/**
 * Lines that are only ever added. Each begins with a checksum of its own content and of the checksum before it, so that
 * a line can neither change nor move, vanish or come from elsewhere unseen: what holds for the last line holds for all.
 */

/** SHA-256 cut to 128 bits: 22 characters of base64url. Far cheaper than the sync that follows, and nothing collides. */
const SUM_BYTES = 16;
const SUM_LENGTH = 22;

/** What the first line follows. */
export const CHAIN_START = "";

/** One line, with its line break, and the checksum that the next one takes up. `payload` has no line break. */
export function chainLine(previous: string, payload: string): { readonly line: string; readonly sum: string } {
  const sum = sumOf(previous, payload);
  return { line: `${sum} ${payload}\n`, sum };
}

/** The lines of a text, as far as they can be trusted. */
export interface ChainReading {
  readonly payloads: readonly string[];
  /**
   * Of the first bad line, counted from 1, when more follows it: damage, because a line is only added once the one
   * before is whole and synced. A bad line at the very end is what a crash leaves, and is left out without a word.
   */
  readonly damagedLine?: number;
  /** The payloads from the damaged line on, as they stand there; for messages only. */
  readonly beyond: readonly string[];
}

export function readChain(text: string): ChainReading {
  const lines = text.split("\n");
  const payloads: string[] = [];
  let sum = CHAIN_START;
  // What follows the last line break is no whole line, and never counts.
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const payload = line.slice(SUM_LENGTH + 1);
    const expected = sumOf(sum, payload);
    if (line !== `${expected} ${payload}`) {
      const atTheEnd = index === lines.length - 2 && lines.at(-1) === "";
      if (atTheEnd) return { payloads, beyond: [] };
      const beyond = lines.slice(index).map((each) => each.slice(SUM_LENGTH + 1));
      return { payloads, damagedLine: index + 1, beyond };
    }
    payloads.push(payload);
    sum = expected;
  }
  return { payloads, beyond: [] };
}

function sumOf(previous: string, payload: string): string {
  const digest = createHash("sha256").update(previous).update("\n").update(payload).digest();
  return digest.subarray(0, SUM_BYTES).toString("base64url");
}
