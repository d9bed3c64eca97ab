/** Material of a rehearsal: the objects of an account as they were read, and functions that read single values. */
import type { InvoiceRecord, PlanRecord } from "../../core/api/index.ts";
import type { Remote } from "../../core/kinds/kind.ts";
import { type AccountReport, fail, parseAddress, type ResourceState, readMoment } from "../../core/model/index.ts";
import type { ImportedAccount } from "../../sandbox/index.ts";

type List = ReadonlyMap<string, Remote>;

/** Objects of the account. A list is null if the token may not read it. */
export interface Material {
  readonly services: List;
  readonly webhooks: List | null;
  readonly clients: List | null;
  readonly migrations: List | null;
  /** By id of the service. */
  readonly grants: ReadonlyMap<string, List | null>;
  readonly plans: readonly PlanRecord[];
  readonly invoices: readonly InvoiceRecord[] | null;
  /** Resources of the account in the state. */
  readonly resources: readonly ResourceState[];
  /** Declared coupon codes. */
  readonly coupons: readonly string[];
  readonly rights: Pick<AccountReport, "abilities" | "restricted">;
  /** Time of the reading, by the host's clock. */
  readonly now: number;
}

export interface Conversion extends Material {
  /** Amount of the sandbox for 1 in the host's unit. */
  readonly unit: number;
  /** Collects ids for a sentence about what the API does not show. `{}` is the place of the ids. */
  doubt(sentence: string, id: string): void;
}

export type ImportedInvoice = ImportedAccount["invoices"][number];

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

/** Returns the recorded resources of a type, by id. */
export const recordedOf = (resources: readonly ResourceState[], type: string): ReadonlyMap<string, ResourceState> =>
  new Map(
    resources.flatMap((one) => {
      const { id } = one.attributes;
      return id != null && parseAddress(one.address)?.type === type ? [[String(id), one]] : [];
    }),
  );
