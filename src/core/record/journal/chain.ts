import { createHash } from "node:crypto";

/**
 * Lines that are only ever added: `CHECKSUM LENGTH PAYLOAD`. The checksum is of the payload and of the checksum before
 * it, so that a line can neither change nor move, vanish or come from elsewhere unseen: what holds for the last line
 * holds for all. The length tells a line that was cut off from two that lost the line break between them.
 */

/** SHA-256 cut to 128 bits: 22 characters of base64url. Far cheaper than the sync that follows, and nothing collides. */
const SUM_BYTES = 16;
const HOLE = "\0";
const LINE = /^([\w-]{22}) (\d+) (.*)$/s;

/** What the first line follows. */
export const CHAIN_START = "";

/**
 * One line, with its line break, and the checksum that the next one takes up.
 * @param payload of ASCII alone, so that a length is one of bytes, and without a line break.
 */
export function chainLine(previous: string, payload: string): { readonly line: string; readonly sum: string } {
  const sum = sumOf(previous, payload);
  return { line: `${sum} ${payload.length} ${payload}\n`, sum };
}

/** The lines of a text, as far as they can be trusted. */
export interface ChainReading {
  readonly payloads: readonly string[];
  /** The checksum of each of them. */
  readonly sums: readonly string[];
  /**
   * Of the first bad line, counted from 1, when it is not the torn end of the last write: more follows it, it has its
   * line break, or it is longer than it was. That is damage, because a line is only added once the one before is whole
   * and synced.
   */
  readonly damagedLine?: number;
  /** What the last write left when a crash tore it; empty for a text that ends well. */
  readonly torn: string;
  /** The payloads from the damaged line on, as they stand there, each with the checksum that stands before it; for messages only. */
  readonly beyond: readonly { readonly payload: string; readonly previous: string }[];
}

export function readChain(text: string): ChainReading {
  const pieces = text.split("\n");
  // What follows the last line break is no whole line, whatever it says.
  const whole = pieces.slice(0, -1);
  const payloads: string[] = [];
  const sums: string[] = [];
  for (const line of whole) {
    const payload = payloadOf(line);
    const next = chainLine(sums.at(-1) ?? CHAIN_START, payload);
    if (`${line}\n` !== next.line) break;
    payloads.push(payload);
    sums.push(next.sum);
  }
  const rest = pieces.slice(payloads.length);
  const torn = rest.join("\n");
  if (isTorn(torn)) return { payloads, sums, torn, beyond: [] };
  const before = [sums.at(-1) ?? CHAIN_START, ...rest.map(statedSumOf)];
  const beyond = rest.map((line, index) => ({ payload: payloadOf(line), previous: before[index] ?? "" }));
  return { payloads, sums, torn: "", damagedLine: payloads.length + 1, beyond };
}

/**
 * Whether a crash can leave this of one line. The line break is its last byte, so most often it is not there. It is,
 * when of a line that goes over several blocks of the disk the last reached it and an earlier one did not. What did
 * not is a hole, which reads as NUL; no line holds one.
 */
function isTorn(text: string): boolean {
  const [line = "", ...more] = text.split("\n");
  if (isTooLong(line)) return false;
  return more.length === 0 || (more.join("\n") === "" && line.includes(HOLE));
}

/** Longer than what was written at once. Its line break, too, may have become something else. */
function isTooLong(line: string): boolean {
  const [, , length, payload = ""] = LINE.exec(line) ?? [];
  return payload.length > Number(length) + 1;
}

function payloadOf(line: string): string {
  return LINE.exec(line)?.[3] ?? "";
}

function statedSumOf(line: string): string {
  return LINE.exec(line)?.[1] ?? "";
}

function sumOf(previous: string, payload: string): string {
  const digest = createHash("sha256").update(previous).update("\n").update(payload).digest();
  return digest.subarray(0, SUM_BYTES).toString("base64url");
}
