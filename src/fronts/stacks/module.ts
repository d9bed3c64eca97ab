import type { Kinds } from "../../core/kinds/kind.ts";
import { isNested, type Schema, SHORTEST_SECRET_PART } from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import { namesSecret } from "../source/source.ts";
import { type Entry, strings, type Tree } from "../source/tree.ts";
import { argumentsOf, BLOCK_TYPES, type Block, blocksOf, KEYS, type Keys } from "./blocks.ts";
import { SynthesizedSource } from "./json.ts";
import { REMOTE_STATE } from "./remote-states.ts";

/** The blocks of all files of a stack, by what they are; and the secrets that are written out in them. */

/** What there is to be declared. */
export interface StackCatalogue {
  readonly kinds: Kinds;
  /** The schemas of Terraform's provider, which a synthesized stack is written for. */
  readonly schemas: {
    resource(type: string): Schema | undefined;
    data(type: string): Schema | undefined;
    readonly provider: Schema;
  };
}

/** The blocks of all files of a stack, by what they are. Resources and data sources by their address without a key. */
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

/** The provider whose resources these are, by its name in a stack. */
export const PROVIDER = "hosting";

/** Sorts the texts of a stack into blocks; what is declared twice, and what is not of hosting, is reported. */
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
  const resources = blocks.resource.filter((block) =>
    isOurs(block, "resource", (type) => kinds.has(type), kinds, diags),
  );
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
  diags.add(tree.span, "config.structure", "A stack must be an object", {
    fix: 'Write `{"resource": {"hosting_service": {"acme": {…}}}}`, or name the folder that was synthesized.',
  });
  return [];
}

type BlockType = keyof typeof BLOCK_TYPES;

const isType = (key: string): key is BlockType => Object.hasOwn(BLOCK_TYPES, key);

function reportType({ key, keySpan }: Entry, diags: DiagnosticCollector): void {
  const { known, refused }: Keys = KEYS.stack;
  const fix = Object.hasOwn(refused, key) ? refused[key] : undefined;
  if (fix !== undefined) {
    diags.add(keySpan, "config.unsupported", `\`${key}\` blocks are not supported in a stack`, { fix });
    return;
  }
  diags.addUnknown(keySpan, `A stack has no "${key.slice(0, 100)}"`, key, known, {
    detail: `It can have ${known.join(", ")}.`,
  });
}

/** Whether a block is of hosting. One of another provider is refused: nobody but Terraform would make it. */
function isOurs(
  { labels, keySpan }: Block,
  type: "resource" | "data",
  isKnown: (type: string) => boolean,
  known: ReadonlyMap<string, unknown>,
  diags: DiagnosticCollector,
): boolean {
  const [first, second] = labels;
  if (first === undefined || second === undefined) return false;
  if (!checkName(second.text, second.span, `the name of a ${type}`, diags)) return false;
  if (isKnown(first.text)) return true;
  const what = `${type === "data" ? "data." : ""}${first.text.slice(0, 100)}.${second.text.slice(0, 100)}`;
  if (first.text.startsWith(`${PROVIDER}_`)) {
    const noun = type === "data" ? "data source" : "resource";
    diags.addUnknown(keySpan, `There is no ${noun} "${first.text.slice(0, 100)}"`, first.text, [...known.keys()]);
  } else {
    diags.add(keySpan, "config.unsupported", `${what} is not a resource of hosting`, {
      detail: "hostform applies stacks of hosting resources alone; nothing would make this one.",
      fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
    });
  }
  return false;
}

function named(blocks: readonly Block[], prefix: string, diags: DiagnosticCollector): ReadonlyMap<string, Block> {
  const nameOf = ({ labels }: Block) => prefix + labels.map(({ text }) => text).join(".");
  const bare = prefix.endsWith(" ") ? prefix.length : 0;
  return new Map(unique(blocks, nameOf, diags).map((block) => [nameOf(block).slice(bare), block]));
}

/**
 * Finds the secrets that are written out in a stack, before anything else is said of it: no message shows them. Each is
 * warned of, since anyone who has the file has them. @returns their texts.
 */
export function literalSecrets(
  { resources, data, variables, providers }: Module,
  { schemas }: StackCatalogue,
  diags: DiagnosticCollector,
): string[] {
  const found = new Set<string>();
  const learn = (entry: Entry, shortest = 1) => {
    const texts = [...strings(entry.value)].filter(({ text }) => text.length >= shortest && !isExpression(text));
    for (const { text, leaf } of texts) {
      found.add(text);
      if (leaf.span.source instanceof SynthesizedSource) leaf.span.source.hide(text);
    }
    return texts.length > 0;
  };
  const warn = ({ keySpan, key }: Entry, fix: string) =>
    diags.warn(keySpan, "config.secret", `"${key}" is a secret, and stands in the stack in clear text`, {
      fix: `${fix} Change the secret if the file was shared.`,
    });
  for (const { body } of providers) {
    const token = body.entries.get("token");
    // It is refused where providers are read.
    if (token !== undefined) learn(token);
  }
  for (const { body } of variables.values()) {
    const fallback = body.entries.get("default");
    const flags = [body.entries.get("sensitive"), body.entries.get("ephemeral")];
    if (fallback === undefined || !flags.some(isTrue)) continue;
    if (learn(fallback)) warn(fallback, "Leave the default out, and set the environment variable TF_VAR_NAME.");
  }
  for (const { body, labels } of [...resources.values(), ...data.values()]) {
    const type = labels[0]?.text ?? "";
    const { attributes = {} } = schemas.resource(type) ?? schemas.data(type) ?? {};
    for (const entry of argumentsOf(body)) {
      const attribute = Object.hasOwn(attributes, entry.key) ? attributes[entry.key] : undefined;
      if (attribute?.sensitive !== true && attribute?.writeOnly !== true) continue;
      if (typeof attribute.type === "string") {
        if (learn(entry)) warn(entry, FIX);
        continue;
      }
      learn(entry, SHORTEST_SECRET_PART);
      const parts = entry.value.form === "map" && !isNested(attribute.type) ? [...entry.value.entries.values()] : [];
      for (const part of parts) if (namesSecret(part.key) && learn(part)) warn(part, FIX);
    }
  }
  return [...found];
}

const FIX =
  'Declare a variable with `"sensitive": true`, write `"${var.NAME}"`, and set the environment variable TF_VAR_NAME.';

const isExpression = (text: string) => /[$%]\{/.test(text);

function isTrue(entry: Entry | undefined): boolean {
  return entry?.value.form === "leaf" && (entry.value.value === true || entry.value.value === "true");
}
