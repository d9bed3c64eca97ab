/** Proves an adoption: the plan of its declaration and state contains no changes. Sends no request. */
import path from "node:path";
import { observe, plan, resolveConfig, scopeOf, validateDesired } from "../../core/engine/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { type Account, adoptedAttributes, read, sensitiveNames } from "../../core/lifecycle/index.ts";
import {
  type Desired,
  escapeLine,
  fail,
  HostformError,
  isError,
  isNoOp,
  type JsonObject,
  type Plan,
  parseAddress,
  type ResourceState,
  type State,
} from "../../core/model/index.ts";
import {
  appendDocument,
  insertNested,
  OWN_LIMITS,
  parseDeclaration,
  printDocument,
  printTemplates,
} from "../../fronts/yaml/index.ts";
import { formatted } from "../format.ts";
import type { ProjectSource } from "../source.ts";
import { adoptedStarter } from "../starter.ts";
import { type Adoptable, type Declared, declare, type Known } from "./declare.ts";
import { type AccountContents, nestedKind } from "./read.ts";
import { templated } from "./templates.ts";

/** Texts of the declaration files by absolute path. */
export type Texts = ReadonlyMap<string, string>;

/** The existing declaration. All fields are empty for a new project. */
export interface Standing {
  /** Undefined if no declaration exists. */
  readonly desired: Desired | undefined;
  readonly texts: Texts;
  /** Text of .gitignore. Undefined if the file does not exist. */
  readonly ignored: string | undefined;
}

export interface ProofParts {
  readonly contents: AccountContents;
  readonly known: Known;
  readonly standing: Standing;
  /** True if common settings of sites become templates. */
  readonly hasTemplates: boolean;
  readonly project: string;
  readonly alias: string;
  readonly account: Account;
  /** The state before the adoption. */
  readonly state: State;
  readonly source: ProjectSource;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** Returns true if a text contains a secret of this run, for example the API token in a webhook URL. */
  hides(text: string): boolean;
}

export interface Proof {
  readonly declared: Declared;
  readonly adopts: readonly Adoptable[];
  readonly texts: Texts;
  /** The complete declaration. */
  readonly desired: Desired;
  readonly records: readonly ResourceState[];
  readonly left: readonly string[];
  readonly otherChanges: number;
}

/** Maximum number of plans until no change is left. */
const MOST_TRIES = 10;

/** Returns a declaration and state entries whose plan contains no changes. Omits objects that would change. */
export async function proved(of: ProofParts): Promise<Proof> {
  const { contents, known, standing, project, alias, source } = of;
  const skip = new Map<string, string>();
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const declared = declare(contents, known, skip);
    const hidden = declared.blocks.filter(({ body }) => of.hides(JSON.stringify(body)));
    const hiding = hidden.flatMap(({ adopts }) => adopts.slice(0, 1));
    const secret = "it contains a secret of this machine, such as the API token. hostform writes no secret to a file.";
    for (const { kind, importId } of hiding) skip.set(`${kind.type} ${importId}`, secret);
    if (hiding.length > 0) continue;
    // An existing declaration keeps its style. Other languages have constructs and modules instead of templates.
    const isNew = standing.desired === undefined && of.hasTemplates;
    const { blocks, templates } = isNew
      ? templated(declared.blocks, contents.plans)
      : { blocks: declared.blocks, templates: {} };
    const { texts, left } = textsWith(standing, { ...declared, blocks }, source.dir, { project, alias, templates });
    const adopts = [
      ...declared.blocks.flatMap((block) => block.adopts),
      ...declared.entries.filter(({ parent }) => !left.has(parent)).flatMap((entry) => entry.adopts),
      ...declared.records,
    ];
    const { refused, ...planned } = await planOf(of, texts, adopts);
    if (refused.size === 0) {
      const written = inForm(texts, standing.texts);
      return { declared, adopts, texts: written, left: [...declared.left, ...left.values()], ...planned };
    }
    for (const [key, why] of refused) skip.set(key, why);
  }
  return fail("internal", "No declaration of the account was found whose plan has no changes", {
    remedies: ["Report it with the requests of a run that writes no file."],
  });
}

/** Formats the texts. Skips existing files that were not formatted. */
const inForm = (texts: Texts, before: Texts): Texts =>
  new Map(
    [...texts].map(([file, text]) => {
      const old = before.get(file);
      const isFree = old !== text && (old === undefined || formatted(file, old) === old);
      return [file, isFree ? formatted(file, text) : text];
    }),
  );

