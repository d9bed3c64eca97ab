/** The languages in which an adopted account can be declared. */
import path from "node:path";
import { list, read } from "../../core/files/index.ts";
import { type Desired, fail, ifErrno, type ResourceState, type State, utf8 } from "../../core/model/index.ts";
import type { ProjectSource } from "../source.ts";
import type { NewBlock, Notation } from "./declare.ts";
import type { Texts } from "./proof.ts";

/** What is written in a language. */
export interface Written {
  /** The declaration that was proved. */
  readonly desired: Desired;
  readonly blocks: readonly NewBlock[];
  /** Its files in YAML. */
  readonly texts: Texts;
  /** What the folder has already in this language. */
  readonly before: Texts;
  /** What was recorded before. */
  readonly state: State;
  readonly source: ProjectSource;
}

export interface Language extends Notation {
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
  /** What to run next, where that is not hostform alone. */
  readonly next?: string;
}

/** hostform's own. What a declaration in it has already is read as the declaration that it is. */
export const yaml: Language = {
  commentsOut: true,
  namesShared: false,
  reserved: [],
  isOwn: () => false,
  addressesIn: () => [],
  addressOf: (address) => address,
  textsOf: async ({ texts }) => texts,
};

/** The files of a folder that are in a language. */
export async function filesIn(language: Language, dir: string): Promise<Texts> {
  const namesIn = (folder: string) => list(folder, { roots: [dir] }).catch(ifErrno(() => []));
  const [names, nested] = await Promise.all([namesIn(dir), namesIn(path.join(dir, "sites"))]);
  const own = [...names, ...nested.map((name) => `sites/${name}`)].filter((name) => language.isOwn(name));
  const files = own.map((name) => path.join(dir, name));
  return new Map(
    await Promise.all(files.map(async (file) => [file, utf8(await read(file, { roots: [dir] }))] as const)),
  );
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
export function recordIn(language: Language, record: ResourceState): ResourceState {
  const { address, attributes } = record;
  const isUnnamed = address.startsWith("hosting_service.") && attributes.domain === null;
  const reference = isUnnamed ? (language.referenceOf?.(address) ?? null) : null;
  return {
    ...record,
    address: language.addressOf(address),
    ...(reference !== null && { attributes: { ...attributes, reference } }),
  };
}
