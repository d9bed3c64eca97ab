import { isName } from "../../core/model/index.ts";
import { reportTwice } from "../source/duplicates.ts";
import { didYouMean, type Mistakes } from "../source/mistakes.ts";
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
export function readModule(trees: readonly Tree[], { kinds, schemas }: Catalogue, mistakes: Mistakes): Module {
  const blocks = Object.fromEntries(Object.keys(BLOCK_TYPES).map((type) => [type, [] as Block[]])) as Record<
    Type,
    Block[]
  >;
  for (const entry of trees.flatMap((tree) => rootEntries(tree, mistakes))) {
    if (isType(entry.key)) blocks[entry.key].push(...blocksOf(entry, BLOCK_TYPES[entry.key], mistakes));
    else reportType(entry, mistakes);
  }
  const resourceTypes = [...kinds.keys()];
  const resources = blocks.resource.filter((block) =>
    isOurs(block, "resource", (type) => kinds.has(type), resourceTypes, mistakes),
  );
  const isData = (type: string) => type === REMOTE_STATE || schemas.data(type) !== undefined;
  const data = blocks.data.filter((block) => isOurs(block, "data", isData, [], mistakes));
  return {
    terraform: blocks.terraform,
    providers: blocks.provider,
    variables: named(blocks.variable, "variable ", mistakes),
    locals: localsOf(blocks.locals, mistakes),
    outputs: named(blocks.output, "output ", mistakes),
    resources: named(resources, "", mistakes),
    data: named(data, "data.", mistakes),
    imports: blocks.import,
    moved: blocks.moved,
    removed: blocks.removed,
  };
}

function rootEntries(tree: Tree, mistakes: Mistakes): Entry[] {
  if (tree.form === "map") return argumentsOf(tree);
  if (tree.form === "list") return tree.items.flatMap((item) => rootEntries(item, mistakes));
  mistakes.add(tree.span, "config.structure", "A stack must be an object", {
    fix: 'Write `{"resource": {"hosting_service": {"acme": {…}}}}`, or name the folder that was synthesized.',
  });
  return [];
}

const isType = (key: string): key is Type => Object.hasOwn(BLOCK_TYPES, key);

function reportType({ key, keySpan }: Entry, mistakes: Mistakes): void {
  const { known, refused }: Keys = KEYS.stack;
  const fix = Object.hasOwn(refused, key) ? refused[key] : undefined;
  if (fix !== undefined) {
    mistakes.add(keySpan, "config.unsupported", `\`${key}\` blocks are not supported in a stack`, { fix });
    return;
  }
  const near = mistakes.nearest(key, known);
  mistakes.add(keySpan, "config.unknown_key", `A stack has no "${key.slice(0, 100)}".${didYouMean(near)}`, {
    detail: `It can have ${known.join(", ")}.`,
  });
}

/** Whether a block is of hosting. One of another provider is refused: nobody but Terraform would make it. */
function isOurs(
  { labels, keySpan }: Block,
  type: "resource" | "data",
  isKnown: (type: string) => boolean,
  known: readonly string[],
  mistakes: Mistakes,
): boolean {
  const [first, second] = labels;
  if (first === undefined || second === undefined) return false;
  if (!isName(second.text)) {
    mistakes.add(second.span, "config.structure", `"${second.text.slice(0, 100)}" cannot be the name of a ${type}`, {
      fix: "Use letters, digits, `_` and `-`, beginning with a letter or `_`.",
    });
    return false;
  }
  if (isKnown(first.text)) return true;
  const what = `${type === "data" ? "data." : ""}${first.text.slice(0, 100)}.${second.text.slice(0, 100)}`;
  if (first.text.startsWith(`${PROVIDER}_`)) {
    const near = mistakes.nearest(first.text, known);
    const noun = type === "data" ? "data source" : "resource";
    mistakes.add(
      keySpan,
      "config.unknown_key",
      `There is no ${noun} "${first.text.slice(0, 100)}".${didYouMean(near)}`,
    );
  } else {
    mistakes.add(keySpan, "config.unsupported", `${what} is not a resource of hosting`, {
      detail: "hostform applies stacks of hosting resources alone; nothing would make this one.",
      fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
    });
  }
  return false;
}

function named(blocks: readonly Block[], prefix: string, mistakes: Mistakes): ReadonlyMap<string, Block> {
  const byName = Map.groupBy(blocks, ({ labels }) => `${prefix}${labels.map(({ text }) => text).join(".")}`);
  for (const [name, same] of byName)
    reportTwice(
      same,
      ({ keySpan }) => keySpan,
      () => name,
      mistakes,
    );
  const bare = prefix.endsWith(" ") ? prefix.length : 0;
  return new Map([...byName].flatMap(([name, [first]]) => (first === undefined ? [] : [[name.slice(bare), first]])));
}

function localsOf(blocks: readonly Block[], mistakes: Mistakes): ReadonlyMap<string, Entry> {
  const byName = Map.groupBy(
    blocks.flatMap(({ body }) => argumentsOf(body)),
    ({ key }) => key,
  );
  for (const [name, same] of byName)
    reportTwice(
      same,
      ({ keySpan }) => keySpan,
      () => `local.${name}`,
      mistakes,
    );
  return new Map([...byName].flatMap(([name, [first]]) => (first === undefined ? [] : [[name, first]])));
}
