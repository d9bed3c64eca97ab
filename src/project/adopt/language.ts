/** The languages in which an adopted account can be declared, beside hostform's YAML. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Desired, errnoOf, fail, type ResourceState, type State } from "../../core/model/index.ts";
import type { ProjectSource } from "../source.ts";
import type { NewBlock } from "./declare.ts";
import type { Texts } from "./proof.ts";

/** What is written in a language. */
export interface Written {
  /** The declaration that was proved. */
  readonly desired: Desired;
  readonly blocks: readonly NewBlock[];
  /** What the folder has already in this language. */
  readonly before: Texts;
  /** What was recorded before. */
  readonly state: State;
  readonly source: ProjectSource;
}

/** A language other than YAML. */
export interface Language {
  /** Whether what somebody has to choose is written as a comment; if not, it is left out. */
  readonly commentsOut: boolean;
  /** Whether names are unique across kinds. */
  readonly namesShared: boolean;
  /** Names that no resource can have. */
  readonly reserved: readonly string[];
  /** Whether a file of the folder, by its path in it with `/`, is in this language. */
  isOwn(file: string): boolean;
  /** The addresses, without keys, that are declared in these files as far as that shows. */
  addressesIn(texts: Texts): readonly string[];
  /** The address that a resource of the declaration has there. */
  addressOf(address: string): string;
  /** The name of the order of a service without a domain, where the program declares one. */
  referenceOf?(address: string): string;
  /** The files with what is adopted, behind what is there already; by absolute path. */
  textsOf(written: Written): Promise<Texts>;
  /** What to run next. */
  readonly next: string;
}

/** The files of a folder that are in a language. */
export async function filesIn(language: Language | undefined, dir: string): Promise<Texts> {
  if (language === undefined) return new Map();
  const names = await readdir(dir).catch(absent);
  const nested = await readdir(path.join(dir, "sites")).catch(absent);
  const own = [...names, ...nested.map((name) => `sites/${name}`)].filter((name) => language.isOwn(name));
  const files = own.map((name) => path.join(dir, name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)));
}

function absent(error: unknown): string[] {
  if (errnoOf(error) === undefined) throw error;
  return [];
}

/** What somebody has written has its state somewhere: with another one, everything in it would be made twice. */
export function refuseForeign(texts: Texts, state: State): void {
  if (texts.size === 0 || state.resources.size > 0) return;
  fail("usage", "A configuration is here already, and the state that hostform would write is empty", {
    detail: `It has ${[...texts.keys()].map((file) => path.basename(file)).join(", ")}.`,
    remedies: ["Adopt into an empty folder, or name the state of that configuration with `--state`."],
  });
}

/** A record at the address that it has in a language. */
export function recordIn(language: Language | undefined, record: ResourceState): ResourceState {
  if (language === undefined) return record;
  const { address, attributes } = record;
  const isUnnamed = address.startsWith("hosting_service.") && attributes.domain === null;
  const reference = isUnnamed ? (language.referenceOf?.(address) ?? null) : null;
  return {
    ...record,
    address: language.addressOf(address),
    ...(reference !== null && { attributes: { ...attributes, reference } }),
  };
}
