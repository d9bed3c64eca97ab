/** What an adoption has read, in a file beside the state: one that was interrupted goes on where it stopped. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { z } from "zod";
import type { ApiRecord } from "../../core/api/index.ts";
import { errnoOf, HostformError } from "../../core/model/index.ts";
import type { Encryption, Seal } from "../../core/record/index.ts";

/** What was read longer ago than this is read again. */
const FRESH_MS = 3_600_000;

const FORM = "hostform adopt";

const headerForm = z.object({
  form: z.literal(FORM),
  version: z.literal(1),
  id: z.string(),
  account: z.string(),
  since: z.number(),
  key: z.record(z.string(), z.json()).nullable(),
});
const lineForm = z.object({ list: z.string(), records: z.array(z.looseObject({ id: z.string() })) });

interface KeptOptions {
  /** Absolute. */
  readonly file: string;
  /** The account that is read; what was read of another one does not count. */
  readonly account: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly encryption: Encryption;
}

/** A file that is open, with what it holds. */
interface Kept {
  readonly file: string;
  readonly handle: FileHandle;
  readonly since: number;
  readonly lists: Map<string, readonly ApiRecord[]>;
  /** Seals the line of this number. */
  readonly seal: ((text: string, at: number) => string) | undefined;
}

/**
 * The lists that were read, by name. Each is a line of the file, on disk when {@link add} resolves. The file is its owner's
 * alone, and with a key of the state each line is sealed with it, bound to its place in this file.
 */
export class KeptLists {
  /** How many lists an earlier run has left. */
  readonly found: number;
  /** When the first of them was read, in milliseconds since the epoch. */
  readonly since: number;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #lists: Map<string, readonly ApiRecord[]>;
  readonly #seal: Kept["seal"];
  #writing: Promise<void> = Promise.resolve();
  #lines: number;

  constructor({ file, handle, since, lists, seal }: Kept) {
    this.#path = file;
    this.#file = handle;
    this.since = since;
    this.#lists = lists;
    this.found = lists.size;
    this.#lines = lists.size;
    this.#seal = seal;
  }

  get(name: string): readonly ApiRecord[] | undefined {
    return this.#lists.get(name);
  }

  /** Keeps a list. Those that are added side by side are written one after the other. */
  async add(name: string, records: readonly ApiRecord[]): Promise<void> {
    this.#lists.set(name, records);
    const line = JSON.stringify({ list: name, records });
    const at = this.#lines++;
    const text = this.#seal === undefined ? line : this.#seal(line, at);
    this.#writing = this.#writing.then(() => this.#file.appendFile(`${text}\n`));
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#file.close();
  }

  /** Removes the file, which is closed. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

/**
 * Opens the file with what it holds of this account, where that was read within the last hour and nobody has changed it;
 * otherwise begins another one.
 * @throws HostformError `state.key`; the system's errors.
 */
export async function openKept(options: KeptOptions): Promise<KeptLists> {
  return new KeptLists((await resumed(options)) ?? (await begun(options)));
}

const place = (id: string, at: number) => `${FORM} ${id} ${at}`;
const sealing = (seal: Seal | undefined, id: string) =>
  seal && ((text: string, at: number) => seal.seal(text, place(id, at)));

async function begun({ file, account, now, encryption }: KeptOptions): Promise<Kept> {
  const seal = encryption.key && (await encryption.recent());
  const id = randomUUID();
  await rm(file, { force: true });
  const handle = await open(file, "wx", 0o600);
  await handle.appendFile(
    `${JSON.stringify({ form: FORM, version: 1, id, account, since: now, key: seal?.header ?? null })}\n`,
  );
  return { file, handle, since: now, lists: new Map(), seal: sealing(seal, id) };
}

/** Undefined where there is nothing to go on with. */
async function resumed({ file, account, now, encryption }: KeptOptions): Promise<Kept | undefined> {
  const handle = await open(file, constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      if (errnoOf(error) === undefined) throw error;
      return undefined;
    },
  );
  if (handle === undefined) return undefined;
  const kept = (await handle.stat()).isFile() ? await read(handle, { account, now, encryption }) : undefined;
  if (kept === undefined) {
    await handle.close();
    return undefined;
  }
  // The last line of a run that was killed may be half a line.
  await handle.truncate(kept.bytes);
  return { file, handle, since: kept.since, lists: kept.lists, seal: kept.seal };
}

async function read(handle: FileHandle, { account, now, encryption }: Omit<KeptOptions, "file">) {
  const text = await handle.readFile("utf8");
  const [first = "", ...lines] = text.split("\n");
  const header = headerForm.safeParse(parsed(first)).data;
  if (header === undefined || header.account !== account) return undefined;
  if (now - header.since > FRESH_MS || header.since > now) return undefined;
  if ((header.key === null) !== (encryption.key === undefined)) return undefined;
  const seal = header.key === null ? undefined : await sealOf(encryption, header.key);
  if (header.key !== null && seal === undefined) return undefined;
  const lists = new Map<string, readonly ApiRecord[]>();
  let bytes = Buffer.byteLength(first) + 1;
  for (const line of lines.slice(0, -1)) {
    const opened = seal === undefined ? line : opening(seal, line, place(header.id, lists.size));
    const list = lineForm.safeParse(parsed(opened)).data;
    if (list === undefined || lists.has(list.list)) break;
    lists.set(list.list, list.records as unknown as ApiRecord[]);
    bytes += Buffer.byteLength(line) + 1;
  }
  return { since: header.since, lists, bytes, seal: sealing(seal, header.id) };
}

/** What another key has sealed is read again from the account: it holds nothing that could be lost. */
async function sealOf(encryption: Encryption, key: z.infer<typeof headerForm>["key"]): Promise<Seal | undefined> {
  try {
    return await encryption.from(key ?? {});
  } catch (error) {
    if (error instanceof HostformError) return undefined;
    throw error;
  }
}

function opening(seal: Seal, line: string, bound: string): string {
  try {
    return seal.open(line, bound);
  } catch (error) {
    if (error instanceof HostformError) return "";
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
