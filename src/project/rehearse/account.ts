/**
 * Reads one account for a rehearsal, with GET requests only. In: a provider, and the recorded resources of its account. Out: the
 * account for the sandbox, the format of the host's responses, and sentences about what the API does not show.
 *
 * Must not: read a list twice that the plan has read.
 */
import { clientAccount } from "../../core/kinds/client-account.ts";
import { grant } from "../../core/kinds/grant.ts";
import { migrationRequest } from "../../core/kinds/migration-request.ts";
import { service } from "../../core/kinds/service/index.ts";
import { webhook } from "../../core/kinds/webhook.ts";
import { HostformError, isForbidden, isNoList, type ResourceState } from "../../core/model/index.ts";
import { rightsIn } from "../doctor/access.ts";
import { profileOf } from "../doctor/profile.ts";
import { asker, takeSurvey } from "../doctor/survey.ts";
import type { Provider } from "../providers.ts";
import { type ImportedReading, importedAccount } from "./imported.ts";
import { type Listed, recordedBy } from "./material.ts";

export interface ReadingOptions {
  /** Resources of this account in the state. They replace what no list shows. */
  readonly resources: readonly ResourceState[];
  /** Ids of further services whose grants are needed, besides those with recorded grants. */
  readonly grantsOf?: Iterable<string>;
  /** Declared coupon codes. */
  readonly coupons?: Iterable<string>;
  readonly signal: AbortSignal;
}

export interface AccountReading extends ImportedReading {
  /** Profile of the sandbox that imitates the host. */
  readonly profile: string;
}

/** @throws HostformError if the services, plans or invoices cannot be read, or an id does not fit into the sandbox. */
export async function readAccount(
  { client, account }: Pick<Provider, "client" | "account">,
  { resources, grantsOf = [], coupons = [], signal }: ReadingOptions,
): Promise<AccountReading> {
  const survey = await takeSurvey(asker(client.raw, signal));
  const rights = rightsIn(survey);
  const services = await account.list(service);
  const recorded = resources.flatMap(({ attributes: { service_id } }) =>
    service_id == null ? [] : [String(service_id)],
  );
  const parents = [...new Set([...recorded, ...grantsOf])].filter((id) => services.has(id));
  const listed: Listed = {
    services,
    webhooks: await readable(account.list(webhook)),
    clients: await readable(account.list(clientAccount)),
    migrations: await readable(account.list(migrationRequest)),
    grants: new Map(
      await Promise.all(parents.map(async (id) => [id, await readable(account.list(grant, id))] as const)),
    ),
  };
  const imported = importedAccount({
    listed,
    plans: await account.knownPlans(),
    invoices: await readable(account.invoices.all()),
    recorded: recordedBy(resources),
    coupons: [...new Set(coupons)],
    rights,
    settings: account.settings,
    now: account.answeredAt(),
  });
  const profile = [profileOf(survey), "registrant=loose"].filter((text) => text !== "").join(",");
  return { ...imported, profile };
}

/** Returns null if the token may not read the list, or the host has none. */
async function readable<T>(list: Promise<T>): Promise<T | null> {
  try {
    return await list;
  } catch (error) {
    if (error instanceof HostformError && (isForbidden(error) || isNoList(error))) return null;
    throw error;
  }
}
