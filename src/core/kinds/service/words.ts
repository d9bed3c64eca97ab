import type { JsonObject, Phase } from "../../model/index.ts";
import { type PhaseWords, phaseOfWord, words } from "../life.ts";

/** Words for a provisioning that has not finished: "not started", "inactive". */
const UNDONE = new Set(["not", "inactive"]);

/** Returns the phase of a service. A live service counts as `pending` until its provisioning ends. */
export function phaseOf(status: string | null, provisioning: string | null, settings: PhaseWords): Phase {
  const phase = phaseOfWord(status, settings);
  const waits =
    phaseOfWord(provisioning, settings) === "pending" || words(provisioning ?? "").some((one) => UNDONE.has(one));
  return phase === "live" && waits ? "pending" : phase;
}

const CYCLES: Readonly<Record<string, number>> = {
  month: 1,
  monthly: 1,
  quarter: 3,
  quarterly: 3,
  semiannual: 6,
  semiannually: 6,
  biannually: 6,
  halfyearly: 6,
  halfyear: 6,
  annual: 12,
  annually: 12,
  yearly: 12,
  year: 12,
  biennial: 24,
  biennially: 24,
  triennial: 36,
  triennially: 36,
};

/** Returns a billing cycle ("monthly", "3 months", "1 year", "12") in months. Undefined for an unknown word. */
export function monthsOf(cycle: string | null): number | undefined {
  if (cycle === null) return undefined;
  const text = cycle.trim().toLowerCase();
  const counted = /^(\d{1,2})\s*[_-]?\s*(m|mo|month|months|y|yr|year|years)?$/.exec(text);
  if (counted !== null) return Number(counted[1]) * (counted[2]?.startsWith("y") ? 12 : 1);
  const word = text.replace(/[^a-z]/g, "");
  return Object.hasOwn(CYCLES, word) ? CYCLES[word] : undefined;
}

/** Returns who chooses the password of a product (§4): the user (`given`), the server (`generated`), or unknown. */
export function passwordForm(productType: string | null): "given" | "generated" | "unknown" {
  const type = (productType ?? "").toLowerCase().replace(/[^a-z]/g, "");
  if (type.includes("vps") || type.includes("virtualdesktop")) return "generated";
  if (type.includes("wordpress") || type.includes("shared")) return "given";
  return "unknown";
}

/** Returns true if the product is known to be website hosting (§2: "hosting kinds mentioned: shared, WordPress"). */
export const isHosting = (productType: string | null): boolean => passwordForm(productType) === "given";

/** Returns true if a password change affects no generated password. */
export function keepsNoPassword(before: JsonObject | undefined): boolean {
  if (typeof before?.product_type !== "string" || passwordForm(before.product_type) !== "given") return false;
  return (before.generated_password ?? null) === null;
}
