// Lines of a journal, `CHECKSUM LENGTH PAYLOAD`. Lines are only appended. The checksum covers the payload and the checksum of the
// line before, so that no line can change, move, vanish or come from another journal unnoticed: the last line proves all. The
// length reveals a cut line, and two lines that lost the line break between them.
import { hash } from "node:crypto";
import * as z from "zod";
import { attempt, ifExplained, type JsonObject, parseAddress, parsedJson, type ResourceState } from "../model/index.ts";
import type { Seal } from "./encryption.ts";
import { normalized, privateMark } from "./instance.ts";
import { type Changes, isEmpty } from "./revise.ts";

/** The form of a journal. A reader refuses what it does not know: half of a record may be what orders a server twice. */
const CLEAR_VERSION = 1;
/**
 * Of a sealed journal: its first line carries a proof, and each line is bound to all before it. Up to 0.1 they had the form
 * above, in which the key proves each line alone; such a journal is still read.
 */
const SEALED_VERSION = 2;

/** Beginning of each first line, in every version. */
const HEAD_START = '{"journal":';

/** The first line: what the journal belongs to. Always in the clear; of a sealed journal, proved with the key. */
export interface JournalHead {
  /** Lineage of the state. The journal chooses one if no state exists. */
  readonly lineage: string;
  /** Serial of the continued state; 0 without a state. */
  readonly serial: number;
  /** Header of the lines' encryption. */
  readonly seal?: JsonObject | undefined;
  /** Made with the key over all that stands before it in the line. */
  readonly proof?: string | undefined;
}

/**
 * Any other line: changes, or, as the last one, the digest of the state that is about to be written with all of them (and
 * those of earlier attempts at it). A state of such a digest has them in it.
 */
export type JournalEntry = Changes | { readonly fold: readonly string[] };

const belonging = { lineage: z.string().min(1), serial: z.int().min(0) };
const header = z.record(z.string(), z.unknown());
const head = z.discriminatedUnion("journal", [
  z.strictObject({ journal: z.literal(CLEAR_VERSION), ...belonging, seal: header.optional() }),
  z.strictObject({ journal: z.literal(SEALED_VERSION), ...belonging, seal: header, proof: z.string() }),
]);

/** A resource as the state has it; what is most often the same is left out. */
const record = z.strictObject({
  address: z.string().refine((text) => parseAddress(text) !== undefined),
  provider: z.string().optional(),
  schema: z.int().min(0).optional(),
  attributes: z.record(z.string(), z.unknown()),
  sensitive: z.array(z.string()).optional(),
  private: privateMark.optional(),
  dependencies: z.array(z.string()).optional(),
});

const fold = z.strictObject({ fold: z.array(z.string()) });
const changes = z.strictObject({ remove: z.array(z.string()).optional(), put: z.array(record).optional() });

/** Digest of a state in the last line, computed from its text before encryption. */
export function digestOf(stateText: string): string {
  return hash("sha256", stateText, "base64url");
}

/** Makes the lines of one journal, in their order. */
export class JournalLines {
  readonly #head: Omit<JournalHead, "seal" | "proof">;
  readonly #seal: Seal | undefined;
  #previous = CHAIN_START;
  #count = 0;

  constructor(state: Omit<JournalHead, "seal" | "proof">, seal: Seal | undefined) {
    this.#head = state;
    this.#seal = seal;
  }

