import { isName } from "../../core/model/index.ts";
import { type DiagnosticCollector, didYouMean, uniqueBy } from "../source/diagnostics.ts";
import type { Entry, Tree } from "../source/tree.ts";
import { argumentsOf, type Block, blocksOf } from "./blocks.ts";
import { KEYS, type Keys } from "./keys.ts";
import type { Catalogue } from "./options.ts";

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

/** The blocks of Terraform's language that are read, with their labels. */
const BLOCK_TYPES = {
  terraform: [],
  provider: ["NAME"],
  variable: ["NAME"],
  locals: [],
  output: ["NAME"],
  resource: ["TYPE", "NAME"],
  data: ["TYPE", "NAME"],
  import: [],
  moved: [],
  removed: [],
} as const satisfies Record<Type, readonly string[]>;

type Type = (typeof KEYS.stack.known)[number];

/** The provider whose resources these are, by its name in a stack. */
export const PROVIDER = "hosting";

/** The name of the data source by which a stack reads another one's outputs. */
export const REMOTE_STATE = "terraform_remote_state";

/** Sorts the texts of a stack into blocks; what is declared twice, and what is not of hosting, is reported. */
export function readModule(trees: readonly Tree[], { kinds, schemas }: Catalogue, diags: DiagnosticCollector): Module {
  const blocks = Object.fromEntries(Object.keys(BLOCK_TYPES).map((type) => [type, [] as Block[]])) as Record<
    Type,
    Block[]
  >;
  for (const entry of trees.flatMap((tree) => rootEntries(tree, diags))) {
    if (isType(entry.key)) blocks[entry.key].push(...blocksOf(entry, BLOCK_TYPES[entry.key], diags));
    else reportType(entry, diags);
  }
  const resourceTypes = [...kinds.keys()];
  const resources = blocks.resource.filter((block) =>
    isOurs(block, "resource", (type) => kinds.has(type), resourceTypes, diags),
  );
  const isData = (type: string) => type === REMOTE_STATE || schemas.data(type) !== undefined;
  const data = blocks.data.filter((block) => isOurs(block, "data", isData, [], diags));
  return {
    terraform: blocks.terraform,
    providers: blocks.provider,
    variables: named(blocks.variable, "variable ", diags),
    locals: localsOf(blocks.locals, diags),
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

const isType = (key: string): key is Type => Object.hasOwn(BLOCK_TYPES, key);

function reportType({ key, keySpan }: Entry, diags: DiagnosticCollector): void {
  const { known, refused }: Keys = KEYS.stack;
  const fix = Object.hasOwn(refused, key) ? refused[key] : undefined;
  if (fix !== undefined) {
    diags.add(keySpan, "config.unsupported", `\`${key}\` blocks are not supported in a stack`, { fix });
    return;
  }
  const near = diags.nearest(key, known);
  diags.add(keySpan, "config.unknown_key", `A stack has no "${key.slice(0, 100)}".${didYouMean(near)}`, {
    detail: `It can have ${known.join(", ")}.`,
  });
}

/** Whether a block is of hosting. One of another provider is refused: nobody but Terraform would make it. */
function isOurs(
  { labels, keySpan }: Block,
  type: "resource" | "data",
  isKnown: (type: string) => boolean,
  known: readonly string[],
  diags: DiagnosticCollector,
): boolean {
  const [first, second] = labels;
  if (first === undefined || second === undefined) return false;
  if (!isName(second.text)) {
    diags.add(second.span, "config.structure", `"${second.text.slice(0, 100)}" cannot be the name of a ${type}`, {
      fix: "Use letters, digits, `_` and `-`, beginning with a letter or `_`.",
    });
    return false;
  }
  if (isKnown(first.text)) return true;
  const what = `${type === "data" ? "data." : ""}${first.text.slice(0, 100)}.${second.text.slice(0, 100)}`;
  if (first.text.startsWith(`${PROVIDER}_`)) {
    const near = diags.nearest(first.text, known);
    const noun = type === "data" ? "data source" : "resource";
    diags.add(keySpan, "config.unknown_key", `There is no ${noun} "${first.text.slice(0, 100)}".${didYouMean(near)}`);
  } else {
    diags.add(keySpan, "config.unsupported", `${what} is not a resource of hosting`, {
      detail: "hostform applies stacks of hosting resources alone; nothing would make this one.",
      fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
    });
  }
  return false;
}

function named(blocks: readonly Block[], prefix: string, diags: DiagnosticCollector): ReadonlyMap<string, Block> {
  const noun = prefix.endsWith(" ") ? prefix : "";
  const keyOf = ({ labels }: Block) => `${noun === "" ? prefix : ""}${labels.map(({ text }) => text).join(".")}`;
  return uniqueBy(blocks, keyOf, diags, (key) => `${noun}${key}`);
}

function localsOf(blocks: readonly Block[], diags: DiagnosticCollector): ReadonlyMap<string, Entry> {
  const entries = blocks.flatMap(({ body }) => argumentsOf(body));
  return uniqueBy(
    entries,
    ({ key }) => key,
    diags,
    (name) => `local.${name}`,
  );
}
