import { existsSync } from "node:fs";
import path from "node:path";
import { accountDigest } from "../../core/api/account-digest.ts";
import { normalizeBaseUrl } from "../../core/api/base-url.ts";
import type { Clock, Diagnostic } from "../../core/model/index.ts";
import type { Journal, Note } from "./contract.ts";
import { type JournalEntry, JournalFile, type JournalScope } from "./journal-file.ts";

/** Where the journal is, whose it is, and who is told when it cannot be kept. */
export interface JournalOptions {
  /** The user's state folder; undefined where there is none. */
  readonly folder: string | undefined;
  readonly baseUrl: string;
  readonly token: string;
  readonly project: string | undefined;
  readonly clock: Clock;
  /** Called at most once for each thing that can go wrong. No value of a resource is ever in it. */
  readonly onWarning: (warning: Diagnostic) => void;
}

/** A journal whose entries can be listed. */
export interface OpenJournal extends Journal {
  /** What is noted of this account and project, by type and name. */
  list(): readonly JournalEntry[];
}

/** No type holds a NUL. */
const keyOf = (type: string, name: string) => `${type}\0${name}`;

/**
 * Opens the journal of an account and project: `creates.journal` in the state folder, one for all of them. It is made
 * when something is first noted, and read only when it is there, so that a run that creates nothing leaves no trace.
 * When it cannot be read or written, this process remembers what it notes, and says that it is not durable.
 * @throws HostformError provider.base_url.
 */
export function openJournal({ folder, baseUrl, token, project, clock, onWarning }: JournalOptions): OpenJournal {
  const url = normalizeBaseUrl(baseUrl, true).href;
  const scope = (): JournalScope => ({ account: accountDigest(url, token), project: project ?? "" });
  const place = folder === undefined ? undefined : path.join(folder, "creates.journal");
  return new AccountJournal(place, scope, clock, onWarning);
}

class AccountJournal implements OpenJournal {
  readonly #place: string | undefined;
  readonly #scope: () => JournalScope;
  readonly #clock: Clock;
  readonly #onWarning: (warning: Diagnostic) => void;
  readonly #warned = new Set<string>();
  #file: JournalFile | undefined;
  /** Type and name of what this process has put. */
  readonly #mine = new Map<string, readonly [type: string, name: string]>();
  /** What could not be written to the file. */
  readonly #own = new Map<string, JournalEntry>();

  constructor(
    place: string | undefined,
    scope: () => JournalScope,
    clock: Clock,
    onWarning: (warning: Diagnostic) => void,
  ) {
    this.#place = place;
    this.#scope = scope;
    this.#clock = clock;
    this.#onWarning = onWarning;
  }

  get(type: string, name: string): Note | undefined {
    const own = this.#own.get(keyOf(type, name));
    if (own !== undefined) return own.resource;
    return this.#read((file) => file.get(type, name), undefined);
  }

  put(type: string, name: string, resource: Note): void {
    const key = keyOf(type, name);
    this.#mine.set(key, [type, name]);
    try {
      this.#open().put(type, name, resource, this.#clock.now());
      this.#own.delete(key);
    } catch (error) {
      this.#own.set(key, { type, name, resource });
      this.#warn("What the Terraform provider creates is not noted durably", error);
    }
  }

  insert(type: string, name: string, resource: Note): Note | undefined {
    try {
      const other = this.#open().insert(type, name, resource, this.#clock.now());
      if (other === undefined) this.#mine.set(keyOf(type, name), [type, name]);
      return other;
    } catch {
      // Whatever keeps it from being written, put() says.
      this.put(type, name, resource);
      return undefined;
    }
  }

  remove(type: string, name: string): void {
    this.#own.delete(keyOf(type, name));
    this.#mine.delete(keyOf(type, name));
    this.#read((file) => file.remove(type, name), undefined);
  }

  answered(): void {
    const mine = [...this.#mine.values()];
    this.#mine.clear();
    if (mine.length > 0) this.#read((file) => file.answered(mine), undefined);
  }

  list(): readonly JournalEntry[] {
    const entries = new Map(
      this.#read((file) => file.list(), []).map((entry) => [keyOf(entry.type, entry.name), entry] as const),
    );
    for (const [key, entry] of this.#own) entries.set(key, entry);
    return [...entries.values()];
  }

  close(): void {
    try {
      this.#file?.close();
    } catch {
      // What could not be removed is removed by a later run.
    }
  }

  /** Does something with the file if there is one. */
  #read<T>(action: (file: JournalFile) => T, otherwise: T): T {
    if (this.#place === undefined || !existsSync(this.#place)) return otherwise;
    try {
      return action(this.#open());
    } catch (error) {
      this.#warn("What the Terraform provider has noted of its creates cannot be read", error);
      return otherwise;
    }
  }

  #open(): JournalFile {
    if (this.#place === undefined) throw new Error("no home folder is known");
    this.#file ??= new JournalFile(this.#place, this.#scope(), this.#clock.now(), () => this.#damaged());
    return this.#file;
  }

  #damaged(): void {
    this.#say({
      summary: "What the Terraform provider had noted of its creates was damaged, and is begun anew",
      detail: `${this.#place}.damaged is what was there.`,
      remedies: ["Look at the account for what an apply that was stopped may have made; `terraform import` adopts it."],
    });
  }

  #warn(summary: string, error: unknown): void {
    this.#say({
      summary,
      detail: `${this.#place ?? "The journal"}: ${error instanceof Error ? error.message : String(error)}. If Terraform is killed before it has written its state, the next apply has to find out by looking at the account, and one-time secrets may be lost.`,
      remedies: ["Set HOSTFORM_STATE_HOME to a folder that you may write in."],
    });
  }

  #say(words: Pick<Diagnostic, "summary" | "detail" | "remedies">): void {
    if (this.#warned.has(words.summary)) return;
    this.#warned.add(words.summary);
    this.#onWarning({ severity: "warning", code: "provider.journal", ...words });
  }
}