  head(): string {
    const seal = this.#seal;
    if (seal === undefined) return this.#line(ascii(JSON.stringify({ journal: CLEAR_VERSION, ...this.#head })));
    const text = ascii(JSON.stringify({ journal: SEALED_VERSION, ...this.#head, seal: seal.header })).slice(0, -1);
    return this.#line(`${text}${proofEnd(seal.seal("", headBound(text)))}`);
  }

  entry(entry: JournalEntry): string {
    const text = JSON.stringify("fold" in entry ? entry : encodeChanges(entry));
    return this.#line(this.#seal?.seal(text, lineBound(this.#head, this.#count, this.#previous)) ?? ascii(text));
  }

  /** A whole journal with one entry of changes, if there are any, and the state that takes them up. */
  folding(list: Changes, digests: readonly string[]): string {
    return [this.head(), isEmpty(list) ? "" : this.entry(list), this.entry({ fold: digests })].join("");
  }

  #line(payload: string): string {
    const { line, sum } = chainLine(this.#previous, payload);
    this.#previous = sum;
    this.#count++;
    return line;
  }
}

/** Undefined for a head of another version, or of something else. */
export function decodeHead(payload: string): JournalHead | undefined {
  const checked = head.safeParse(parsedJson(payload));
  if (!checked.success) return undefined;
  const { lineage, serial, seal, ...rest } = checked.data;
  return { lineage, serial, seal: seal as JsonObject | undefined, ...("proof" in rest && { proof: rest.proof }) };
}

/** Returns true if the key proves every byte of the first line. The earlier form has no proof. */
export function isProved(payload: string, { proof }: JournalHead, seal: Seal): boolean {
  if (proof === undefined) return true;
  const end = proofEnd(proof);
  if (!payload.endsWith(end)) return false;
  const bound = headBound(payload.slice(0, -end.length));
  return attempt(
    () => seal.open(proof, bound) === "",
    ifExplained(() => false),
  );
}

/** Returns true for the rest of a first line after a crash: its beginning, or a line with a hole (NUL). */
export function isTornHead(text: string): boolean {
  if (text.includes("\0")) return true;
  const line = /^[\w-]{0,22}(?: (?:\d+(?: (.*))?)?)?$/.exec(text);
  if (line === null) return false;
  const [, payload = ""] = line;
  return payload.startsWith(HEAD_START) || HEAD_START.startsWith(payload);
}

/**
 * @param line counted from 0, the head being 0.
 * @param previous the checksum of the line before it.
 * @returns undefined for what is no entry.
 * @throws HostformError as `Seal.open` does.
 */
export function decodeEntry(
  payload: string,
  of: JournalHead | undefined,
  line: number,
  seal: Seal | undefined,
  previous = CHAIN_START,
): JournalEntry | undefined {
  const json = parsedJson(seal && of ? seal.open(payload, boundOf(of, line, previous)) : payload);
  const last = fold.safeParse(json);
  if (last.success) return last.data;
  if (!changes.safeParse(json).success) return undefined;
  // The parsed value itself, not zod's copy of it, which would lose a key such as "__proto__".
  const { remove = [], put = [] } = json as z.infer<typeof changes>;
  return { remove, put: put.map(decodeRecord) };
}

function encodeChanges({ remove, put }: Changes): object {
  return { ...(remove.length > 0 && { remove }), ...(put.length > 0 && { put: put.map(encodeRecord) }) };
}

function encodeRecord(resource: ResourceState): z.infer<typeof record> {
  const { address, provider, schemaVersion, attributes, sensitive, private: mark, dependencies } = resource;
  return {
    address,
    ...(provider !== "default" && { provider }),
    ...(schemaVersion !== 0 && { schema: schemaVersion }),
    attributes,
    ...(sensitive.length > 0 && { sensitive: [...sensitive] }),
    ...(Object.keys(mark).length > 0 && { private: mark as z.infer<typeof privateMark> }),
    ...(dependencies.length > 0 && { dependencies: [...dependencies] }),
  };
}

function decodeRecord(found: z.infer<typeof record>): ResourceState {
  const { provider = "default", schema = 0, sensitive = [], dependencies = [] } = found;
  const resource = { address: found.address, provider, schemaVersion: schema, sensitive, dependencies };
  return normalized({ ...resource, attributes: found.attributes, private: found.private ?? {} } as ResourceState);
}

type Belonging = Pick<JournalHead, "lineage" | "serial">;

function boundOf(of: JournalHead, line: number, previous: string): string {
  return of.proof === undefined ? earlierLineBound(of, line) : lineBound(of, line, previous);
}

/** A sealed line opens in its own place only, and behind the lines that it was written behind. */
function lineBound(of: Belonging, line: number, previous: string): string {
  return `${earlierLineBound(of, line)}\n${previous}`;
}

function earlierLineBound({ lineage, serial }: Belonging, line: number): string {
  return `hostform journal\n${lineage}\n${serial}\n${line}`;
}

/** @param text the first line as far as it is proved. */
function headBound(text: string): string {
  return `hostform journal head\n${text}`;
}

/** End of a proved first line. */
function proofEnd(proof: string): string {
  return `,"proof":${JSON.stringify(proof)}}`;
}

/** The same JSON, with every other character as an escape. */
function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** SHA-256 cut to 128 bits: 22 characters of base64url. Far cheaper than the sync that follows, and nothing collides. */
const SUM_BYTES = 16;
const HOLE = "\0";
const LINE = /^([\w-]{22}) (\d+) (.*)$/s;

/** Link of the first line. */
export const CHAIN_START = "";

/**
 * One line, with its line break, and the checksum that the next one takes up.
 * @param payload of ASCII alone, so that a length is one of bytes, and without a line break.
 */
export function chainLine(previous: string, payload: string): { readonly line: string; readonly sum: string } {
  const digest = hash("sha256", `${previous}\n${payload}`, "buffer");
  const sum = digest.subarray(0, SUM_BYTES).toString("base64url");
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
  /** Rest of a write that a crash tore; empty after a complete write. */
  readonly torn: string;
  /** The payloads from the damaged line on, as they stand there, each with the checksum that stands before it; for messages only. */
  readonly beyond: readonly { readonly payload: string; readonly previous: string }[];
}

export function readChain(text: string): ChainReading {
  const pieces = text.split("\n");
  // Text after the last line break is not a whole line.
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
  const before = [sums.at(-1) ?? CHAIN_START, ...rest.map((line) => LINE.exec(line)?.[1] ?? "")];
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
  // Longer than what was written at once. Its line break, too, may have become something else.
  const [, , length, payload = ""] = LINE.exec(line) ?? [];
  if (payload.length > Number(length) + 1) return false;
  return more.length === 0 || (more.join("\n") === "" && line.includes(HOLE));
}

function payloadOf(line: string): string {
  return LINE.exec(line)?.[3] ?? "";
}