/** @returns the texts of the complete declaration, and one sentence per parent for entries that fit into no block. */
function textsWith(
  standing: Standing,
  { blocks, entries }: Declared,
  dir: string,
  { project, alias, templates }: { project: string; alias: string; templates: JsonObject },
): { texts: Texts; left: ReadonlyMap<string, string> } {
  const texts = new Map(standing.texts);
  if (standing.desired === undefined)
    texts.set(path.join(dir, "hosting.yaml"), adoptedStarter(project) + printTemplates(templates));
  for (const [name, of] of Map.groupBy(blocks, ({ file }) => file)) {
    const file = path.join(dir, `${name}.hosting.yaml`);
    const document = printDocument(of, alias);
    const before = texts.get(file);
    texts.set(file, before === undefined ? document : appendDocument(before, document));
  }
  const left = new Map<string, string>();
  for (const { parent, entries: lines } of entries) {
    const name = parseAddress(parent)?.name ?? "";
    const place = { section: "services", name, nested: nestedKind.nested?.section ?? "" };
    const found = [...texts].flatMap(([file, text]) => {
      const next = text.includes(name) ? insertNested(text, place, lines) : undefined;
      return next === undefined ? [] : [[file, next] as const];
    });
    const [only] = found;
    const missing = `${Object.keys(lines).map(escapeLine).join(", ")}: the block of ${parent} is not in block style. Add the grants there, then adopt again.`;
    if (only !== undefined && found.length === 1) texts.set(...only);
    else left.set(parent, missing);
  }
  return { texts, left };
}

/**
 * Plans the account with the adopted objects. Sends no request.
 * @returns also the reasons to omit objects, by kind and import id.
 */
async function planOf(
  { alias, account, known: { found }, state: recorded, source, now }: ProofParts,
  texts: Texts,
  adopts: readonly Adoptable[],
): Promise<Pick<Proof, "desired" | "records" | "otherChanges"> & { refused: ReadonlyMap<string, string> }> {
  const files = [...texts].map(([file, text]) => ({ path: path.relative(source.cwd, file), text }));
  const { desired, diagnostics } = parseDeclaration(files, { kinds, env: source.env, limits: OWN_LIMITS });
  if (desired === undefined) throw new HostformError(diagnostics);
  const resources = desired.resources.filter(({ provider }) => provider === alias);
  const byAddress = new Map(resources.map((resource) => [resource.address, resource]));
  const records = new Map<string, ResourceState>();
  const attributesAt = (address: string) =>
    (records.get(address) ?? recorded.resources.get(address))?.attributes ?? found.get(address);
  const scope = scopeOf(attributesAt, source.env);
  const refused = new Map<string, string>();
  for (const { kind, address, importId, client } of adopts) {
    const resource = byAddress.get(address);
    if (resource === undefined) throw new Error(`${address} is not in the declaration that was written for it`);
    const { config, diagnostics: wrong } = resolveConfig(kind, resource, scope);
    const [first] = wrong.filter(isError);
    const observed = first ? undefined : await read(account, { kind, prior: undefined, importId, config });
    if (observed?.status !== "present") {
      refused.set(`${kind.type} ${importId}`, first === undefined ? "it no longer exists." : `${first.summary}.`);
      continue;
    }
    records.set(address, {
      address,
      provider: alias,
      schemaVersion: kind.schemaVersion,
      attributes: adoptedAttributes(kind, observed.attributes, config),
      sensitive: sensitiveNames(kind),
      private: client === undefined ? {} : { client },
      dependencies: [],
    });
  }
  const own = [...recorded.resources].filter(([, { provider }]) => provider === alias);
  const state = { ...recorded, resources: new Map([...own, ...records]) };
  const wanted = { ...desired, resources, data: [], outputs: [] };
  const given = { desired: wanted, state, kinds, env: source.env, reorder: new Set<string>() };
  const observed = await observe({ ...given, accounts: () => account });
  const made = plan({ ...given, observed, mode: "apply", now, readRequests: 0 });
  const invalid = validateDesired(desired, kinds, source.env);
  const changing = changesOf({ ...made, diagnostics: [...made.diagnostics, ...invalid] });
  for (const { kind, address, importId } of adopts) {
    const why = changing.get(address);
    if (why !== undefined) refused.set(`${kind.type} ${importId}`, why);
  }
  const needs = new Map(made.changes.map(({ address, dependsOn }) => [address, dependsOn]));
  return {
    refused,
    desired,
    records: [...records.values()].map((record) => ({ ...record, dependencies: needs.get(record.address) ?? [] })),
    otherChanges: [...changing.keys()].filter((address) => !records.has(address)).length,
  };
}

/** Returns the addresses that a plan would change or reject, each with a sentence. */
function changesOf({ changes, diagnostics, drift }: Plan): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { address } of drift) found.set(address, "the state cannot represent its attributes.");
  for (const change of changes) {
    if (isNoOp(change)) continue;
    const names = new Set(
      change.reasons.flatMap((reason) => ("attribute" in reason ? [String(reason.attribute)] : [])),
    );
    const which = names.size === 0 ? "" : ` (${[...names].join(", ")})`;
    found.set(change.address, `the next plan would change it${which}.`);
  }
  for (const { address, summary } of diagnostics.filter(isError))
    if (address !== undefined) found.set(address, `${summary}.`);
  return found;
}
