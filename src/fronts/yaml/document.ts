import { hasReferences } from "../../core/expression/references.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { isProjectName } from "../../core/model/index.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import { namesSecret } from "../source/source.ts";
import { type Entry, isNull, type SpannedName, stringOf, type Tree, toJson, valueSpan } from "../source/tree.ts";
import { EXPANDED } from "./expand.ts";
import { problem } from "./messages.ts";
import { REFACTORING } from "./refactoring.ts";
import { nestedIn, type ResourceDraft, readProviderName, readResource } from "./resource.ts";
import { reportToken } from "./settings.ts";

/** Splits a document of a declaration into its sections. */

/** `provider`, and keys that were read earlier. */
const SETTLED: readonly string[] = ["provider", "include", "required_version", "variables"];

/** Content of one document before it is merged with the other documents. */
export interface Fragment {
  project?: SpannedName;
  readonly providers: Entry[];
  readonly guards: Entry[];
  readonly channels: Entry[];
  readonly backends: Entry[];
  /** The sections `moved`, `removed` and `import`. */
  readonly refactoring: Entry[];
  /** Undefined if the document has no section `outputs`. The outputs in the state then stay. */
  outputs?: readonly Entry[];
  readonly drafts: ResourceDraft[];
}

/**
 * Reads the sections of a document: `project`, `provider` (for the resources of this document), `providers`, `guards`,
 * `notify`, `backend`, `outputs`, `moved`, `removed`, `import`, and one section per kind without a parent. `include` was read
 * earlier. Keys with the prefix `x-` contain anchors and are ignored.
 */
export function readDocument(tree: Tree, kinds: Kinds, diags: DiagnosticCollector): Fragment {
  const fragment: Fragment = { providers: [], guards: [], channels: [], backends: [], refactoring: [], drafts: [] };
  if (tree.form !== "map") {
    diags.add(tree.span, problem("config.structure/declaration"));
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
      for (const block of blocksOf(entry, diags, kind.noun)) {
        for (const draft of readResource(block, kind, context)) fragment.drafts.push(draft);
      }
    } else if (entry.key === "project") fragment.project = readProject(entry, diags);
    else if (entry.key === "guards") fragment.guards.push(entry);
    else if (entry.key === "notify") fragment.channels.push(entry);
    else if (entry.key === "backend") fragment.backends.push(entry);
    else if (REFACTORING.includes(entry.key)) fragment.refactoring.push(entry);
    else if (entry.key === "outputs") fragment.outputs = blocksOf(entry, diags, "output");
    else if (entry.key === "providers") fragment.providers.push(...blocksOf(entry, diags, "provider"));
    else if (!SETTLED.includes(entry.key) && !entry.key.startsWith("x-"))
      reportKey(entry, [...sections.keys()], kinds, diags);
  }
  return fragment;
}

function readProject(entry: Entry, diags: DiagnosticCollector): SpannedName {
  const span = valueSpan(entry);
  const name = stringOf(entry.value);
  if (name === undefined || !isProjectName(name)) {
    const isExpression = name !== undefined && hasReferences(name);
    diags.add(span, problem("config.structure/project", { isExpression }));
  }
  return { name: name ?? String(toJson(entry.value)), span };
}

/** Returns the entries of a section, if any. */
function blocksOf(section: Entry, diags: DiagnosticCollector, noun: string): Entry[] {
  const { value: tree, key } = section;
  if (tree.form === "map") return [...tree.entries.values()];
  if (isNull(tree)) return [];
  diags.add(valueSpan(section), problem("config.structure/section", { key, noun, isList: tree.form === "list" }));
  return [];
}

function reportKey(entry: Entry, sections: readonly string[], kinds: Kinds, diags: DiagnosticCollector): void {
  const { key, keySpan } = entry;
  const inner = [...kinds.values()].find((kind) => kind.nested?.section === key || (kind.nested && kind.type === key));
  if (inner !== undefined) {
    const outer: Kind | undefined = kinds.get(inner.nested?.in ?? "");
    const section = inner.nested?.section ?? "";
    diags.add(keySpan, problem("config.structure/nested", { key, section, outer: outer?.noun ?? "resource" }));
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
      "notify",
      "backend",
      "outputs",
      ...REFACTORING,
      ...EXPANDED,
      ...sections,
    ];
    const near = kinds.get(key)?.section ?? diags.nearest(key, known);
    diags.add(keySpan, problem("config.unknown_key/declaration", { key, near, known }));
  }
}
