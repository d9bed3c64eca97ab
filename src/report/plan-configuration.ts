// Configuration of a plan in Terraform's representation: expressions, variables, checks.
import {
  type Change,
  isObject,
  isUnknown,
  type Json,
  type Plan,
  parseAddress,
  resourceOf,
  type VariableValue,
} from "../core/model/index.ts";

/** An expression in Terraform's JSON syntax: its text with templates, and the names in it. Empty for a hidden or unknown value. */
interface ExpressionJson {
  readonly constant_value?: Json;
  readonly references?: readonly string[];
}

/** Returns the key of a provider in the configuration. */
const providerKey = (alias: string) => (alias === "default" ? "hosting" : `hosting.${alias}`);

/** Returns the `configuration` of a plan, without values of sensitive attributes. */
export function configurationJson(
  { changes, outputs = [], variables = [] }: Pick<Plan, "changes" | "outputs" | "variables">,
  providerName: string,
) {
  const declared = changes.filter(({ config }) => config !== null);
  const blocks = Map.groupBy(declared, ({ address }) => resourceOf(address));
  const aliases = [...new Set(declared.map(({ provider }) => provider))].sort();
  const known = outputs.filter(({ action }) => action !== "delete");
  return {
    provider_config: Object.fromEntries(
      aliases.map((alias) => {
        const named = { name: "hosting", full_name: providerName };
        return [providerKey(alias), alias === "default" ? named : { ...named, alias }];
      }),
    ),
    root_module: {
      ...(known.length > 0 && {
        outputs: Object.fromEntries(
          known.map(({ name, sensitive }) => [name, { ...(sensitive && { sensitive }), expression: {} }]),
        ),
      }),
      ...(blocks.size > 0 && { resources: [...blocks].map(([address, all]) => blockJson(address, all)) }),
      ...(variables.length > 0 && {
        variables: Object.fromEntries(variables.map(({ name, sensitive }) => [name, sensitive ? { sensitive } : {}])),
      }),
    },
  };
}

/** Returns one block with all instances. */
function blockJson(address: string, all: readonly Change[]) {
  const [first] = all;
  const { type = "", name = "" } = parseAddress(address) ?? {};
  const names = [...new Set(all.flatMap(({ config }) => Object.keys(config ?? {})))].sort();
  const { key } = parseAddress(first?.address ?? "") ?? {};
  return {
    address,
    mode: "managed" as const,
    type,
    name,
    provider_config_key: providerKey(first?.provider ?? "default"),
    expressions: Object.fromEntries(names.map((attribute) => [attribute, expressionOf(attribute, all)])),
    schema_version: 0 as const,
    ...(typeof key === "number" && { count_expression: {} }),
    ...(typeof key === "string" && { for_each_expression: {} }),
  };
}

function expressionOf(attribute: string, all: readonly Change[]): ExpressionJson {
  if (all.some(({ sensitive }) => sensitive.includes(attribute))) return {};
  const [first, ...others] = all.map(({ config }) => config?.[attribute] ?? null);
  if (first === undefined || isUnknown(first)) return {};
  // Each instance of YAML has its own declaration, so their values may differ.
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) return { references: ["each.value"] };
  const references = [...new Set(referencesIn(first))];
  return { constant_value: first, ...(references.length > 0 && { references }) };
}

const TEMPLATE = /(?<!\$)\$\{((?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*)\}/g;
/** Names in an expression. Matches and skips quoted text, except keys in brackets. */
const NAMES = /(?<!\[)"(?:[^"\\]|\\.)*"|\b[a-z_]\w*(?:\.[\w-]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])+/gi;

/** Returns the names in a value as Terraform lists them: each used attribute, then its resource. */
function referencesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (isObject(value)) return Object.values(value).flatMap((item) => referencesIn(item as Json));
  if (typeof value !== "string") return [];
  return [...value.matchAll(TEMPLATE)].flatMap(([, text = ""]) =>
    [...text.matchAll(NAMES)].flatMap(([name]) => (name.startsWith('"') ? [] : withResource(name))),
  );
}

function withResource(name: string): string[] {
  const [, resource = "", key = ""] = /^((?:data\.)?[a-z]+_\w+\.[\w-]+)(\[[^\]]*\])?/i.exec(name) ?? [];
  return [...new Set([name, ...(key === "" ? [] : [resource + key]), ...(resource === "" ? [] : [resource])])];
}

/** Returns `variables`. Sensitive values are null. */
export const variablesJson = (variables: readonly VariableValue[]) =>
  Object.fromEntries(variables.map(({ name, value }) => [name, { value }]));

/** Returns `checks`: the conditions of variables. All pass, because otherwise no plan exists. */
export const checksJson = (variables: readonly VariableValue[]) =>
  variables
    .filter(({ isChecked }) => isChecked)
    .map(({ name }) => {
      const shown = `var.${name}`;
      const instance = { address: { to_display: shown }, status: "pass" as const };
      return {
        address: { kind: "var" as const, name, to_display: shown },
        status: "pass" as const,
        instances: [instance],
      };
    });
