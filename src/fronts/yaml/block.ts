import { hasReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import type { Named } from "../source/declaration.ts";
import { didYouMean, type Mistakes } from "../source/mistakes.ts";
import type { Span } from "../source/source.ts";
import { type Entry, type MapTree, valueSpan } from "../source/tree.ts";
import { isSecretSource } from "./secret-source.ts";

/** A resource as it stands in a document, before anything is known of the others. */
export interface Draft {
  readonly address: string;
  readonly kind: Kind;
  /** The key under which it is declared. */
  readonly keySpan: Span;
  /** Its attributes, reserved keys left out. */
  readonly attributes: ReadonlyMap<string, Entry>;
  /** Attributes of which only the place of the value is declared. */
  readonly sources: ReadonlyMap<string, Entry>;
  readonly provider: Named | undefined;
  readonly dependsOn: readonly Named[];
  readonly importId: string | undefined;
  /** False when nothing but the address could be read. */
  readonly readable: boolean;
}

/** What surrounds a resource's block. */
export interface Surroundings {
  readonly kinds: Kinds;
  readonly mistakes: Mistakes;
  /** The provider for blocks that name none (`provider:` at the top of the document). */
  readonly provider: Named | undefined;
}

/** A resource of which only the address is known, so that references to it are not mistakes as well. */
export function emptyDraft(address: string, kind: Kind, keySpan: Span, provider: Named | undefined): Draft {
  return {
    address,
    kind,
    keySpan,
    attributes: new Map(),
    sources: new Map(),
    provider,
    dependsOn: [],
    importId: undefined,
    readable: false,
  };
}

interface Block {
  readonly address: string;
  readonly kind: Kind;
  readonly keySpan: Span;
  readonly body: MapTree;
  readonly reserved: readonly string[];
  /** Keys that are read elsewhere. */
  readonly sections: readonly string[];
}

/** Sorts the keys of a block into attributes and reserved keys. */
export function readBody({ address, kind, keySpan, body, reserved, sections }: Block, around: Surroundings): Draft {
  const { mistakes } = around;
  const attributes = new Map<string, Entry>();
  const misspelt = new Map<string, Entry>();
  for (const entry of body.entries.values()) {
    const { key } = entry;
    if (reserved.includes(key) || sections.includes(key)) continue;
    if (!Object.hasOwn(kind.attributes.shape, key)) {
      const known = [...declarable(kind), ...sections, ...reserved];
      const near = mistakes.nearest(key, known);
      if (near !== undefined) misspelt.set(near, entry);
      const summary = `A ${kind.noun} has no attribute "${key.slice(0, 100)}".${didYouMean(near)}`;
      mistakes.add(entry.keySpan, "config.unknown_key", summary, {
        address,
        detail: `It can have ${known.join(", ")}.`,
      });
    } else if (isGiven(kind, key)) {
      // `plan: 11` was meant to be `plan_id`.
      const near = declarable(kind).find((name) => name.startsWith(`${key}_`));
      const summary = `"${key}" is given by the API and cannot be declared.${didYouMean(near)}`;
      mistakes.add(entry.keySpan, "config.computed", summary.replace(/\.$/, ""), {
        address,
        fix: `Remove it; elsewhere it can be used as \`\${${address}.${key}}\`.`,
      });
    } else attributes.set(key, entry);
  }
  // A misspelt attribute is taken for what it was probably meant to be, so that it is not reported as missing as well.
  for (const [meant, entry] of misspelt) {
    if (!attributes.has(meant) && declarable(kind).includes(meant)) attributes.set(meant, entry);
  }
  const sources = new Map([...attributes].filter(([name, entry]) => isSecretSource(kind, name, entry.value)));
  for (const name of sources.keys()) attributes.delete(name);
  return {
    address,
    kind,
    keySpan,
    attributes,
    sources,
    provider:
      (reserved.includes("provider") ? readProviderName(body.entries.get("provider"), mistakes) : undefined) ??
      around.provider,
    dependsOn: readDependsOn(body.entries.get("depends_on"), address, mistakes),
    importId: readImport(body.entries.get("import"), address, mistakes),
    readable: true,
  };
}

/** The attributes that may be declared. */
function declarable(kind: Kind): string[] {
  return Object.keys(kind.attributes.shape).filter((name) => !isGiven(kind, name));
}

function isGiven(kind: Kind, name: string): boolean {
  const type = kind.attributes.shape[name];
  return type !== undefined && metaOf(type).change === undefined;
}

export function readProviderName(entry: Entry | undefined, mistakes: Mistakes): Named | undefined {
  if (entry === undefined) return undefined;
  const span = valueSpan(entry);
  if (entry.value.form === "leaf" && typeof entry.value.value === "string") return { name: entry.value.value, span };
  mistakes.add(span, "config.structure", "`provider` must be the name of a provider", {
    fix: "Write `provider: NAME`, a name under `providers`.",
  });
  return undefined;
}

function readDependsOn(entry: Entry | undefined, address: string, mistakes: Mistakes): Named[] {
  if (entry === undefined) return [];
  if (entry.value.form !== "list") {
    const fix = "Write `depends_on: [hosting_service.acme]`.";
    mistakes.add(valueSpan(entry), "config.structure", "`depends_on` must be a list of addresses", { address, fix });
    return [];
  }
  return entry.value.items.flatMap((item) => {
    if (item.form === "leaf" && typeof item.value === "string") return [{ name: item.value, span: item.span }];
    const fix = "Write the address of a resource, such as hosting_service.acme.";
    mistakes.add(item.span, "config.structure", "An item of `depends_on` must be an address", { address, fix });
    return [];
  });
}

function readImport(entry: Entry | undefined, address: string, mistakes: Mistakes): string | undefined {
  if (entry === undefined) return undefined;
  const id = entry.value.form === "leaf" ? entry.value.value : undefined;
  if (Number.isInteger(id)) return String(id);
  if (typeof id === "string" && id !== "" && !hasReferences(id)) return id;
  const fix = "Write the id that the API gave the object; expressions are not evaluated here.";
  mistakes.add(valueSpan(entry), "config.structure", "`import` must be an id", { address, fix });
  return undefined;
}
