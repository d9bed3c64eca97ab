/** The reading half: which GETs are sent, in which order, and what is left out when there is nothing to ask about. */
import {
  accountForm,
  type Form,
  grantForm,
  invoiceForm,
  migrationRequestForm,
  planForm,
  serviceForm,
  webhookForm,
} from "../core/api/forms.ts";
import type { ProbeEndpoint } from "../core/api/probe.ts";
import type { JsonObject } from "../core/model/index.ts";
import type { Asker } from "./ask.ts";
import type { Collection, ListSight, PagingSight, Survey } from "./sight.ts";

type AnyForm = Form<{ readonly id: string; readonly raw: JsonObject }>;

/** How each collection is listed and recognised. */
const LISTS = {
  plans: { endpoint: "listPlans", form: planForm as unknown as AnyForm },
  services: { endpoint: "listServices", form: serviceForm as unknown as AnyForm },
  invoices: { endpoint: "listInvoices", form: invoiceForm as unknown as AnyForm },
  webhooks: { endpoint: "listWebhooks", form: webhookForm as unknown as AnyForm },
  accounts: { endpoint: "listAccounts", form: accountForm as unknown as AnyForm },
  migration_requests: { endpoint: "listMigrationRequests", form: migrationRequestForm as unknown as AnyForm },
} as const satisfies Record<Collection, { endpoint: ProbeEndpoint; form: AnyForm }>;

/** Services whose grants are looked at, until one has any. */
const GRANTS_TRIED = 3;
/** Far beyond the last page of anything. */
const BEYOND = 100_000;
/** An id that no service has; if one has it, another is taken. */
const NOBODY = "999999999";
/** Names that are reserved for examples and for nothing (RFC 2606): nobody's business is asked about. */
const NAMES = ["example.com", "hostform-contract-check.example"];

/** GETs that are sent at most. Repetitions after failures come on top. */
export const MOST_READS = 24;

/**
 * Reads what there is to see, with GETs alone. `onFirst` looks at the first listing: it throws where nothing more is worth asking.
 * @throws the signal's reason when it is interrupted.
 */
export async function takeSurvey(asker: Asker, onFirst: (plans: ListSight) => void): Promise<Omit<Survey, "limited">> {
  const list = (name: Collection, query: readonly (readonly [string, string])[] = [], start: 0 | 1 = 1) =>
    asker.list({ endpoint: LISTS[name].endpoint, query }, LISTS[name].form, start);
  const plans = await list("plans");
  onFirst(plans);
  const services = await list("services");
  const lists = {
    plans,
    services,
    invoices: await list("invoices"),
    webhooks: await list("webhooks"),
    accounts: await list("accounts"),
    migration_requests: await list("migration_requests"),
  };
  return {
    lists,
    paging: await paging(lists, list),
    grants: await grants(asker, services),
    service: await first(asker, "getService", services, LISTS.services.form),
    invoice: await first(asker, "getInvoice", lists.invoices, LISTS.invoices.form),
    migration: await first(asker, "getMigrationRequest", lists.migration_requests, LISTS.migration_requests.form),
    missing: await asker.one({ endpoint: "getService", params: { id: unusedId(services) } }),
    domains: {
      many: await asker.one({ endpoint: "checkDomains", query: NAMES.map((name) => ["domains[]", name] as const) }),
      single: await asker.one({ endpoint: "checkDomains", query: [["domain", NAMES[0] ?? ""]] }),
      none: await asker.one({ endpoint: "checkDomains" }),
    },
    strangers: {
      none: await asker.one({ endpoint: "listServices", as: "none" }),
      unknown: await asker.one({ endpoint: "listServices", as: "unknown" }),
    },
  };
}

/** Looks at page sizes where there is most to see. */
async function paging(
  lists: Readonly<Record<Collection, ListSight>>,
  list: (name: Collection, query: readonly (readonly [string, string])[], start: 0 | 1) => Promise<ListSight>,
): Promise<PagingSight | undefined> {
  const candidates = ["services", "invoices", "plans"] as const;
  const collection = candidates.toSorted((a, b) => lists[b].items.length - lists[a].items.length)[0];
  if (collection === undefined || lists[collection].items.length === 0) return undefined;
  const page = (number: number, size: number, start: 0 | 1 = 1) =>
    list(
      collection,
      [
        ["page", String(number)],
        ["per_page", String(size)],
      ],
      start,
    );
  const [newest] = lists[collection].ids;
  const one = await page(1, 1);
  // Page 1 is not the page that comes unasked: the first page may be page 0.
  const zero = newest === undefined || one.ids[0] === newest ? undefined : await page(0, 1, 0);
  const first = zero !== undefined && zero.ids[0] === newest ? 0 : 1;
  return {
    collection,
    first,
    single: first === 0 && zero !== undefined ? zero : one,
    second: first === 0 ? one : await page(2, 1),
    largest: await page(first, 100, first),
    over: await page(first, 101, first),
    beyond: await page(BEYOND, 100, first),
  };
}

async function grants(asker: Asker, services: ListSight): Promise<readonly ListSight[]> {
  const found: ListSight[] = [];
  for (const id of services.ids.slice(0, GRANTS_TRIED)) {
    const sight = await asker.list({ endpoint: "listGrants", params: { id } }, grantForm as unknown as AnyForm);
    found.unshift(sight);
    if (sight.items.length > 0 || sight.problem !== undefined) break;
  }
  return found;
}

/** The first record of a listing, by itself. */
async function first(asker: Asker, endpoint: ProbeEndpoint, { ids }: ListSight, form: AnyForm) {
  const [id] = ids;
  return id === undefined ? undefined : asker.record({ endpoint, params: { id } }, form);
}

function unusedId({ ids }: ListSight): string {
  const taken = new Set(ids);
  let id = Number(NOBODY);
  while (taken.has(String(id))) id -= 1;
  return String(id);
}
