import { type DesiredOutput, type Diagnostic, isObject, type Json, parseAddress } from "../../core/model/index.ts";
import type { TfBlock, TfItem, TfValue } from "../../report/index.ts";
import { tfValue, type Use, type Writing } from "./value.ts";

/**
 * The `output` blocks of a configuration, with the names and values that they have in YAML.
 * @returns an error for one that was declared in another language, and cannot be written in this one.
 */
export function outputBlocks(
  outputs: readonly DesiredOutput[],
  writing: Pick<Writing, "variables" | "attributesOf">,
): { readonly blocks: readonly TfBlock[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const blocks = outputs.flatMap((output) => {
    const { name, description, sensitive, config, range } = output;
    const at = range === undefined ? {} : { range };
    if (config === undefined) {
      const summary = `The output ${name} is not declared in YAML and cannot be exported`;
      const fix = "Terraform reads what it is declared in as it is.";
      diagnostics.push({ severity: "error", code: "terraform.export", summary, fix, ...at });
      return [];
    }
    const onUse = (use: Use) => {
      if (countsSet(use, writing)) diagnostics.push({ ...counted(name, use), ...at });
    };
    const items: TfItem[] = [
      ...(description === undefined ? [] : [{ name: "description", value: description }]),
      { name: "value", value: written(config, { ...writing, onUse }) },
      ...(sensitive ? [{ name: "sensitive", value: true }] : []),
    ];
    return [{ block: "output", labels: [name], body: [items] }];
  });
  return { blocks, diagnostics };
}

/** Everything keeps the type that it has in YAML: no schema says what it should be. */
function written(value: Json, writing: Writing): TfValue {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => written(item, writing));
  if (isObject(value)) {
    const entries = Object.entries(value as { readonly [key: string]: Json });
    return { map: entries.map(([key, part]) => [key, written(part, writing)]) };
  }
  return typeof value === "string"
    ? tfValue(value, "string", { path: [], secret: false }, writing)
    : (value as Exclude<typeof value, object> | null);
}

/** Whether it counts the items of a set, which have another order in Terraform. */
function countsSet({ reference: { address, path } }: Use, { attributesOf }: Pick<Writing, "attributesOf">): boolean {
  const [name, index] = path;
  const type = attributesOf(parseAddress(address)?.type ?? "")?.[String(name)]?.type;
  return typeof type === "object" && "set" in type && typeof index === "number";
}

const counted = (name: string, { reference }: Use): Diagnostic => ({
  severity: "warning",
  code: "terraform.export",
  summary: `The output ${name} counts the items of a set, which have no order in Terraform`,
  detail: `There \${${reference.text}} is the item at that place when all are sorted.`,
  fix: "Write the value itself in its place.",
});
