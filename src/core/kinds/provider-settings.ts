import * as z from "zod";
import { MOST_REQUESTS_PER_MINUTE } from "../api/limiter.ts";
import { raise } from "../messages/index.ts";
import { milliseconds, type ProviderConfig } from "../model/index.ts";
import type { ReadSettings } from "./kind.ts";

const VARIABLE_NAME = "expected the name of an environment variable, such as HOSTING_TOKEN";
const RETENTION = "expected a time such as 10m or 24h";
const LAG = "expected a time such as 60s, or 0s";

/**
 * Settings of a provider in all front ends: `providers` in YAML, and `provider "hosting"` in Terraform. The editor's schema
 * contains the descriptions.
 */
export const providerSettings = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/, hostname: /./, error: "expected a URL such as https://api.example" })
    .optional()
    .describe("Base URL of the API. Default: the environment variable HOSTING_BASE_URL."),
  token_env: z
    .string(VARIABLE_NAME)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, VARIABLE_NAME)
    .optional()
    .describe("Environment variable with the API token. Default for the default provider: HOSTING_TOKEN."),
  token_file: z
    .string("expected a path")
    .min(1, "expected a path")
    .optional()
    .describe("File with the API token. A relative path starts at the folder of this file."),
  requests_per_minute: z
    .int("expected a whole number of requests")
    .min(1, "at least 1")
    .max(MOST_REQUESTS_PER_MINUTE, `at most ${MOST_REQUESTS_PER_MINUTE}`)
    .optional()
    .describe(
      "Maximum number of requests a minute. Default: 60, the API's limit for a token. Set a lower value if other programs use the token, and a higher value only if the host allows more.",
    ),
  status_words: z
    .record(
      z.string().min(1),
      z.enum(["pending", "live", "suspended", "gone"], 'expected "pending", "live", "suspended" or "gone"'),
    )
    .optional()
    .describe("Meaning of status words that hostform does not know: `pending`, `live`, `suspended` or `gone`."),
  idempotency_key_retention: z
    .string(RETENTION)
    .regex(/^[1-9]\d{0,5}(?:s|m|h|d)$/, RETENTION)
    .optional()
    .describe(
      "Time for which this host remembers an Idempotency-Key, such as 24h, if the host documents it. If the response to an order is lost, hostform repeats the order within this time: immediately in the same run, and in a later run if a complete list shows no object that the order may have created. After that time, a list decides. Default: 5s, and no repetition in a later run.",
    ),
  list_lag: z
    .string(LAG)
    .regex(/^(?:0|[1-9]\d{0,5})(?:s|m|h)$/, LAG)
    .optional()
    .describe(
      "Maximum time until the lists of this host show a new object, such as 60s. Within this time, a created object is treated as existing although no list shows it, and a create request with a lost response is not repeated. Default: 60s.",
    ),
  money_scale: z
    .int("expected a whole number of digits")
    .min(0, "at least 0")
    .max(4, "at most 4")
    .optional()
    .describe("Decimal places of money amounts. Default: amounts are shown in the API's own unit."),
});

export type ProviderSettings = z.infer<typeof providerSettings>;

/** Converts validated settings to the format of the core. */
export function configOf(settings: ProviderSettings): Omit<ProviderConfig, "alias" | "range"> {
  return {
    baseUrl: settings.base_url,
    tokenEnv: settings.token_env,
    tokenFile: settings.token_file,
    requestsPerMinute: settings.requests_per_minute,
    statusWords: settings.status_words,
    moneyScale: settings.money_scale,
    keyLifetimeMs: milliseconds(settings.idempotency_key_retention),
    listLagMs: milliseconds(settings.list_lag),
  };
}

/** Converts a text such as `2` to a number. Undefined if it is not a valid `money_scale`. */
export const parseMoneyScale = (text: string): number | undefined => (/^[0-4]$/.test(text) ? Number(text) : undefined);

/**
 * Returns the `money_scale` of a provider. HOSTING_MONEY_SCALE describes the API of HOSTING_BASE_URL, so it applies only to a
 * provider without its own URL and scale.
 * @throws HostformError `config.invalid_value`.
 */
export function moneyScaleOf(
  { baseUrl, moneyScale }: Pick<ProviderConfig, "baseUrl" | "moneyScale">,
  { HOSTING_MONEY_SCALE: text }: Readonly<Record<string, string | undefined>>,
): number | undefined {
  if (moneyScale !== undefined || baseUrl !== undefined || !text) return moneyScale;
  const scale = parseMoneyScale(text);
  if (scale === undefined) raise("config.invalid_value/scale", {});
  return scale;
}

/** Returns the settings of a provider for kinds. Status words become lower case. */
export function readingSettings({
  statusWords = {},
  keyLifetimeMs,
  listLagMs,
  moneyScale,
}: Pick<ProviderConfig, "statusWords" | "keyLifetimeMs" | "listLagMs" | "moneyScale">): ReadSettings {
  const words = Object.entries(statusWords).map(([word, phase]) => [word.trim().toLowerCase(), phase] as const);
  return {
    statusWords: Object.fromEntries(words),
    keyLifetimeMs,
    listLagMs,
    moneyScale,
  };
}
