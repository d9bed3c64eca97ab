/** Material of a rehearsal: the objects of an account as they were read, and functions that read single values. */
import type { InvoiceRecord, PlanRecord } from "../../core/api/index.ts";
import type { ReadSettings, Remote } from "../../core/kinds/kind.ts";
import { type AccountReport, fail, parseAddress, type ResourceState, readMoment } from "../../core/model/index.ts";
import type { ImportedAccount } from "../../sandbox/index.ts";

/** Objects of the account. Null if the token may not read them. */
export interface Listed {
  readonly services: ReadonlyMap<string, Remote>;
  readonly webhooks: ReadonlyMap<string, Remote> | null;
  readonly clients: ReadonlyMap<string, Remote> | null;
  readonly migrations: ReadonlyMap<string, Remote> | null;
  /** By id of the service. */
  readonly grants: ReadonlyMap<string, ReadonlyMap<string, Remote> | null>;
}

export interface Material {
  readonly listed: Listed;
  readonly plans: readonly PlanRecord[];
  /** Null if the token may not read them. */
  readonly invoices: readonly InvoiceRecord[] | null;
  readonly recorded: Recorded;
  readonly coupons: readonly string[];
  readonly rights: Pick<AccountReport, "abilities" | "restricted">;
  readonly settings: ReadSettings;
  /** Time of the reading, by the host's clock. */
  readonly now: number;
}

export type ImportedInvoice = ImportedAccount["invoices"][number];

/** Collects ids for a sentence about what the API does not show. `{}` is the place of the ids. */
export type Doubt = (sentence: string, id: string) => void;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

export const instantOf = (value: unknown): string | null => {
  const moment = readMoment(value);
  return "at" in moment ? new Date(moment.at).toISOString() : null;
};

/** Returns a calendar date, or an empty text. */
export const dayOf = (value: unknown): string => instantOf(value)?.slice(0, 10) ?? "";

/** @throws HostformError for an id that is not a whole number, which the specification requires of services and invoices (§2) */
export function numberOf(noun: string, id: unknown): number {
  if (/^[1-9]\d{0,14}$/.test(String(id))) return Number(id);
  fail("api.malformed", `The account cannot be rehearsed: a ${noun} has an id that is not a number`, {
    detail: `The id is ${JSON.stringify(id)?.slice(0, 60)}.`,
  });
}

/** Returns an amount in the unit of the sandbox. */
export const scaled = (amount: number | null, unit: number): number => Math.max(0, Math.round((amount ?? 0) * unit));

export const hasDiscount = (row: PlanRecord): boolean =>
  row.manage_discount_percent !== null || row.price_after_discount !== null;

/** Recorded resources by type and id. */
type Recorded = ReadonlyMap<string, ReadonlyMap<string, ResourceState>>;

export function recordedBy(resources: readonly ResourceState[]): Recorded {
  const byType = Map.groupBy(resources, ({ address }) => parseAddress(address)?.type ?? "");
  const byId = (of: readonly ResourceState[]) => new Map(of.map((one) => [String(one.attributes.id), one] as const));
  return new Map([...byType].map(([type, of]) => [type, byId(of.filter(({ attributes: { id } }) => id != null))]));
}

/** Adds calendar months. A day that the month lacks becomes its last day. */
export function monthsAfter(ms: number, months: number): number {
  const date = new Date(ms);
  date.setUTCMonth(date.getUTCMonth() + months);
  // 31 January + 1 month would be in March.
  if (date.getUTCDate() < new Date(ms).getUTCDate()) date.setUTCDate(0);
  return date.getTime();
}
