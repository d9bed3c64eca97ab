// History of a state: JSON lines that form a hash chain. The lines are encrypted if the state is encrypted.
import { hash } from "node:crypto";
import { dirname } from "node:path";
import * as z from "zod";
import { beside, type Disk, replaceFile, systemDisk } from "../files/index.ts";
import { raise } from "../messages/index.ts";
import {
  attempt,
  equal,
  type HistoryEntry,
  type HistoryReading,
  HostformError,
  ifExplained,
  isObject,
  type Json,
  type JsonObject,
  messageOf,
  parsedJson,
} from "../model/index.ts";
import type { Seal } from "./encryption.ts";
import type { SealedText } from "./sealed-text.ts";

/** Storage of a history's lines. Each method throws the errors of its file or server. Only the holder of the state's lock writes. */
export interface HistoryLines {
  /** Place of the lines, for messages. */
  readonly name: string;
  /** Oldest first. */
  read(): Promise<readonly string[]>;
  append(line: string): Promise<void>;
  replace(lines: readonly string[]): Promise<void>;
  /** Throws if no line can be appended. */
  prove(): Promise<void>;
}

/** Creates the storage of a history in a file that only its owner can read. Each write replaces the file. */
export function linesInFile(name: string, disk: Disk = systemDisk): HistoryLines {
  const write = async (text: string) => {
    await replaceFile(disk, { path: name, temporary: beside(name) }, text);
    await disk.syncFolder(dirname(name));
  };
  return linesIn(name, () => disk.read(name), write);
}

/** Creates the storage of a history in one text. Each write replaces the whole text. */
export function linesIn(
  name: string,
  readText: () => Promise<string | undefined>,
  write: (text: string) => Promise<void>,
): HistoryLines {
  const read = async () => ((await readText()) ?? "").split("\n").filter(Boolean);
  const replace = (lines: readonly string[]) => write(lines.map((line) => `${line}\n`).join(""));
  const append = async (line: string) => replace([...(await read()), line]);
  return { name, read, append, replace, prove: async () => replace(await read()) };
}

const text = z.string();
const name = text.nullable();
const amount = z.number().nullable();
const invoice = z.object({ id: name, number: name, total: amount, currency: name });
const order = z.object({
  key: text,
  id: name,
  provider: text,
  type: text,
  currency: text,
  quote: amount,
  invoice: invoice.nullable(),
});
const effect = z.object({ address: text, text, domain: text.optional(), order: text.optional() });
const shape = z.object({
  at: z.iso.datetime(),
  command: text,
  commit: name,
  plan: name,
  orders: z.array(order),
  requests: z.number(),
  errors: z.array(text),
  details: z.object({ salt: text, who: name, run: name, effects: z.array(effect) }).nullable(),
}) satisfies z.ZodType<HistoryEntry>;

/** Binds encrypted lines to the history, so that they are invalid elsewhere. The hash chain binds each line to its position. */
const BOUND = "history";

const digestOf = (value: Json) => hash("sha256", JSON.stringify(value));

/** Returns the digest of an entry. It covers only the digest of the details, so that the chain stays valid after their removal. */
const linkOf = (row: JsonObject | undefined) => (row === undefined ? "" : digestOf({ ...row, details: null }));

/** Returns true if a row continues the chain and its details have their recorded digest. */
const continues = (row: JsonObject, prior: JsonObject | undefined) =>
  row.before === linkOf(prior) &&
  shape.safeParse(row).success &&
  (row.details === null || row.digest === digestOf(row.details ?? null));

/** A line and its content. The content is empty if it is unreadable. */
interface Row {
  readonly line: string;
  readonly row: JsonObject;
}

export class History {
  readonly #lines: HistoryLines;
  readonly #sealing: Pick<SealedText, "current" | "from">;

  constructor(lines: HistoryLines, sealing: Pick<SealedText, "current" | "from">) {
    this.#lines = lines;
    this.#sealing = sealing;
  }

  get name(): string {
    return this.#lines.name;
  }

