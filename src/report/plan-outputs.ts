import { equal, type Json, join, type OutputChange, type Plan } from "../core/model/index.ts";
import { type Row, rowLines } from "./plan-value.ts";
import { type MaskJson, withoutUnknown } from "./plan-values-json.ts";
import type { Paint } from "./style.ts";

/** The section "Changes to Outputs:" of a plan, as Terraform has it; empty when none changes. */
export function outputLines({ outputs = [] }: Plan, paint: Paint): string[] {
  const changed = outputs.filter(({ action }) => action !== "no-op");
  if (changed.length === 0) return [];
  return [paint.bold("Changes to Outputs:"), ...rowLines(changed.map(rowOf), 2, paint), ""];
}

function rowOf({ name, action, before, after, after_unknown: unknown, sensitive }: OutputChange): Row {
  if (!sensitive) {
    const note = action === "update" && unknown === false && equal(before, after) ? { note: "of another type" } : {};
    return { label: name, before, after: join(after, unknown), keep: true, ...note };
  }
  // Two words in place of the values, which may be the same: then it is the mark that changes.
  const sides = { before: action === "create" ? null : "before", after: action === "delete" ? null : "after" };
  return { label: name, ...sides, instead: "(sensitive value)" };
}

/** One output of the plan representation. */
export interface OutputChangeJson {
  readonly actions: readonly [OutputChange["action"]];
  readonly before: Json;
  /** Without what is unknown, as Terraform leaves it out. */
  readonly after?: Json;
  readonly after_unknown: MaskJson;
  readonly before_sensitive: boolean;
  readonly after_sensitive: boolean;
}

/** An output among the values of the plan representation: without value where it is unknown. */
export interface OutputValueJson {
  readonly sensitive: boolean;
  readonly type?: Json;
  /** Null for a sensitive one. */
  readonly value?: Json;
}

/** `output_changes` by name: every output that is declared or recorded. */
export function outputChangesJson({ outputs = [] }: Plan): Readonly<Record<string, OutputChangeJson>> {
  return byName(outputs, ({ action, before, after, after_unknown: unknown, sensitive }) => ({
    actions: [action],
    before: sensitive ? null : before,
    ...(unknown !== true && { after: sensitive ? null : withoutUnknown(after, unknown) }),
    after_unknown: unknown as MaskJson,
    before_sensitive: sensitive,
    after_sensitive: sensitive,
  }));
}

/** The outputs of `planned_values` (`after`) and of `prior_state` (`before`). */
export function outputValuesJson(
  { outputs = [] }: Plan,
  side: "before" | "after",
): Readonly<Record<string, OutputValueJson>> {
  const there = outputs.filter(({ action }) => action !== (side === "before" ? "create" : "delete"));
  return byName(there, ({ before, after, after_unknown: unknown, sensitive, type }) => {
    if (side === "before") return { sensitive, value: sensitive ? null : before };
    if (unknown !== false) return { sensitive };
    return { sensitive, ...(type !== undefined && { type }), value: sensitive ? null : after };
  });
}

function byName<T>(outputs: readonly OutputChange[], of: (output: OutputChange) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(outputs.map((output) => [output.name, of(output)]));
}
