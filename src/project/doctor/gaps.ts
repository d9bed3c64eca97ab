/** Finds words and formats in the API's responses that hostform cannot interpret. The specification does not define them. */
import { type DomainAvailability, readAvailability } from "../../core/api/domain-check.ts";
import { phaseOfWord } from "../../core/kinds/life.ts";
import { readingSettings } from "../../core/kinds/provider-settings.ts";
import { monthsOf, passwordForm } from "../../core/kinds/service/words.ts";
import { isPaid, type ProviderConfig, readMoment, some, type UnreadableGap } from "../../core/model/index.ts";
import { recordsOf, type Survey } from "./survey.ts";

type Fields = Readonly<Record<string, unknown>>;
const text = (value: unknown) => (typeof value === "string" ? value : null);

/** A field of a list, and the effect if hostform cannot interpret its value. */
interface Reading extends Pick<UnreadableGap, "gap" | "effect" | "setting"> {
  readonly of: Parameters<typeof recordsOf>[1];
  readonly field: string;
  isUnreadable(record: Fields, config: ProviderConfig): boolean;
}

const isNoTime = (field: string) => (record: Fields) => readMoment(record[field]).form === "unknown";

const READINGS: readonly Reading[] = [
  {
    gap: "status of services",
    of: "listServices",
    field: "status",
    isUnreadable: ({ status }, config) => phaseOfWord(text(status), readingSettings(config)) === "unknown",
    effect: "hostform changes nothing on these services.",
    setting: "status_words",
  },
  {
    gap: "billing cycle of services",
    of: "listServices",
    field: "billing_cycle",
    isUnreadable: ({ billing_cycle: cycle }) => monthsOf(text(cycle)) === undefined,
    effect: "hostform does not detect a changed term.",
  },
  {
    gap: "product type of plans",
    of: "listPlans",
    field: "product_type",
    isUnreadable: ({ product_type: product }) => passwordForm(text(product)) === "unknown",
    effect: "A password cannot be declared for these products.",
  },
  {
    gap: "number of plans",
    of: "listPlans",
    field: "id",
    isUnreadable: ({ plan_id: number }) => number === null,
    effect: "These plans cannot be ordered.",
  },
  {
    gap: "price of plans",
    of: "listPlans",
    field: "name",
    isUnreadable: ({ price, prices }) => price === null && Object.keys(prices as Fields).length === 0,
    effect: "A spending limit rejects orders of these plans.",
  },
  {
    gap: "status of invoices",
    of: "listInvoices",
    field: "status",
    isUnreadable: (invoice) => isPaid({ paid_at: text(invoice.paid_at), status: text(invoice.status) }) === undefined,
    effect: "hostform does not detect that these invoices are unpaid.",
  },
  {
    gap: "creation time of services",
    of: "listServices",
    field: "created_at",
    isUnreadable: isNoTime("created_at"),
    effect: "After a lost response, a person must identify the new service.",
  },
  {
    gap: "expiry of grants",
    of: "listGrants",
    field: "expires_at",
    isUnreadable: isNoTime("expires_at"),
    effect: "hostform does not compare the expiry.",
  },
  {
    gap: "e-mail address of grants",
    of: "listGrants",
    field: "id",
    isUnreadable: ({ email }) => email === null,
    effect: "hostform cannot recognize these grants.",
  },
  {
    gap: "events of webhooks",
    of: "listWebhooks",
    field: "id",
    isUnreadable: ({ events }) => (events as readonly string[]).length === 0,
    effect: "hostform cannot recognize these webhooks.",
  },
  {
    gap: "domain of migration requests",
    of: "listMigrationRequests",
    field: "id",
    isUnreadable: ({ domain }) => domain === null,
    effect: "hostform cannot recognize these requests.",
  },
];

/** Maximum number of example values for one gap. */
const MOST_SHOWN = 4;

export function gapsIn(survey: Survey, config: ProviderConfig): UnreadableGap[] {
  const { sights, missing } = survey;
  const gaps: UnreadableGap[] = READINGS.flatMap(({ of, field, isUnreadable, gap, effect, setting }) => {
    const records = recordsOf(sights, of).map((record): Fields => ({ ...record }));
    const values = new Set(records.filter((one) => isUnreadable(one, config)).map((one) => JSON.stringify(one[field])));
    if (values.size === 0) return [];
    return { gap, seen: some([...values], MOST_SHOWN), effect, ...(setting !== undefined && { setting }) };
  });
  const priced = [...recordsOf(sights, "listPlans"), ...recordsOf(sights, "listServices")];
  const amount = priced.map((one) => ("price" in one ? one.price : null)).find((price) => price !== null);
  if (config.moneyScale === undefined && amount !== undefined) {
    const effect = "Amounts are in the API's own unit, perhaps cents, in plans and limits.";
    gaps.push({ gap: "unit of money", seen: String(amount), effect, setting: "money_scale" });
  }
  if (missing !== undefined && missing.problem?.diagnostics[0]?.code !== "api.not_found") {
    const effect = "A service counts as ended only if no list shows it.";
    gaps.push({
      gap: "response for a missing service",
      seen: missing.problem?.diagnostics[0]?.summary ?? `status ${missing.status}`,
      effect,
    });
  }
  const check = sights.findLast(({ endpoint, problem }) => endpoint === "checkDomains" && problem === undefined);
  const found: readonly DomainAvailability[] = check === undefined ? [] : readAvailability(check.json, ["example.com"]);
  if (found.some(({ available }) => available === null))
    gaps.push({ gap: "availability of domains", seen: "another form", effect: "hostform shows it as unknown." });
  return gaps;
}

/** Returns the undeclared settings that no GET request can determine. */
export const undetermined = ({ keyLifetimeMs, listLagMs }: ProviderConfig): string[] => [
  ...(keyLifetimeMs === undefined ? ["idempotency_key_retention"] : []),
  ...(listLagMs === undefined ? ["list_lag"] : []),
];
