import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { evaluate, isName, type ProviderConfig } from "../model/index.ts";
import { didYouMean, type Mistakes } from "./mistakes.ts";
import { looksLikeToken, rangeOf, type Span } from "./source.ts";
import { type Environment, readTemplate } from "./templates.ts";
import { type Entry, locate, type MapTree, strings, type Tree, toJson, valueSpan } from "./tree.ts";

const VARIABLE_NAME = "expected the name of an environment variable, such as HOSTING_TOKEN";

/** The settings of a provider in a declaration. The editor's schema is made from this as well. */
export const providerSettings = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/, hostname: /./, error: "expected an address such as https://api.example" })
    .optional()
    .describe("Address of the API. Default: the environment variable HOSTING_BASE_URL."),
  token_env: z
    .string(VARIABLE_NAME)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, VARIABLE_NAME)
    .optional()
    .describe("Environment variable that holds the API token. Default for the default provider: HOSTING_TOKEN."),
  token_file: z
    .string("expected a path")
    .min(1, "expected a path")
    .optional()
    .describe("File that holds the API token, relative to this one."),
  requests_per_minute: z
    .int("expected a whole number of requests")
    .min(1, "at least 1")
    .max(60, "the API allows 60 requests a minute")
    .optional()
    .describe("Request budget, at most 60 a minute (the API's limit for a token)."),
  status_words: z
    .record(
      z.string().min(1),
      z.enum(["pending", "live", "suspended", "gone"], 'expected "pending", "live", "suspended" or "gone"'),
    )
    .optional()
    .describe("What status words of this host mean, for words that hostform does not know."),
  idempotency_key_retention: z
    .string("expected a time such as 10m or 24h")
    .regex(/^[1-9]\d{0,5}(?:s|m|h|d)$/, "expected a time such as 10m or 24h")
    .optional()
    .describe(
      "How long this host remembers an Idempotency-Key, such as 24h, when it says so. Until then an order whose answer was lost is sent again; afterwards it is looked for first. Default: 10m.",
    ),
  money_scale: z
    .int("expected a whole number of digits")
    .min(0, "at least 0")
    .max(4, "at most 4")
    .optional()
    .describe(
      "Digits after the decimal point of money amounts. Amounts are shown in the API's own unit when it is left out.",
    ),
});

const SETTINGS: readonly string[] = Object.keys(providerSettings.shape);
const SECRET_KEY = /^(?:.*[_-])?(?:token|bearer|password|secret|api_?key|apikey|authorization|credentials?)$/i;
const WHERE_TOKENS_GO =
  "Put the token in an environment variable and name that (`token_env: BETA_TOKEN`), or in a file of mode 0600 (`token_file`). Revoke the token that stood here if the file was shared.";

