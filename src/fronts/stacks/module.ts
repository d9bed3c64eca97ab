import { isTemplate } from "../../core/expression/index.ts";
import type { Kinds } from "../../core/kinds/kind.ts";
import { isNested, type Schema } from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import { namesSecret } from "../source/source.ts";
import { type Entry, strings, type Tree } from "../source/tree.ts";
import { argumentsOf, BLOCK_TYPES, type Block, blocksOf, flagOf, KEYS, refusedKey } from "./blocks.ts";
import { SynthesizedSource } from "./json.ts";
import { problem } from "./messages.ts";
import { REMOTE_STATE } from "./remote-states.ts";

/** Sorts the blocks of a stack's files by type, and finds unencrypted secrets. */

/** Resource and data source types that a stack may declare. */
export interface StackCatalogue {
  readonly kinds: Kinds;
  /** Schemas of hostform's Terraform provider. */
  readonly schemas: {
    resource(type: string): Schema | undefined;
    data(type: string): Schema | undefined;
    readonly provider: Schema;
  };
}

/** The blocks of a stack, by type. Keys of resources and data sources: addresses without instance key. */
export interface Module {
  readonly terraform: readonly Block[];
  readonly providers: readonly Block[];
  readonly variables: ReadonlyMap<string, Block>;
  readonly locals: ReadonlyMap<string, Entry>;
  readonly outputs: ReadonlyMap<string, Block>;
  readonly resources: ReadonlyMap<string, Block>;
  readonly data: ReadonlyMap<string, Block>;
  readonly imports: readonly Block[];
  readonly moved: readonly Block[];
  readonly removed: readonly Block[];
}

/** Name of the provider in a stack. */
export const PROVIDER = "hosting";

/** Sorts the blocks of a stack by type. Reports duplicates, and blocks of other providers. */
export function readModule(
  trees: readonly Tree[],
  { kinds, schemas }: StackCatalogue,
  diags: DiagnosticCollector,
): Module {
  const blocks = Object.fromEntries(KEYS.stack.known.map((type) => [type, [] as Block[]])) as Record<
    BlockType,
    Block[]
  >;
  for (const entry of trees.flatMap((tree) => rootEntries(tree, diags))) {
    if (isType(entry.key)) blocks[entry.key].push(...blocksOf(entry, BLOCK_TYPES[entry.key], diags));
    else reportType(entry, diags);
  }
  const isData = (type: string) => type === REMOTE_STATE || schemas.data(type) !== undefined;
  const isResource = (type: string) => kinds.has(type);
  const resources = blocks.resource.filter((block) => isOurs(block, "resource", isResource, kinds, diags));
  const data = blocks.data.filter((block) => isOurs(block, "data", isData, new Map(), diags));
  const locals = blocks.locals.flatMap(({ body }) => argumentsOf(body));
  return {
    terraform: blocks.terraform,
    providers: blocks.provider,
    variables: named(blocks.variable, "variable ", diags),
    locals: new Map(unique(locals, ({ key }) => `local.${key}`, diags).map((entry) => [entry.key, entry])),
    outputs: named(blocks.output, "output ", diags),
    resources: named(resources, "", diags),
    data: named(data, "data.", diags),
    imports: blocks.import,
    moved: blocks.moved,
    removed: blocks.removed,
  };
}

function rootEntries(tree: Tree, diags: DiagnosticCollector): Entry[] {
  if (tree.form === "map") return argumentsOf(tree);
  if (tree.form === "list") return tree.items.flatMap((item) => rootEntries(item, diags));
  diags.add(tree.span, problem("config.structure/stack"));
  return [];
}

type BlockType = keyof typeof BLOCK_TYPES;

const isType = (key: string): key is BlockType => Object.hasOwn(BLOCK_TYPES, key);

