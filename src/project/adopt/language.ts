/** The languages of an adopted declaration. */
import path from "node:path";
import { list, read } from "../../core/files/index.ts";
import { type Desired, fail, ifErrno, type ResourceState, type State, utf8 } from "../../core/model/index.ts";
import type { ProjectSource } from "../source.ts";
import type { NewBlock, Notation } from "./declare.ts";
import type { Texts } from "./proof.ts";

/** Input for writing a declaration in one language. */
export interface Written {
  /** The declaration whose plan has no changes. */
  readonly desired: Desired;
  readonly blocks: readonly NewBlock[];
  /** Files of the YAML declaration. */
  readonly texts: Texts;
  /** Existing files in this language. */
  readonly before: Texts;
  /** The state before the adoption. */
  readonly state: State;
  readonly source: ProjectSource;
}

export interface Language extends Notation {
  /** Returns true if a path in the folder, with `/`, is a file of this language. */
  isOwn(file: string): boolean;
  /** Returns the addresses in these files, without instance keys. Finds only literal declarations. */
  addressesIn(texts: Texts): readonly string[];
  /** Returns the address of a resource in this language. */
  addressOf(address: string): string;
  /** Returns the order reference of a service without a domain. Undefined if the language needs none. */
  referenceOf?(address: string): string;
  /** Returns the files by absolute path. Adopted objects are added after the existing text. */
  textsOf(written: Written): Promise<Texts>;
}

/** hostform's own language. */
export const yaml: Language = {
  commentsOut: true,
  namesShared: false,
  reserved: [],
  isOwn: () => false,
  addressesIn: () => [],
  addressOf: (address) => address,
  textsOf: async ({ texts }) => texts,
};

/** Reads the files of a folder in a language. */
export async function filesIn(language: Language, dir: string): Promise<Texts> {
  const namesIn = (folder: string) => list(folder, { roots: [dir] }).catch(ifErrno(() => []));
  const [names, nested] = await Promise.all([namesIn(dir), namesIn(path.join(dir, "sites"))]);
  const own = [...names, ...nested.map((name) => `sites/${name}`)].filter((name) => language.isOwn(name));
  const files = own.map((name) => path.join(dir, name));
  return new Map(
    await Promise.all(files.map(async (file) => [file, utf8(await read(file, { roots: [dir] }))] as const)),
  );
}

/** Rejects an existing configuration if the state is empty: Terraform would create its objects again. */
export function refuseForeign(texts: Texts, state: State): void {
  if (texts.size === 0 || state.resources.size > 0) return;
  fail("usage", "A configuration is here already, and the state that hostform would write is empty", {
    detail: `It has ${[...texts.keys()].map((file) => path.basename(file)).join(", ")}.`,
    remedies: ["Adopt into an empty folder, or name the state of that configuration."],
  });
}

/** Changes the address of a state entry to the notation of the language. */
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
