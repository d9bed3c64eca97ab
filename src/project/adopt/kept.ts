/** Keeps the lists of an interrupted adoption in a file beside the state, for a retry. */
import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { ApiRecord } from "../../core/api/index.ts";
import { type OpenFile, openPrivate, remove, requirePrivate } from "../../core/files/index.ts";
import { attempt, ifErrno, ifExplained, parsedJson } from "../../core/model/index.ts";
import type { Encryption, Seal } from "../../core/record/index.ts";
import { raise } from "../messages.ts";

/** Maximum age of kept lists, in milliseconds. */
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
  /** Absolute path. */
  readonly file: string;
  /** Account of the lists. */
  readonly account: string;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  readonly encryption: Encryption;
}

interface Kept {
  readonly handle: OpenFile;
  readonly since: number;
  readonly lists: Map<string, readonly ApiRecord[]>;
  /** Encrypts the line with this number. */
  readonly seal: ((text: string, at: number) => string) | undefined;
}

export type KeptLists = Awaited<ReturnType<typeof openKept>>;

/**
 * Opens the file of kept lists. Each list is one line, and is on disk when `add` resolves. Only the owner can read the file.
 * The key of the state encrypts each line with its position. An old file is used only if its lists belong to this account,
 * are unchanged and at most one hour old.
 * @throws HostformError `state.key`, `file.refused`.
 */
export async function openKept(options: KeptOptions) {
  const { file } = options;
  const refused = ifErrno((reason) => raise("file.refused/kept", { file, reason }));
  const { handle, since, lists, seal } = (await resumed(options)) ?? (await begun(options).catch(refused));
  let writing: Promise<void> = Promise.resolve();
  let lines = lists.size;
  return {
    /** Number of lists from an earlier run. */
    found: lists.size,
    /** Time of the first list, in milliseconds since the epoch. */
    since,
    get: (name: string) => lists.get(name),
    /** Stores a list. Writes one list at a time. */
    add: async (name: string, records: readonly ApiRecord[]) => {
      lists.set(name, records);
      const line = JSON.stringify({ list: name, records });
      const text = seal?.(line, lines) ?? line;
      lines++;
      writing = writing.then(() => handle.append(`${text}\n`)).catch(refused);
      await writing;
    },
    close: async () => {
      await writing.catch(() => undefined);
      handle.close();
    },
    /** Removes the closed file. */
    remove: () => remove(file),
  };
}

const place = (id: string, at: number) => `${FORM} ${id} ${at}`;
const sealing = (seal: Seal | undefined, id: string) =>
  seal && ((text: string, at: number) => seal.seal(text, place(id, at)));

async function begun({ file, account, now, encryption }: KeptOptions): Promise<Kept> {
  const seal = encryption.key && (await encryption.recent());
  const id = randomUUID();
  remove(file);
  const handle = openPrivate(file, "create");
  handle.append(`${JSON.stringify({ form: FORM, version: 1, id, account, since: now, key: seal?.header ?? null })}\n`);
  return { handle, since: now, lists: new Map(), seal: sealing(seal, id) };
}

/** Opens the file of an earlier run. Undefined if it has no usable lists. */
async function resumed({ file, account, now, encryption }: KeptOptions): Promise<Kept | undefined> {
  // A file of another user or in another format is replaced.
  const handle = attempt(
    () => requirePrivate(file) && openPrivate(file, "append"),
    ifErrno(() => undefined),
  );
  if (handle === undefined) return undefined;
  const kept = await read(handle.text(), { account, now, encryption });
  // A killed run may have written an incomplete last line.
  if (kept === undefined) handle.close();
  else handle.cut(kept.bytes);
  return kept && { handle, ...kept };
}

const nothing = ifExplained(() => undefined);

async function read(text: string, { account, now, encryption }: Omit<KeptOptions, "file">) {
  const [first = "", ...lines] = text.split("\n");
  const header = headerForm.safeParse(parsedJson(first)).data;
  if (header === undefined || header.account !== account) return undefined;
  if (now - header.since > FRESH_MS || header.since > now) return undefined;
  if ((header.key === null) !== (encryption.key === undefined)) return undefined;
  // Lists that were encrypted with another key are read from the account again.
  const seal = header.key === null ? undefined : await encryption.from(header.key).catch(nothing);
  if (header.key !== null && seal === undefined) return undefined;
  const lists = new Map<string, readonly ApiRecord[]>();
  let bytes = Buffer.byteLength(first) + 1;
  for (const line of lines.slice(0, -1)) {
    const opened = seal && attempt(() => seal.open(line, place(header.id, lists.size)), nothing);
    const list = lineForm.safeParse(parsedJson(seal === undefined ? line : (opened ?? ""))).data;
    if (list === undefined || lists.has(list.list)) break;
    lists.set(list.list, list.records as unknown as ApiRecord[]);
    bytes += Buffer.byteLength(line) + 1;
  }
  return { since: header.since, lists, bytes, seal: sealing(seal, header.id) };
}
