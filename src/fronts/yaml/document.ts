import { hasReferences } from "../../core/expression/references.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { isProjectName } from "../../core/model/index.ts";
import { type DiagnosticCollector, suggestionOf } from "../source/diagnostics.ts";
import { projectNameRemark } from "../source/settings.ts";
import { namesSecret } from "../source/source.ts";
import { type Entry, isNull, type SpannedName, stringOf, type Tree, toJson, valueSpan } from "../source/tree.ts";
import { EXPANDED } from "./expand.ts";
import { REFACTORING } from "./refactoring.ts";
import { nestedIn, type ResourceDraft, readProviderName, readResource } from "./resource.ts";
import { reportToken } from "./settings.ts";

/** Splits a document of a declaration into its sections. */

/** Keys that were read before, and `provider`. */
const SETTLED: readonly string[] = ["provider", "include", "required_version", "variables"];

/** The content of one document, before it is merged with the others. */
export interface Fragment {
  project?: SpannedName;
  readonly providers: Entry[];
  readonly guards: Entry[];
  readonly backends: Entry[];
  /** The sections `moved`, `removed` and `import`. */
  readonly refactoring: Entry[];
  /** Undefined without a section `outputs`: then the recorded outputs stay. */
  outputs?: readonly Entry[];
  readonly drafts: ResourceDraft[];
}

/**
 * Reads a document, whose `include` was read before: `project`, `provider` (for the resources of this document), `providers`, `guards`, `backend`, `outputs`,
 * `moved`, `removed`, `import`, and a section for each kind that is not nested in another. Keys that begin with `x-` are ignored; they hold anchors.
 */
export function readDocument(tree: Tree, kinds: Kinds, diags: DiagnosticCollector): Fragment {
  const fragment: Fragment = { providers: [], guards: [], backends: [], refactoring: [], drafts: [] };
  if (tree.form !== "map") {
    const fix = "Begin with `project: NAME` and sections such as `services:`.";
    diags.add(tree.span, "config.structure", "A declaration must be a map", { fix });
    return fragment;
  }
  const sections = new Map(
    [...kinds.values()].flatMap((kind) => (kind.nested === undefined ? [[kind.section, kind] as const] : [])),
  );
  const provider = readProviderName(tree.entries.get("provider"), diags);
  for (const entry of tree.entries.values()) {
    const kind = sections.get(entry.key);
    if (kind !== undefined) {
      const context = { nested: nestedIn(kind, kinds), diags, provider };
      for (const block of blocksOf(entry, diags, `a map of ${kind.noun}s by name`)) {
        for (const draft of readResource(block, kind, context)) fragment.drafts.push(draft);
      }
    } else if (entry.key === "project") fragment.project = readProject(entry, diags);
    else if (entry.key === "guards") fragment.guards.push(entry);
    else if (entry.key === "backend") fragment.backends.push(entry);
    else if (REFACTORING.includes(entry.key)) fragment.refactoring.push(entry);
    else if (entry.key === "outputs") fragment.outputs = blocksOf(entry, diags, "a map of outputs by name");
    else if (entry.key === "providers")
      fragment.providers.push(...blocksOf(entry, diags, "a map of providers by name"));
    else if (!SETTLED.includes(entry.key) && !entry.key.startsWith("x-"))
      reportKey(entry, [...sections.keys()], kinds, diags);
  }
  return fragment;
}

function readProject(entry: Entry, diags: DiagnosticCollector): SpannedName {
  const span = valueSpan(entry);
  const name = stringOf(entry.value);
  if (name === undefined || !isProjectName(name)) {
    const expression = name !== undefined && hasReferences(name) ? ", not an expression" : "";
    const remark = projectNameRemark("; put quotes around a number");
    diags.add(span, "config.structure", `\`project\` must be a name${expression}`, remark);
  }
  return { name: name ?? String(toJson(entry.value)), span };
}

/** The entries of a section, if any. */
function blocksOf(section: Entry, diags: DiagnosticCollector, form: string): Entry[] {
  const { value: tree, key } = section;
  if (tree.form === "map") return [...tree.entries.values()];
  if (isNull(tree)) return [];
  diags.add(valueSpan(section), "config.structure", `\`${key}\` must be ${form}`, {
    fix:
      tree.form === "list"
        ? `Replace each \`-\` by \`NAME:\`, with the attributes indented below it; the name becomes part of the address.`
        : `Write \`NAME:\` indented below \`${key}:\`, with the attributes indented below that.`,
  });
  return [];
}

function reportKey(entry: Entry, sections: readonly string[], kinds: Kinds, diags: DiagnosticCollector): void {
  const { key, keySpan } = entry;
  const inner = [...kinds.values()].find((kind) => kind.nested?.section === key || (kind.nested && kind.type === key));
  if (inner !== undefined) {
    const outer: Kind | undefined = kinds.get(inner.nested?.in ?? "");
    const fix = `Write \`${inner.nested?.section}:\` inside the block of a ${outer?.noun ?? "resource"}.`;
    diags.add(keySpan, "config.structure", `\`${key}\` is not a top-level section`, { fix });
  } else if (namesSecret(key)) reportToken(entry, diags);
  else {
    const known = [
      "project",
      "required_version",
      "include",
      "provider",
      "providers",
      "variables",
      "guards",
      "backend",
      "outputs",
      ...REFACTORING,
      ...EXPANDED,
      ...sections,
    ];
    const near = kinds.get(key)?.section ?? diags.nearest(key, known);
    diags.add(keySpan, "config.unknown_key", `A declaration has no "${key.slice(0, 100)}".${suggestionOf(near)}`, {
      detail: `It can have ${known.join(", ")}, and keys that begin with x- for anchors.`,
    });
  }
}
