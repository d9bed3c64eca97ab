// Lines of a journal, `CHECKSUM LENGTH PAYLOAD`. Lines are only appended. The checksum covers the payload and the previous
// checksum, so the last line proves all lines: each change, move or removal of a line is detected. The length reveals a cut line,
// and two lines without their line break.
import { hash } from "node:crypto";
import * as z from "zod";
import { attempt, ifExplained, type JsonObject, parseAddress, parsedJson, type ResourceState } from "../model/index.ts";
import type { Seal } from "./encryption.ts";
import { normalized, privateMark } from "./instance.ts";
import { type Changes, isEmpty } from "./revise.ts";

/** Format of a journal. A reader rejects other formats, because a half-read entry could order a server twice. */
const CLEAR_VERSION = 1;
/**
 * Format of a sealed journal: its first line has a proof, and each line is bound to all previous lines. Version 0.1 wrote the
 * format above, in which the key proves each line separately. Such journals are still read.
 */
const SEALED_VERSION = 2;

/** Beginning of each first line, in every version. */
const HEAD_START = '{"journal":';

/** First line of a journal, in clear text. It identifies the state. In a sealed journal, the key proves this line. */
export interface JournalHead {
  /** Lineage of the state. Without a state, a new lineage, which the state later receives. */
  readonly lineage: string;
  /** Serial of the continued state; 0 without a state. */
  readonly serial: number;
  /** Header of the lines' encryption. */
  readonly seal?: JsonObject | undefined;
  /** Proof of the key that the line is unchanged up to this field. */
  readonly proof?: string | undefined;
}

/**
 * Content of a later line: changes, or digests of states. The last line contains the digest of each state that this or an earlier
 * attempt writes with all changes. A state with such a digest contains all changes of the journal.
 */
export type JournalEntry = Changes | { readonly fold: readonly string[] };

const belonging = { lineage: z.string().min(1), serial: z.int().min(0) };
const header = z.record(z.string(), z.unknown());
const head = z.discriminatedUnion("journal", [
  z.strictObject({ journal: z.literal(CLEAR_VERSION), ...belonging, seal: header.optional() }),
  z.strictObject({ journal: z.literal(SEALED_VERSION), ...belonging, seal: header, proof: z.string() }),
]);

/** Resource without the fields that have their default. */
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

/** Creates the lines of one journal in order. */
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

  /** Returns a whole journal: at most one entry of changes, and the digests of the next state. */
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

/** Decodes the first line. Undefined if the line is not a head of a known version. */
export function decodeHead(payload: string): JournalHead | undefined {
  const checked = head.safeParse(parsedJson(payload));
  if (!checked.success) return undefined;
  const { lineage, serial, seal, ...rest } = checked.data;
  return { lineage, serial, seal: seal as JsonObject | undefined, ...("proof" in rest && { proof: rest.proof }) };
}

/** Returns true if the key proves every byte of the first line. Version 1 has no proof. */
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

/** Returns true if a crash can leave this text of a first line: only its beginning, or a line with a hole (NUL). */
export function isTornHead(text: string): boolean {
  if (text.includes("\0")) return true;
  const line = /^[\w-]{0,22}(?: (?:\d+(?: (.*))?)?)?$/.exec(text);
  if (line === null) return false;
  const [, payload = ""] = line;
  return payload.startsWith(HEAD_START) || HEAD_START.startsWith(payload);
}

/**
 * Decodes a later line.
 * @param line number of the line; the head is 0.
 * @param previous checksum of the previous line.
 * @returns undefined if the payload is not an entry.
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
  // Use the parsed value, because zod's copy would lose a key such as "__proto__".
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

/** Binds a sealed line to its number and to all previous lines. */
function lineBound(of: Belonging, line: number, previous: string): string {
  return `${earlierLineBound(of, line)}\n${previous}`;
}

function earlierLineBound({ lineage, serial }: Belonging, line: number): string {
  return `hostform journal\n${lineage}\n${serial}\n${line}`;
}

/** Binds the proof to the first line. @param text first line without its proof. */
function headBound(text: string): string {
  return `hostform journal head\n${text}`;
}

function proofEnd(proof: string): string {
  return `,"proof":${JSON.stringify(proof)}}`;
}

/** Escapes all characters that are not ASCII. */
function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** SHA-256 cut to 128 bits: 22 characters of base64url. */
const SUM_BYTES = 16;
const HOLE = "\0";
const LINE = /^([\w-]{22}) (\d+) (.*)$/s;

/** Previous checksum of the first line. */
export const CHAIN_START = "";

/**
 * Returns a line with its line break, and its checksum.
 * @param payload ASCII without a line break, so that its length is a number of bytes.
 */
export function chainLine(previous: string, payload: string): { readonly line: string; readonly sum: string } {
  const digest = hash("sha256", `${previous}\n${payload}`, "buffer");
  const sum = digest.subarray(0, SUM_BYTES).toString("base64url");
  return { line: `${sum} ${payload.length} ${payload}\n`, sum };
}

/** Proved lines of a text. */
export interface ChainReading {
  readonly payloads: readonly string[];
  /** Checksum of each payload. */
  readonly sums: readonly string[];
  /**
   * Number of the first corrupted line, from 1. Undefined if only the last write was torn. A line is corrupted if it has a
   * successor or a line break, or is too long: each line is synced before the next line is appended.
   */
  readonly damagedLine?: number;
  /** Incomplete line of a write that a crash interrupted. Empty after a complete write. */
  readonly torn: string;
  /** Payloads from the first corrupted line on, each with the previous checksum. They are unproved, and only for messages. */
  readonly beyond: readonly { readonly payload: string; readonly previous: string }[];
}

export function readChain(text: string): ChainReading {
  const pieces = text.split("\n");
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
 * Returns true if a crash can leave this part of one line. Usually the line break is missing, because it is the last byte. If
 * the last disk block of a line was written and an earlier block was not, the missing block reads as NUL. No line contains NUL.
 */
function isTorn(text: string): boolean {
  const [line = "", ...more] = text.split("\n");
  // A line that is longer than its stated length is corrupted, possibly at its line break.
  const [, , length, payload = ""] = LINE.exec(line) ?? [];
  if (payload.length > Number(length) + 1) return false;
  return more.length === 0 || (more.join("\n") === "" && line.includes(HOLE));
}

function payloadOf(line: string): string {
  return LINE.exec(line)?.[3] ?? "";
}
