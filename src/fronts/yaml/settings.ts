import { dirname, isAbsolute, join } from "node:path";
import * as z from "zod";
import { partsOf, resolveReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kind } from "../../core/kinds/kind.ts";
import { configOf, type ProviderSettings, providerSettings } from "../../core/kinds/provider-settings.ts";
import {
  CURRENCIES,
  type Guards,
  holdsToken,
  type Json,
  type ProviderConfig,
  type SecretSource,
} from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector } from "../source/diagnostics.ts";
import { typedValue } from "../source/scalars.ts";
import { checkedSetting } from "../source/settings.ts";
import { namesSecret, rangeOf, type Span } from "../source/source.ts";
import { type ReadContext, settingValue, templateReferences } from "../source/templates.ts";
import { type Entry, isNull, type Leaf, type MapTree, strings, type Tree, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";

/**
 * Names of provider settings. This file reads the parts of a declaration with their own schema, which editors use too:
 * `providers`, `guards`, and secret sources.
 */

const PROVIDER_SETTINGS: readonly string[] = Object.keys(providerSettings.shape);

/** Reads one entry of `providers`. Evaluates `${env.NAME}`, because a plan needs the provider. Omits settings with errors. */
export function readProvider(entry: Entry, context: ReadContext): ProviderConfig | undefined {
  const { diags } = context;
  const { key: alias, value: tree } = entry;
  if (!checkName(alias, entry.keySpan, "provider", diags)) return undefined;
  const range = rangeOf(entry.keySpan);
  if (isNull(tree)) return { alias, range };
  if (tree.form !== "map") {
    diags.add(valueSpan(entry), problem("config.structure/provider_settings", { alias }));
    return undefined;
  }
  return { alias, ...readSettings(tree, context), range };
}

function readSettings(tree: MapTree, context: ReadContext): Omit<ProviderConfig, "alias"> {
  const { diags } = context;
  const settings: ProviderSettings = {};
  for (const entry of tree.entries.values()) {
    const { key, keySpan } = entry;
    if (!PROVIDER_SETTINGS.includes(key)) {
      if (namesSecret(key)) reportToken(entry, diags);
      else {
        diags.add(keySpan, problem("config.unknown_key/provider", { ...diags.unknown(key, PROVIDER_SETTINGS) }));
      }
      continue;
    }
    if ([...strings(entry.value)].some(({ text }) => holdsToken(key, text))) {
      reportToken(entry, diags);
      continue;
    }
    const value = settingValue(entry, providerSettings, "provider", context);
    if (value !== undefined) Object.assign(settings, checkedSetting(providerSettings, entry, value, diags));
  }
  const config = configOf(settings);
  const { tokenFile } = config;
  const { keySpan: place } = tree.entries.get("token_file") ?? { keySpan: tree.span };
  return tokenFile === undefined ? config : { ...config, tokenFile: besideDeclaration(tokenFile, place) };
}

/** Returns a path relative to the declaring file. */
function besideDeclaration(path: string, { source }: Span): string {
  return isAbsolute(path) ? path : join(dirname(source.path), path);
}

/** Rejects a token in a declaration. The message contains the location of the key, but not the value. */
export function reportToken({ key, keySpan }: Entry, diags: DiagnosticCollector): void {
  diags.add(keySpan, problem("config.secret/token", { key }));
}

const wholeNumber = (of: string) => z.int(`expected a whole number of ${of}`).min(0, "at least 0");

const amount = () =>
  z.int("expected a whole number, in the unit of the API (`hostform plans` shows amounts in it)").min(0, "at least 0");

const amounts = () =>
  z
    .strictObject(
      Object.fromEntries(CURRENCIES.map((currency) => [currency, amount().optional()])),
      "expected amounts by currency, such as {USD: 20000}",
    )
    .optional();

/** Schema of the section `guards`, also for editors. */
export const guardSettings = z.strictObject({
  max_orders: wholeNumber("orders").optional().describe("Maximum number of services and domains that one run orders."),
  max_spend: amounts().describe(
    "Maximum amount of the orders of one run, by currency, in the unit of the API. Other currencies have no limit.",
  ),
  max_spend_month: amounts().describe(
    "Maximum amount of the orders of all runs in a calendar month (UTC), by currency, in the unit of the API.",
  ),
  max_orders_day: wholeNumber("orders").optional().describe("Maximum number of orders of all runs in one day (UTC)."),
  max_removals: wholeNumber("resources").optional().describe("Maximum number of resources that one run removes."),
  max_removals_percent: z
    .number("expected a percentage from 0 to 100")
    .min(0, "at least 0")
    .max(100, "at most 100")
    .optional()
    .describe("Maximum share of the resources in the state that one run removes, in percent."),
});

/** Name of each limit in the model. */
const GUARD_NAMES = {
  max_orders: "maxOrders",
  max_spend: "maxSpend",
  max_spend_month: "maxSpendMonth",
  max_orders_day: "maxOrdersDay",
  max_removals: "maxRemovals",
  max_removals_percent: "maxRemovalsPercent",
} as const satisfies Record<keyof typeof guardSettings.shape, keyof Guards>;

/** Reads the section `guards`. Omits limits with errors. Warns if there are no limits. */
export function readGuards(section: Entry, diags: DiagnosticCollector): Guards {
  const { value: tree } = section;
  if (limitsNothing(tree)) {
    diags.add(section.keySpan, problem("config.structure/no_guards"));
    return {};
  }
  if (tree.form !== "map") {
    diags.add(valueSpan(section), problem("config.structure/guards"));
    return {};
  }
  const settings: Record<string, unknown> = {};
  const ranges: Record<string, unknown> = {};
  for (const entry of tree.entries.values()) {
    const name = Object.hasOwn(GUARD_NAMES, entry.key) ? GUARD_NAMES[entry.key as keyof typeof GUARD_NAMES] : undefined;
    if (name === undefined) {
      const known = diags.unknown(entry.key, Object.keys(GUARD_NAMES));
      diags.add(entry.keySpan, problem("config.unknown_key/guard", known));
    } else if (isAcceptable(entry, diags)) {
      settings[name] = limitOf(entry, diags);
      ranges[name] = rangeOf(valueSpan(entry));
    }
  }
  return { ...settings, ranges } as Guards;
}

/** Returns true if the section contains no limit, or only empty ones (`max_spend: {}`). */
function limitsNothing(tree: Entry["value"]): boolean {
  if (tree.form === "leaf") return isNull(tree);
  const isEmpty = ({ key, value }: Entry) =>
    key.startsWith("max_spend") && value.form !== "list" && limitsNothing(value);
  return tree.form === "map" && [...tree.entries.values()].every(isEmpty);
}

const limitOf = ({ key, keySpan, value }: Entry, diags: DiagnosticCollector): Json =>
  typedValue(value, (guardSettings.shape as Readonly<Record<string, z.ZodType>>)[key], { path: [key], diags, keySpan });

/** Keeps an amount with a decimal point as text: `45.00` is not a number of cents. */
function asWritten(entry: Entry): Entry {
  const { value } = entry;
  return value.form === "leaf" && value.written?.includes(".")
    ? { ...entry, value: { ...value, value: value.written } }
    : entry;
}

/** Checks one limit. Reports each error at its location. */
function isAcceptable(entry: Entry, diags: DiagnosticCollector): boolean {
  const { key, value: tree } = entry;
  if (!key.startsWith("max_spend") || tree.form !== "map")
    return checkedSetting(guardSettings, entry, limitOf(entry, diags), diags) !== undefined;
  const isKnown = (currency: string) => CURRENCIES.some((known) => known === currency);
  const strange = [...tree.entries.values()].filter((currency) => !isKnown(currency.key));
  for (const { keySpan, key: currency } of strange)
    diags.add(keySpan, problem("config.unknown_key/currency", diags.unknown(currency, CURRENCIES)));
  const amounts: MapTree = {
    ...tree,
    entries: new Map(
      [...tree.entries].flatMap(([currency, one]) => (isKnown(currency) ? [[currency, asWritten(one)]] : [])),
    ),
  };
  const limit = { ...entry, value: amounts };
  const checked = checkedSetting(guardSettings, limit, limitOf(limit, diags), diags);
  return checked !== undefined && strange.length === 0;
}

const VARIABLE_NAME = "expected the name of an environment variable, such as ACME_PASSWORD";

/** Secret sources: exactly one must be declared. Also the schema for editors. */
export const secretSourceForms = z.strictObject({
  env: z
    .string(VARIABLE_NAME)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, VARIABLE_NAME)
    .describe("Environment variable that holds the value."),
  file: z
    .string("expected a path")
    .min(1, "expected a path")
    .describe("File that holds the value, relative to the project's folder. A line break at its end is removed."),
  command: z
    .array(z.string("expected a string"), "expected a list: the program and its arguments")
    .min(1, "expected a list: the program and its arguments")
    .refine(([program]) => program !== "", "expected a program")
    .describe("Program and arguments that print the value. It runs without a shell, in the project's folder."),
});

