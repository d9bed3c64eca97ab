import { hasReferences } from "../../core/expression/references.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { isProjectName } from "../../core/model/index.ts";
import type { Named } from "../source/declaration.ts";
import { didYouMean, type Mistakes } from "../source/mistakes.ts";
import { namesSecret, reportSecret } from "../source/secret-keys.ts";
import type { Span } from "../source/source.ts";
import { type Entry, type Tree, valueSpan } from "../source/tree.ts";
import { type Draft, readProviderName } from "./block.ts";
import { readResource } from "./resource.ts";

/** What one document of a declaration says, before it is merged with the others. */
export interface Fragment {
  readonly project: Named | undefined;
  readonly providers: readonly Entry[];
  readonly guards: readonly Entry[];
  readonly backends: readonly Entry[];
  /** Undefined without a section `outputs`: then nothing is said of those that are recorded. */
  readonly outputs: readonly Entry[] | undefined;
  readonly drafts: readonly Draft[];
}

/**
 * Reads a document: `project`, `provider` (for the resources of this document), `providers`, `guards`, `backend`, `outputs` and a section for each
 * kind that is not nested in another. Keys beginning with `x-` are passed over: they are the place for anchors.
 */
export function readDocument(tree: Tree, kinds: Kinds, mistakes: Mistakes): Fragment {
  const nothing: Fragment = {
    project: undefined,
    providers: [],
    guards: [],
    backends: [],
    outputs: undefined,
    drafts: [],
  };
  if (tree.form !== "map") {
    mistakes.add(tree.span, "config.structure", "A declaration must be a map", {
      fix: "Begin with `project: NAME` and sections such as `services:`.",
    });
    return nothing;
  }
  const sections = new Map(
    [...kinds.values()].flatMap((kind) => (kind.nested === undefined ? [[kind.section, kind] as const] : [])),
  );
  const provider = readProviderName(tree.entries.get("provider"), mistakes);
  let project: Named | undefined;
  const providers: Entry[] = [];
  const guards: Entry[] = [];
  const backends: Entry[] = [];
  let outputs: readonly Entry[] | undefined;
  const drafts: Draft[] = [];
  for (const entry of tree.entries.values()) {
    const kind = sections.get(entry.key);
    if (kind !== undefined) {
      for (const block of blocksOf(entry, mistakes, `a map of ${kind.noun}s by name`)) {
        for (const draft of readResource(block, kind, { kinds, mistakes, provider })) drafts.push(draft);
      }
    } else if (entry.key === "project") project = readProject(entry, mistakes);
    else if (entry.key === "guards") guards.push(entry);
    else if (entry.key === "backend") backends.push(entry);
    else if (entry.key === "outputs") outputs = blocksOf(entry, mistakes, "a map of outputs by name");
    else if (entry.key === "providers") providers.push(...blocksOf(entry, mistakes, "a map of providers by name"));
    else if (entry.key !== "provider" && !entry.key.startsWith("x-")) reportKey(entry, sections, kinds, mistakes);
  }
  return { project, providers, guards, backends, outputs, drafts };
}

function readProject(entry: Entry, mistakes: Mistakes): Named {
  const span = valueSpan(entry);
  const name = entry.value.form === "leaf" ? entry.value.value : undefined;
  if (typeof name !== "string" || !isProjectName(name)) {
    const detail =
      "It is part of the key under which services are ordered, so it is not to change once something was ordered.";
    const summary = `\`project\` must be a name${typeof name === "string" && hasReferences(name) ? ", not an expression" : ""}`;
    mistakes.add(span, "config.structure", summary, {
      detail,
      fix: "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit; put quotes around a number.",
    });
  }
  return { name: String(name), span };
}

/** The entries of a section; none when it is empty. */
function blocksOf(section: Entry, mistakes: Mistakes, form: string): Entry[] {
  const { value: tree } = section;
  if (tree.form === "map") return [...tree.entries.values()];
  if (tree.form === "leaf" && tree.value === null) return [];
  mistakes.add(valueSpan(section), "config.structure", `\`${section.key}\` must be ${form}`, {
    fix:
      tree.form === "list"
        ? `Write \`NAME:\` in place of each \`-\`, with the attributes indented below it; the name becomes part of the address.`
        : `Write \`NAME:\` indented below \`${section.key}:\`, with the attributes indented below that.`,
  });
  return [];
}

function reportKey(entry: Entry, sections: ReadonlyMap<string, Kind>, kinds: Kinds, mistakes: Mistakes): void {
  const { key, keySpan } = entry;
  const nested = [...kinds.values()].find((kind) => kind.nested?.section === key || (kind.nested && kind.type === key));
  if (nested !== undefined) {
    const outer = kinds.get(nested.nested?.in ?? "");
    mistakes.add(keySpan, "config.structure", `\`${key}\` is not a section of its own`, {
      fix: `Write \`${nested.nested?.section}:\` inside the block of a ${outer?.noun ?? "resource"}.`,
    });
  } else if (namesSecret(key)) reportSecret(entry, mistakes);
  else reportUnknown(key, keySpan, sections, kinds, mistakes);
}

function reportUnknown(
  key: string,
  span: Span,
  sections: ReadonlyMap<string, Kind>,
  kinds: Kinds,
  mistakes: Mistakes,
): void {
  const known = ["project", "provider", "providers", "guards", "backend", "outputs", ...sections.keys()];
  const near = kinds.get(key)?.section ?? mistakes.nearest(key, known);
  mistakes.add(span, "config.unknown_key", `A declaration has no "${key.slice(0, 100)}".${didYouMean(near)}`, {
    detail: `It can have ${known.join(", ")}, and keys beginning with x- for what anchors repeat.`,
  });
}