function reportType(entry: Entry, diags: DiagnosticCollector): void {
  const { key, keySpan } = entry;
  const { known } = KEYS.stack;
  if (refusedKey(entry, KEYS.stack, diags)) return;
  diags.add(keySpan, problem("config.unknown_key/stack", diags.unknown(key, known)));
}

/**
 * Returns true if a block belongs to the provider `hosting`. Reports blocks of other providers: only Terraform can create
 * their objects.
 */
function isOurs(
  { labels, keySpan }: Block,
  type: "resource" | "data",
  isKnown: (type: string) => boolean,
  known: ReadonlyMap<string, unknown>,
  diags: DiagnosticCollector,
): boolean {
  const [first, second] = labels;
  if (first === undefined || second === undefined) return false;
  if (!checkName(second.text, second.span, type, diags)) return false;
  if (isKnown(first.text)) return true;
  if (first.text.startsWith(`${PROVIDER}_`)) {
    const noun = type === "data" ? "data source" : "resource";
    diags.add(keySpan, problem("config.unknown_key/type", { ...diags.unknown(first.text, [...known.keys()]), noun }));
  } else diags.add(keySpan, problem("config.unsupported/resource", { type, labels: [first.text, second.text] }));
  return false;
}

function named(blocks: readonly Block[], prefix: string, diags: DiagnosticCollector): ReadonlyMap<string, Block> {
  const nameOf = ({ labels }: Block) => prefix + labels.map(({ text }) => text).join(".");
  const bare = prefix.endsWith(" ") ? prefix.length : 0;
  return new Map(unique(blocks, nameOf, diags).map((block) => [nameOf(block).slice(bare), block]));
}

/**
 * Finds unencrypted secrets, so that no message prints them. Warns about each, because everybody who can read the file can
 * read the secret.
 * @returns the secrets.
 */
export function literalSecrets(
  { resources, data, variables, providers }: Module,
  { schemas }: StackCatalogue,
  diags: DiagnosticCollector,
): string[] {
  const found = new Set<string>();
  const learn = (entry: Entry, shortest = 1) => {
    const texts = [...strings(entry.value)].filter(({ text }) => text.length >= shortest && !isTemplate(text));
    for (const { text, leaf } of texts) {
      found.add(text);
      if (leaf.span.source instanceof SynthesizedSource) leaf.span.source.hide(text, leaf.span);
    }
    return texts.length > 0;
  };
  for (const { body } of providers) {
    const token = body.entries.get("token");
    // The reader of providers reports the token.
    if (token !== undefined) learn(token);
  }
  for (const [name, { body }] of variables) {
    const fallback = body.entries.get("default");
    const flags = [body.entries.get("sensitive"), body.entries.get("ephemeral")];
    if (fallback === undefined || !flags.some((flag) => flag && flagOf(flag) === true)) continue;
    if (learn(fallback)) diags.add(fallback.keySpan, problem("config.secret/default", { name }));
  }
  for (const [address, { body, labels }] of [...resources, ...data]) {
    const type = labels[0]?.text ?? "";
    const { attributes = {} } = schemas.resource(type) ?? schemas.data(type) ?? {};
    for (const entry of argumentsOf(body)) {
      const attribute = Object.hasOwn(attributes, entry.key) ? attributes[entry.key] : undefined;
      if (attribute?.sensitive !== true && attribute?.writeOnly !== true) continue;
      const { key } = entry;
      if (typeof attribute.type === "string") {
        const remark = { key, address, attribute: [key] };
        if (learn(entry)) diags.add(entry.keySpan, problem("config.secret/literal", remark));
        continue;
      }
      learn(entry, 12); // shorter strings are usually common words (`cpanel`)
      const parts = entry.value.form === "map" && !isNested(attribute.type) ? [...entry.value.entries.values()] : [];
      for (const part of parts) {
        const remark = { key: part.key, address, attribute: [key, part.key] };
        if (namesSecret(part.key) && learn(part)) diags.add(part.keySpan, problem("config.secret/literal", remark));
      }
    }
  }
  return [...found];
}
