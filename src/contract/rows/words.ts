/** Rows about words and spelling: statuses, billing cycles, kinds of products, instants. */
import { recordsOf, type Survey, valuesOf } from "../sight.ts";
import type { ValueOf } from "../switches.ts";
import { agreed, fieldOf, type Looks, type Seen, toldBy } from "./seen.ts";

/** The words of the sandbox's default. */
const STATUSES = new Set(["pending", "active", "suspended", "terminated", "cancelled", "fraud", "draft"]);

export function statusCandidates(value: unknown): readonly ValueOf<"status">[] {
  if (Number.isSafeInteger(value)) return ["numbers"];
  if (typeof value !== "string" || value.trim() === "") return [];
  if (/^\d+$/.test(value)) return ["digits"];
  if (STATUSES.has(value)) return ["lower"];
  if (/^\p{Lu}[\p{Lu}\d_]*$/u.test(value)) return ["upper_snake"];
  const small = value.charAt(0).toLowerCase() + value.slice(1);
  return small !== value && STATUSES.has(small) ? ["capitalised"] : ["words"];
}

function status(survey: Survey): Seen<"status"> {
  const requests = fieldOf(survey, "migration_requests", "status");
  const instead = recordsOf(survey, "services").length === 0 && requests.length > 0;
  return toldBy(survey, [instead ? "migration_requests" : "services"], "status", statusCandidates);
}

const PROVISIONING: Readonly<Record<string, ValueOf<"provisioning">>> = {
  pending: "words",
  provisioning: "words",
  provisioned: "words",
  failed: "words",
  queued: "queued",
  in_progress: "queued",
  done: "queued",
  error: "queued",
  active: "active",
  inactive: "active",
  "": "empty",
};

export function provisioningCandidates(value: unknown): readonly ValueOf<"provisioning">[] {
  if (value === null) return ["null"];
  const word = typeof value === "string" ? value.toLowerCase() : "no word";
  const found = Object.hasOwn(PROVISIONING, word) ? PROVISIONING[word] : undefined;
  return found === undefined ? [] : [found];
}

const INVOICES: Readonly<Record<string, ValueOf<"invoice_status">>> = {
  unpaid: "lower",
  paid: "lower",
  cancelled: "lower",
  refunded: "lower",
  Open: "open",
  Paid: "open",
  Void: "open",
  Credited: "open",
  DUE: "upper",
  SETTLED: "upper",
  CANCELLED: "upper",
  REFUNDED: "upper",
};

function invoiceCandidates(value: unknown): readonly ValueOf<"invoice_status">[] {
  const found = typeof value === "string" && Object.hasOwn(INVOICES, value) ? INVOICES[value] : undefined;
  return found === undefined ? [] : [found];
}

export function cycleCandidates(value: unknown): readonly ValueOf<"billing_cycle">[] {
  if (Number.isInteger(value)) return ["integer"];
  if (typeof value !== "string") return [];
  const text = value.toLowerCase();
  if (/^\d+ months?$/.test(text)) return ["months"];
  if (/^(?:month|quarter|half-year|year|\d+ years?)$/.test(text)) return ["unit"];
  return /^(?:bi|tri|semi|half-?)?(?:month|quarter|annual|year|enni?al)+(?:ly)?$|^(?:bi|tri)ennially$/.test(text)
    ? ["word"]
    : [];
}

const SLUGS = new Set(["shared", "wordpress", "vps", "virtual_desktop"]);
const TITLES = new Set(["Shared", "WordPress", "Root VPS", "Virtual Desktop"]);

export function productCandidates(value: unknown): readonly ValueOf<"product_type">[] {
  if (typeof value !== "string") return [];
  if (SLUGS.has(value)) return ["slug"];
  if (TITLES.has(value)) return ["title"];
  return /^[a-z]+(?:-[a-z]+)+$/.test(value) ? ["other"] : [];
}

export function momentCandidates(value: unknown): readonly ValueOf<"timestamps">[] {
  if (typeof value !== "string") return [];
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return ["date"];
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/.test(value)) return ["micros_z"];
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}[+-]\d{2}:\d{2}$/.test(value) ? ["offset"] : [];
}

function timestamps(survey: Survey): Seen<"timestamps"> {
  const moments = [
    ...fieldOf(survey, "services", "created_at"),
    ...fieldOf(survey, "invoices", "paid_at"),
    ...(["webhooks", "accounts", "migration_requests"] as const).flatMap((name) => fieldOf(survey, name, "created_at")),
  ].filter(({ value }) => value !== null);
  const seen = agreed<"timestamps">(moments, momentCandidates, "a timestamp");
  return seen ?? { nothing: "There is nothing with a timestamp in the account." };
}

function expiryCandidates(value: unknown): readonly ValueOf<"expires_at">[] {
  if (typeof value === "number") return ["epoch"];
  if (typeof value !== "string") return [];
  return [/^\d+$/.test(value) ? "epoch_text" : "instant"];
}

function expires_at({ grants }: Survey): Seen<"expires_at"> {
  const records = grants.flatMap(({ title, records: found }) => found.map((record) => ({ title, record })));
  const moments = valuesOf(records, "expires_at").filter(({ value }) => value !== null);
  const seen = agreed<"expires_at">(moments, expiryCandidates, "expires_at");
  return seen ?? { nothing: "No grant that was seen expires." };
}

export const wordRows: Looks<
  "status" | "provisioning" | "invoice_status" | "billing_cycle" | "product_type" | "timestamps" | "expires_at"
> = {
  status,
  provisioning: (survey) => toldBy(survey, ["services"], "provisioning_status", provisioningCandidates),
  invoice_status: (survey) => toldBy(survey, ["invoices"], "status", invoiceCandidates),
  billing_cycle: (survey) => toldBy(survey, ["services", "plans"], "billing_cycle", cycleCandidates),
  product_type: (survey) => toldBy(survey, ["services", "plans"], "product_type", productCandidates),
  timestamps,
  expires_at,
};