const FORMS: readonly string[] = Object.keys(secretSourceForms.shape);

/** Returns true if an attribute declares a secret source: it is write-only, and its value is no reference to a resource. */
export function isSecretSource(kind: Kind, name: string, tree: Tree): boolean {
  const type = kind.attributes.shape[name];
  if (type === undefined || metaOf(type).writeOnly !== true) return false;
  if (tree.form !== "leaf") return true;
  return tree.value !== null && !refersToResource(tree);
}

/**
 * Reads a secret source. Rejects a literal secret, because people share and archive declarations. Messages contain the
 * location of the key, but never the value.
 * @returns undefined after a reported error.
 */
export function readSecretSource(
  { key, keySpan, value: tree }: Entry,
  address: string,
  context: ReadContext,
): SecretSource | undefined {
  const { diags } = context;
  const remark = { name: key, address, attribute: [key] };
  if (tree.form === "leaf") {
    const variable = soleVariable(tree);
    if (variable !== undefined) return { env: variable };
    return diags.add(keySpan, problem("config.secret/value", remark));
  }
  const [entry, ...others] = tree.form === "map" ? [...tree.entries.values()] : [];
  if (entry === undefined || others.length > 0) {
    return diags.add(keySpan, problem("config.structure/source", remark));
  }
  if (!FORMS.includes(entry.key)) {
    return diags.add(keySpan, problem("config.unknown_key/source", { ...diags.unknown(entry.key, FORMS), ...remark }));
  }
  if (entry.key !== "env" && !checkTemplates(tree as MapTree, address, context)) return undefined;
  const scope = { env: context.env.read, resource: () => undefined };
  const type = secretSourceForms.shape[entry.key as keyof typeof secretSourceForms.shape];
  const given = typedValue(entry.value, type, { path: [key, entry.key], diags, address, keySpan });
  const value = entry.key === "env" ? given : resolveReferences(given, scope);
  const parsed = secretSourceForms.partial().safeParse({ [entry.key]: value });
  if (parsed.success) return parsed.data as SecretSource;
  const [issue] = parsed.error.issues;
  const message = issue?.message ?? "";
  return diags.add(keySpan, problem("config.invalid_value/source", { ...remark, source: entry.key, message }));
}

/** Checks paths and arguments. `${env.NAME}` is the only allowed reference. */
function checkTemplates(tree: MapTree, address: string, context: ReadContext): boolean {
  let readable = true;
  for (const { leaf } of strings(tree)) {
    const references = templateReferences(leaf, context, { address });
    const [wrong] = references ?? [];
    if (wrong !== undefined) context.diags.add(wrong.span, problem("config.reference/source", { address }));
    readable &&= references !== undefined && wrong === undefined;
  }
  return readable;
}

/** Returns NAME if the string is only `${env.NAME}`. */
function soleVariable({ value }: Leaf): string | undefined {
  const [only, ...more] = partsOf(String(value));
  return typeof only === "object" && only.to === "env" && more.length === 0 ? only.name : undefined;
}

/**
 * Returns true if a value consists only of references, and at least one is to a resource. The file then contains no secret.
 */
function refersToResource({ value }: Leaf): boolean {
  const parts = partsOf(String(value));
  return parts.every((part) => typeof part === "object") && parts.some((part) => part.to === "resource");
}
