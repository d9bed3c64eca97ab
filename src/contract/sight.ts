/** What was asked and what came: the material that rows and checks are made from. */
import type { Probed, ProbeEndpoint } from "../core/api/probe.ts";
import { type ApiError, isObject, type JsonObject } from "../core/model/index.ts";

/** One request and its answer. */
export interface Sight {
  readonly endpoint: ProbeEndpoint;
  /** `GET /api/v1/services/{id}`: the id itself is not repeated. */
  readonly title: string;
  /** Undefined: none came, or none but failures. */
  readonly answer: Probed | undefined;
  /** What hostform would tell of it: a failure, a refusal, an answer that it cannot read. */
  readonly problem: ApiError | undefined;
}

/** A page of a listing, read as the client reads it. */
export interface ListSight extends Sight {
  /** The items as they came; empty where they could not be found. */
  readonly items: readonly unknown[];
  /** Those of them that the client recognises, as they came. */
  readonly records: readonly JsonObject[];
  /** Their ids as the client reads them. */
  readonly ids: readonly string[];
  readonly next: "more" | "end" | "silent" | undefined;
  /** The page size in force, where the server tells it. */
  readonly size: number | undefined;
}

/** A single record, read as the client reads it. */
export interface RecordSight extends Sight {
  readonly record: JsonObject | undefined;
  readonly id: string | undefined;
  /** The id that was asked for. */
  readonly asked: string;
}

/** The collections of §4. */
export const COLLECTIONS = ["plans", "services", "invoices", "webhooks", "accounts", "migration_requests"] as const;
export type Collection = (typeof COLLECTIONS)[number];

/** What came of looking at page sizes, in the collection that has the most to show. */
export interface PagingSight {
  readonly collection: Collection;
  /** The number of the first page. */
  readonly first: 0 | 1;
  /** `per_page=1`, its first page and its second. */
  readonly single: ListSight;
  readonly second: ListSight;
  /** `per_page=100`, and 101, which is more than there may be. */
  readonly largest: ListSight;
  readonly over: ListSight;
  /** A page far beyond the last. */
  readonly beyond: ListSight;
}

/** Everything that was seen by reading. What is undefined was not asked for: there was nothing to ask about. */
export interface Survey {
  readonly lists: Readonly<Record<Collection, ListSight>>;
  readonly paging: PagingSight | undefined;
  /** The grants of the services that were tried, the last one first. */
  readonly grants: readonly ListSight[];
  readonly service: RecordSight | undefined;
  readonly invoice: RecordSight | undefined;
  readonly migration: RecordSight | undefined;
  /** A service by an id that nobody has. */
  readonly missing: Sight;
  /** Availability: of two names at once, of one, and of none. */
  readonly domains: { readonly many: Sight; readonly single: Sight; readonly none: Sight };
  /** The list of services without a token, and with one that is nobody's. */
  readonly strangers: { readonly none: Sight; readonly unknown: Sight };
  /** A refusal by the rate limit, if one was met in passing. */
  readonly limited: Sight | undefined;
}

/** What the harmless writes showed. */
export interface Written {
  /** The registration of a webhook with a body that is not valid, and of one that is; undefined when not sent. */
  readonly invalid: Sight | undefined;
  /** Why no webhook was registered; undefined when it was tried. */
  readonly skipped?: string;
  readonly registered: Sight | undefined;
  /** The answer held the id, and the signing secret under this name. */
  readonly id: string | undefined;
  readonly secretName: string | undefined;
  readonly removed: Sight | undefined;
  /** Whether it was gone from the list afterwards; undefined when the list could not be read. */
  readonly gone: boolean | undefined;
  readonly domains: Sight;
}

/** All answers of a survey. */
export function sights({ lists, paging, grants, service, invoice, migration, ...more }: Survey): readonly Sight[] {
  const pages = paging === undefined ? [] : [paging.single, paging.second, paging.largest, paging.over, paging.beyond];
  const records = [service, invoice, migration].filter((sight) => sight !== undefined);
  return [
    ...Object.values(lists),
    ...grants,
    ...records,
    ...pages,
    more.missing,
    ...Object.values(more.domains),
    ...Object.values(more.strangers),
  ];
}

/** The listings, the grants' included, that showed anything. */
export function listings({ lists, grants, paging }: Survey): readonly ListSight[] {
  const pages = paging === undefined ? [] : [paging.largest, paging.single, paging.second];
  return [...Object.values(lists), ...grants, ...pages];
}

export function isSuccess({ answer }: Sight): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status <= 299;
}

/** The records of one collection that were seen, whichever request brought them. */
export function recordsOf(survey: Survey, collection: Collection): readonly { title: string; record: JsonObject }[] {
  const one = { services: survey.service, invoices: survey.invoice, migration_requests: survey.migration };
  const single = collection in one ? one[collection as keyof typeof one] : undefined;
  const list = survey.lists[collection];
  const paging = survey.paging?.collection === collection ? [survey.paging.largest] : [];
  return [
    ...[list, ...paging].flatMap(({ title, records }) => records.map((record) => ({ title, record }))),
    ...(single?.record === undefined ? [] : [{ title: single.title, record: single.record }]),
  ];
}

/** The values of one field of the records that have it. Nested fields are dotted. */
export function valuesOf(
  records: readonly { title: string; record: JsonObject }[],
  field: string,
): readonly { title: string; value: unknown }[] {
  return records.flatMap(({ title, record }) => {
    const value = field
      .split(".")
      .reduce((found: unknown, part) => (isObject(found) ? found[part] : undefined), record as unknown);
    return value === undefined ? [] : [{ title, value }];
  });
}