  /** Reads all entries, and finds the first broken row. @throws errors of the storage; HostformError `state.key`. */
  async read(): Promise<HistoryReading> {
    const rows = (await this.#open()).map(({ row }) => row);
    const broken = rows.findIndex((row, at) => !continues(row, rows[at - 1])) + 1;
    const entries = rows.flatMap((row) => shape.safeParse(row).data ?? []);
    return { name: this.#lines.name, entries, ...(broken > 0 && { broken }) };
  }

  /** Appends an entry to the chain. The entry is durable when the promise resolves. Throws as {@link read} does. */
  async append(entry: HistoryEntry): Promise<void> {
    const before = linkOf((await this.#open()).at(-1)?.row);
    const row = { before, digest: digestOf(entry.details as Json), ...entry } as unknown as JsonObject;
    await this.#lines.append(sealed(row, await this.#sealing.current()));
  }

  /** Returns the lines, for a copy at another place. @throws HostformError `state.history`. */
  lines(): Promise<readonly string[]> {
    return this.#explained(() => this.#lines.read());
  }

  /**
   * Returns true if the lines of another storage continue this history. Returns false if this history already contains these lines.
   * @throws HostformError `state.history`, also if the two histories have different entries.
   */
  isContinuedBy(lines: readonly string[]): Promise<boolean> {
    return this.#explained(async () => {
      const linkAt = ({ line, row }: Row) => (row.before === undefined ? line : linkOf(row));
      const own = (await this.#open()).map(linkAt);
      const given = (await this.#open(false, lines)).map(linkAt);
      const other = own.findIndex((link, at) => at < given.length && link !== given[at]);
      if (other >= 0) raise("state.history/other", { place: this.#lines.name, line: other + 1 });
      return given.length > own.length;
    });
  }

  /** Replaces all lines, and compares them after a new read. @throws HostformError `state.history`, also after a difference. */
  copy(lines: readonly string[]): Promise<void> {
    return this.#explained(async () => {
      await this.#lines.replace(lines);
      const written = await this.#lines.read();
      if (!equal([...lines], [...written])) throw new Error("the lines differ after the copy");
    });
  }

  /** Converts errors of the storage to `state.history`. */
  async #explained<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof HostformError) throw error;
      return raise("state.history", { place: this.#lines.name, reason: messageOf(error), severity: "error" });
    }
  }

  /** Throws if no entry can be appended. Throws as {@link read} does. */
  prove(): Promise<void> {
    return this.#lines.prove();
  }

  /** Removes the details of entries before a time, in milliseconds. @returns the number of changed entries. */
  async prune(before: number): Promise<number> {
    const isOld = ({ at, details }: JsonObject) => isObject(details) && Date.parse(String(at)) < before;
    const rows = await this.#open();
    const seal = await this.#sealing.current();
    const pruned = rows.map(({ line, row }) => (isOld(row) ? sealed({ ...row, details: null }, seal) : line));
    const count = rows.filter(({ row }) => isOld(row)).length;
    if (count > 0) await this.#lines.replace(pruned);
    return count;
  }

  /** Encrypts all lines with another seal, or decrypts them. */
  async convert(seal: Seal | undefined): Promise<void> {
    const rows = await this.#open(true);
    const converted = rows.map(({ line, row }) => (row.before === undefined ? line : sealed(row, seal)));
    if (rows.length > 0) await this.#lines.replace(converted);
  }

  /** Decrypts the lines. @param clear true also accepts clear lines of an encrypted state. */
  async #open(clear = false, lines?: readonly string[]): Promise<Row[]> {
    const rows: Row[] = [];
    for (const line of lines ?? (await this.#lines.read())) {
      const json = parsedJson(line);
      const found = isObject(json) ? (json as JsonObject) : {};
      const { key, data } = found;
      if (isObject(key)) {
        const seal = await this.#sealing.from(key as JsonObject);
        const row = attempt(
          () => parsedJson(seal.open(String(data), BOUND)),
          ifExplained(() => ({})),
        );
        rows.push({ line, row: row as JsonObject });
      } else {
        const isFit = clear || (await this.#sealing.current()) === undefined;
        rows.push({ line, row: isFit ? found : {} });
      }
    }
    return rows;
  }
}

function sealed(row: JsonObject, seal: Seal | undefined): string {
  const line = JSON.stringify(row);
  return seal === undefined ? line : JSON.stringify({ key: seal.header, data: seal.seal(line, BOUND) });
}
