import { createHash } from "node:crypto";
import { z } from "zod";
import type { JsonObject, ResourceState } from "../../model/index.ts";
import { parseAddress } from "../../model/index.ts";
import { normalized, privateMark } from "../instance.ts";
import type { Seal } from "../sealing.ts";
import { CHAIN_START, chainLine } from "./chain.ts";
import type { Changes } from "./changes.ts";
import { isEmpty } from "./changes.ts";

/** The form of the journal. A reader refuses what it does not know: half of a record may be what orders a server twice. */
const JOURNAL_VERSION = 1;

/** How each first line begins, whatever its version. */
const HEAD_START = '{"journal":';

/** The first line: what the journal belongs to. Always in the clear. */
export interface JournalHead {
  /** Of the state; chosen by the journal when there is no state yet. */
  readonly lineage: string;
  /** Of the state that the journal continues; 0 when there is none. */
  readonly serial: number;
  /** What the lines are sealed with. */
  readonly seal?: JsonObject | undefined;
}

/**
 * Any other line: changes, or, as the last one, the digest of the state that is about to be written with all of them (and
 * those of earlier attempts at it). A state of such a digest has them in it.
 */
export type JournalEntry = Changes | { readonly fold: readonly string[] };

const head = z.strictObject({
  journal: z.literal(JOURNAL_VERSION),
  lineage: z.string().min(1),
  serial: z.int().min(0),
  seal: z.record(z.string(), z.unknown()).optional(),
});

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

/** What stands in the last line for a state: of its text as it is before it is sealed. */
export function digestOf(stateText: string): string {
  return createHash("sha256").update(stateText).digest("base64url");
}

/** Makes the lines of one journal, in their order. */
export class JournalLines {
  readonly #head: JournalHead;
  readonly #seal: Seal | undefined;
  #previous = CHAIN_START;
  #count = 0;

  constructor(state: Omit<JournalHead, "seal">, seal: Seal | undefined) {
    this.#head = { ...state, seal: seal?.header };
    this.#seal = seal;
  }

  /** The first line. */
  head(): string {
    return this.#line(ascii(JSON.stringify({ journal: JOURNAL_VERSION, ...this.#head })));
  }

  entry(entry: JournalEntry): string {
    const text = JSON.stringify("fold" in entry ? entry : encodeChanges(entry));
    return this.#line(this.#seal?.seal(text, boundTo(this.#head, this.#count)) ?? ascii(text));
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
  const checked = head.safeParse(parsed(payload));
  if (!checked.success) return undefined;
  const { lineage, serial, seal } = checked.data;
  return { lineage, serial, seal: seal as JsonObject | undefined };
}

/** Whether a crash can leave this of the first line: its beginning, or one with a hole (NUL) in it. */
export function isTornHead(text: string): boolean {
  if (text.includes("\0")) return true;
  const line = /^[\w-]{0,22}(?: (?:\d+(?: (.*))?)?)?$/.exec(text);
  if (line === null) return false;
  const [, payload = ""] = line;
  return payload.startsWith(HEAD_START) || HEAD_START.startsWith(payload);
}

/**
 * @param line counted from 0, the head being 0.
 * @returns undefined for what is no entry.
 * @throws HostformError as `Seal.open` does.
 */
export function decodeEntry(
  payload: string,
  of: JournalHead | undefined,
  line: number,
  seal: Seal | undefined,
): JournalEntry | undefined {
  const json = parsed(seal && of ? seal.open(payload, boundTo(of, line)) : payload);
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

/** A sealed line opens in its own place only. */
function boundTo({ lineage, serial }: JournalHead, line: number): string {
  return `hostform journal\n${lineage}\n${serial}\n${line}`;
}

/** The same JSON, with every other character as an escape. */
function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
