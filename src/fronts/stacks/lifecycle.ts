import type { Lifecycle, Schema } from "../../core/model/index.ts";
import { type DiagnosticCollector, didYouMean } from "../source/diagnostics.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { flagOf, onlyBlock, textsOf } from "./blocks.ts";
import { checkKeys, KEYS } from "./keys.ts";

/** `lifecycle` of a block. That nothing of it may be destroyed holds for the block, also without any instance. */
export interface DraftLifecycle extends Lifecycle {
  readonly preventDestroy?: boolean;
}

/** Reads `lifecycle` of a resource, or of a data source, which has none that means anything. */
export function readLifecycle(
  entry: Entry | undefined,
  address: string,
  schema: Schema,
  isResource: boolean,
  diags: DiagnosticCollector,
): DraftLifecycle | undefined {
  const block = onlyBlock(entry, diags);
  if (block === undefined) return undefined;
  const keys = isResource ? KEYS["resource.lifecycle"] : KEYS["data.lifecycle"];
  checkKeys(block, keys, (key) => `\`lifecycle\` has no ${key} here`, diags, { address });
  const { entries } = block.body;
  const preventDestroy = flagOf(entries.get("prevent_destroy"), diags);
  const createBeforeDestroy = flagOf(entries.get("create_before_destroy"), diags);
  const ignoreChanges = readIgnored(entries.get("ignore_changes"), address, schema, diags);
  return {
    ...(preventDestroy !== undefined && { preventDestroy }),
    ...(createBeforeDestroy !== undefined && { createBeforeDestroy }),
    ...(ignoreChanges !== undefined && { ignoreChanges }),
  };
}

function readIgnored(
  entry: Entry | undefined,
  address: string,
  { attributes }: Schema,
  diags: DiagnosticCollector,
): Lifecycle["ignoreChanges"] {
  if (entry === undefined) return undefined;
  const { value: tree } = entry;
  if (tree.form === "leaf" && tree.value === "all") return "all";
  if (tree.form === "leaf" && tree.value !== null) {
    const fix = 'Write `["plan_id"]`, or `"all"`.';
    diags.add(valueSpan(entry), "config.structure", "`ignore_changes` must be a list of attributes", {
      address,
      fix,
    });
    return undefined;
  }
  const names = textsOf(entry, diags).flatMap(({ text, span }) => {
    const [, name = text, rest = ""] = /^([A-Za-z_][A-Za-z0-9_-]*)(.*)$/s.exec(text) ?? [];
    if (!Object.hasOwn(attributes, name)) {
      const near = diags.nearest(name, Object.keys(attributes));
      const summary = `There is no attribute "${name.slice(0, 100)}" to ignore.${didYouMean(near)}`;
      diags.add(span, "config.unknown_key", summary, { address });
      return [];
    }
    if (rest !== "") {
      const summary = "A part of an attribute cannot be ignored by itself";
      diags.add(span, "config.unsupported", summary, { address, fix: `Name the whole attribute: \`"${name}"\`.` });
      return [];
    }
    return [name];
  });
  return names.length === 0 ? undefined : names;
}