/** True for keys under which people write a token. */
export function namesSecret(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** Says that a token may not stand in a declaration, pointing at the key and never showing the value. */
export function reportSecret(entry: Entry, mistakes: Mistakes): void {
  mistakes.add(entry.keySpan, "config.secret", `"${entry.key}" would put an API token into the declaration`, {
    fix: WHERE_TOKENS_GO,
  });
}

/**
 * Reads one entry of `providers`. Settings may take values from the environment (`${env.NAME}`); those are evaluated
 * here, since a provider is needed before anything can be planned. Mistakes in single settings leave those out.
 */
export function readProvider(entry: Entry, env: Environment, mistakes: Mistakes): ProviderConfig | undefined {
  const { key: alias, value: tree } = entry;
  if (!isName(alias)) {
    const fix = "Use letters, digits, `_` and `-`, beginning with a letter.";
    mistakes.add(entry.keySpan, "config.structure", `"${alias}" cannot be the name of a provider`, { fix });
    return undefined;
  }
  const range = rangeOf(entry.keySpan);
  if (tree.form === "leaf" && tree.value === null) return { alias, range };
  if (tree.form !== "map") {
    const fix = `Write \`${alias}: {base_url: https://…, token_env: NAME}\`, or \`${alias}: {}\`.`;
    mistakes.add(valueSpan(entry), "config.structure", `The provider "${alias}" must be a map of settings`, { fix });
    return undefined;
  }
  return { alias, ...readSettings(tree, env, mistakes), range };
}

function readSettings(tree: MapTree, env: Environment, mistakes: Mistakes): Omit<ProviderConfig, "alias"> {
  const settings: Record<string, unknown> = {};
  for (const entry of tree.entries.values()) {
    if (!SETTINGS.includes(entry.key)) reportUnknown(entry, mistakes);
    else if (!hasToken(entry, mistakes)) {
      const value = evaluated(entry.value, env, mistakes);
      const parsed = providerSettings.safeParse({ [entry.key]: value });
      if (value === undefined || parsed.success) Object.assign(settings, value !== undefined && parsed.data);
      else for (const issue of parsed.error.issues) reportValue(entry, issue, tree, mistakes);
    }
  }
  const { base_url, token_env, token_file, requests_per_minute, status_words, money_scale, idempotency_key_retention } =
    settings as z.infer<typeof providerSettings>;
  return {
    ...(base_url !== undefined && { baseUrl: base_url }),
    ...(token_env !== undefined && { tokenEnv: token_env }),
    ...(token_file !== undefined && { tokenFile: besideDeclaration(token_file, tree.span) }),
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(status_words !== undefined && { statusWords: status_words }),
    ...(money_scale !== undefined && { moneyScale: money_scale }),
    ...(idempotency_key_retention !== undefined && { keyLifetimeMs: milliseconds(idempotency_key_retention) }),
  };
}

/** `90s`, `10m`, `24h`, `7d` -> milliseconds. */
function milliseconds(time: string): number {
  const unit = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[time.slice(-1)] ?? 0;
  return Number(time.slice(0, -1)) * unit;
}

/** A path in a declaration is relative to the file that it stands in. */
function besideDeclaration(path: string, { source }: Span): string {
  return isAbsolute(path) ? path : join(dirname(source.path), path);
}

function reportUnknown(entry: Entry, mistakes: Mistakes): void {
  if (namesSecret(entry.key)) {
    reportSecret(entry, mistakes);
    return;
  }
  const near = mistakes.nearest(entry.key, SETTINGS);
  mistakes.add(entry.keySpan, "config.unknown_key", `A provider has no setting "${entry.key}".${didYouMean(near)}`, {
    detail: `The settings are ${SETTINGS.join(", ")}.`,
  });
}

/** A token in the place of its variable's name, or inside the address. */
function hasToken(entry: Entry, mistakes: Mistakes): boolean {
  for (const { text } of strings(entry.value)) {
    const found =
      entry.key === "base_url" ? /^[^/]*\/\/[^/]*@/.test(text) : looksLikeToken(text, entry.key === "token_env");
    if (found) {
      reportSecret(entry, mistakes);
      return true;
    }
  }
  return false;
}

function reportValue(entry: Entry, issue: z.core.$ZodIssue, tree: MapTree, mistakes: Mistakes): void {
  const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
  const at: Span = path.length > 1 ? locate(tree, path) : valueSpan(entry);
  const what = path.join(".");
  mistakes.add(at, "config.invalid_value", `${what}: ${issue.message}`);
}

function evaluated(tree: Tree, env: Environment, mistakes: Mistakes): unknown {
  if (tree.form !== "leaf" || typeof tree.value !== "string") return toJson(tree);
  const references = readTemplate(tree, env, mistakes);
  if (references === undefined) return undefined;
  const [wrong] = references;
  if (wrong === undefined) return evaluate(tree.value, { env, resource: () => undefined });
  const fix = "Only `${env.NAME}` can be used here.";
  mistakes.add(wrong.span, "config.reference", "A provider cannot refer to a resource", { fix });
  return undefined;
}
