/**
 * Reads the material of a rehearsal with GET requests only: the objects of an account. Also defines functions that read single
 * values. Must not: read a list twice that the plan has read.
 */
import { clientAccount } from "../../core/kinds/client-account.ts";
import { grant } from "../../core/kinds/grant.ts";
import { migrationRequest } from "../../core/kinds/migration-request.ts";
import { service } from "../../core/kinds/service/index.ts";
import { webhook } from "../../core/kinds/webhook.ts";
import {
  fail,
  HostformError,
  isForbidden,
  isNoList,
  parseAddress,
  type ResourceState,
  readMoment,
} from "../../core/model/index.ts";
import type { ImportedAccount } from "../../sandbox/index.ts";
import { rightsIn } from "../doctor/access.ts";
import { profileOf } from "../doctor/profile.ts";
import { asker, takeSurvey } from "../doctor/survey.ts";
import type { Provider } from "../providers.ts";

export interface ReadingOptions {
  /** Resources of this account in the state. They replace what no list shows. */
  readonly resources: readonly ResourceState[];
  /** Ids of further services whose grants are needed, besides those with recorded grants. */
  readonly grantsOf?: Iterable<string>;
  /** Declared coupon codes. */
  readonly coupons?: Iterable<string>;
  readonly signal: AbortSignal;
}

/** Returns the objects of an account. A list is null if the token may not read it. */
export async function readMaterial(
  { client, account }: Pick<Provider, "client" | "account">,
  { resources, grantsOf = [], coupons = [], signal }: ReadingOptions,
) {
  const survey = await takeSurvey(asker(client.raw, signal));
  const services = await account.list(service);
  const recorded = resources.map(({ attributes }) => String(attributes.service_id));
  const parents = [...new Set([...recorded, ...grantsOf])].filter((id) => services.has(id));
  return {
    services,
    webhooks: await readable(account.list(webhook)),
    clients: await readable(account.list(clientAccount)),
    migrations: await readable(account.list(migrationRequest)),
    /** By id of the service. */
    grants: await Promise.all(parents.map(async (id) => [id, await readable(account.list(grant, id))] as const)),
    plans: await account.knownPlans(),
    invoices: await readable(account.invoices.all()),
    resources,
    coupons: [...new Set(coupons)],
    rights: rightsIn(survey),
    /** Profile of the sandbox that imitates the host. */
    profile: [profileOf(survey), "registrant=loose"].filter((text) => text !== "").join(","),
    /** Time of the reading, by the host's clock. */
    now: account.answeredAt(),
  };
}

export type Material = Awaited<ReturnType<typeof readMaterial>>;

/** Returns null if the token may not read the list, or the host has none. */
async function readable<T>(list: Promise<T>): Promise<T | null> {
  try {
    return await list;
  } catch (error) {
    if (error instanceof HostformError && (isForbidden(error) || isNoList(error))) return null;
    throw error;
  }
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

/** Amount in the sandbox of an invoice whose amount is unknown. The sandbox pays an invoice of 0 at once. */
export const UNKNOWN_PRICE = 1;

/** Returns an amount in the unit of the sandbox. */
export const scaled = (amount: number | null, unit: number): number => Math.max(0, Math.round((amount ?? 0) * unit));

/** Returns the recorded resources of a type, by id. */
export const recordedOf = (resources: readonly ResourceState[], type: string): ReadonlyMap<string, ResourceState> =>
  new Map(
    resources.flatMap((one) => {
      const { id } = one.attributes;
      return id != null && parseAddress(one.address)?.type === type ? [[String(id), one]] : [];
    }),
  );
