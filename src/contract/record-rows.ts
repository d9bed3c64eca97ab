/** How a server fills the gaps in its records: their ids, fields and wrappers, their words and spelling. */
import { isObject } from "../core/model/index.ts";
import { agreed, agreedIn, type Detectors, excerpt, fieldOf, nothingIn, type Seen, type ValueOf } from "./evidence.ts";
import { isSuccess, recordsIn, recordsOf, type Survey, valuesOf, type Written } from "./survey.ts";

const DIGITS = /^\d{1,18}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function idCandidates(value: unknown): readonly ValueOf<"ids">[] {
  if (Number.isSafeInteger(value)) return ["integer"];
  return typeof value === "string" && DIGITS.test(value) ? ["string"] : [];
}

/** §2 has integers for services and invoices; those of plans stand in where there are none. */
function ids(survey: Survey): Seen<"ids"> {
  const own = [...fieldOf(survey, "services", "id"), ...fieldOf(survey, "invoices", "id")];
  const plans = () => [...fieldOf(survey, "plans", "plan_id"), ...fieldOf(survey, "plans", "id")];
  return agreed<"ids">(own.length > 0 ? own : plans(), idCandidates, "an id") ?? nothingIn(survey, "services");
}

function recordIdCandidates(value: unknown): readonly ValueOf<"record_ids">[] {
  if (idCandidates(value).length > 0) return ["plain"];
  if (typeof value !== "string" || value === "") return [];
  return UUID.test(value) ? ["uuid"] : ["opaque"];
}

function record_ids(survey: Survey, written: Written | undefined): Seen<"record_ids"> {
  const found = [
    ...(["webhooks", "accounts", "migration_requests"] as const).flatMap((name) => fieldOf(survey, name, "id")),
    ...recordsIn(survey.grants).flatMap(({ title, record }) => {
      const value = record.id ?? record.grant_id;
      return value === undefined ? [] : [{ title, value }];
    }),
    ...(written?.id === undefined ? [] : [{ title: written.registered?.title ?? "", value: written.id }]),
  ];
  const seen = agreed<"record_ids">(found, recordIdCandidates, "an id");
  return seen ?? { nothing: "There are no webhooks, grants, client accounts or migration requests in the account." };
}

function plan(survey: Survey): Seen<"plan"> {
  const [first] = recordsOf(survey, "plans");
  if (first === undefined) return nothingIn(survey, "plans");
  const { record, title } = first;
  const evidence = `${title}: ${excerpt(record)}`;
  const named = record.plan_id !== undefined;
  const priced = record.price !== undefined && record.price !== null;
  const listed = isObject(record.prices);
  if (named) return { value: priced ? "plan_id" : listed ? "prices" : "priceless", evidence };
  return priced ? { value: "id", evidence } : { other: evidence };
}

function unwrapped({ service, invoice, migration }: Survey): Seen<"unwrapped"> {
  const found = [service, invoice, migration].find((sight) => sight !== undefined && isSuccess(sight));
  if (found === undefined) return { nothing: "There is no service, invoice or migration request to look at." };
  const json = found.answer?.json;
  const evidence = `${found.title}: ${excerpt(json)}`;
  if (isObject(json) && isObject(json.data)) return { value: "no", evidence };
  return isObject(json) && json.id !== undefined ? { value: "yes", evidence } : { other: evidence };
}

function grant(survey: Survey): Seen<"grant"> {
  const [first] = recordsIn(survey.grants);
  if (first === undefined) {
    const forbidden = survey.grants.some(({ answer }) => answer?.status === 403);
    return {
      nothing: forbidden ? "The token may not read grants (403)." : "None of the services tried has a grant.",
    };
  }
  const { record, title } = first;
  const evidence = `${title}: ${excerpt(record)}`;
  const nested = record.email === undefined && isObject(record.user);
  if (record.id === undefined)
    return record.grant_id !== undefined && !nested ? { value: "grant_id", evidence } : { other: evidence };
  return { value: nested ? "user" : "id", evidence };
}

function webhook({ service, invoice, migration }: Survey, written: Written | undefined): Seen<"webhook"> {
  const sight = written?.registered;
  if (written === undefined || sight?.answer === undefined || !isSuccess(sight)) {
    return { nothing: "No webhook was registered." };
  }
  const { json } = sight.answer;
  const evidence = `${sight.title}: ${excerpt(json)}`;
  if (written.secretName !== "secret" && written.secretName !== "signing_secret") return { other: evidence };
  const wrapped = isObject(json) && isObject(json.data);
  // Where no answer has a wrapper, this one is like all others.
  const others = [service, invoice, migration].find((one) => one !== undefined && isSuccess(one))?.answer?.json;
  const alone = isObject(others) && isObject(others.data);
  if (!wrapped && alone && written.secretName === "secret") return { value: "bare", evidence };
  return wrapped || !alone ? { value: written.secretName, evidence } : { other: evidence };
}

function eventCandidates(value: unknown): readonly ValueOf<"webhook_events">[] {
  if (typeof value === "string") return ["text"];
  if (isObject(value)) return ["map"];
  if (!Array.isArray(value)) return [];
  if (value.every((one) => typeof one === "string")) return ["list"];
  return value.every((one) => isObject(one) && typeof one.name === "string") ? ["objects"] : [];
}

function domain_name(survey: Survey): Seen<"domain_name"> {
  const [found] = recordsOf(survey, "migration_requests");
  if (found === undefined) return nothingIn(survey, "migration_requests");
  const { record, title } = found;
  const evidence = `${title}: ${excerpt(record)}`;
  if (isObject(record.domain)) {
    return typeof record.domain.name === "string" ? { value: "nested", evidence } : { other: evidence };
  }
  const value = (["domain", "domain_name", "hostname"] as const).find((name) => typeof record[name] === "string");
  return value === undefined ? { other: evidence } : { value, evidence };
}

function domain_check({ domains }: Survey): Seen<"domain_check"> {
  const found = [domains.many, domains.single].find((sight) => isSuccess(sight));
  if (found === undefined) return { nothing: "The availability of domains could not be checked." };
  const json = found.answer?.json;
  const held = isObject(json) && json.data !== undefined ? json.data : json;
  const evidence = `${found.title}: ${excerpt(json)}`;
  if (Array.isArray(held) && isObject(held[0])) {
    const [item] = held;
    if (typeof item.available === "boolean") return { value: "list", evidence };
    if (typeof item.is_available === "boolean") return { value: "is_available", evidence };
    return typeof item.status === "string" ? { value: "status", evidence } : { other: evidence };
  }
  const mapped = isObject(held) && Object.keys(held).some((name) => name.includes("."));
  return mapped ? { value: "map", evidence } : { other: evidence };
}

/** Fields that every migration request has; all others are answers to the questions. */
const COMMON = new Set(["id", "domain", "domain_name", "hostname", "order_id", "status", "created_at", "updated_at"]);

function migration(survey: Survey): Seen<"migration"> {
  const requests = recordsOf(survey, "migration_requests");
  if (requests.length === 0) return nothingIn(survey, "migration_requests");
  for (const { record, title } of requests) {
    const more = Object.entries(record).filter(([name, value]) => !COMMON.has(name) && value !== null);
    const evidence = `${title}: ${excerpt(record)}`;
    if (more.some(([, value]) => isObject(value) && Object.keys(value).length > 0))
      return { value: "nested", evidence };
    if (more.some(([, value]) => !isObject(value))) return { value: "flat", evidence };
  }
  return { nothing: "No migration request holds answers to questions." };
}

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
  return agreedIn(survey, [instead ? "migration_requests" : "services"], "status", statusCandidates);
}

/** Which of the lists of words hold the value, by their names. */
function holding<N extends string>(lists: Readonly<Record<N, readonly unknown[]>>, value: unknown): readonly N[] {
  return (Object.keys(lists) as N[]).filter((name) => lists[name].includes(value));
}

const PROVISIONING = {
  words: ["pending", "provisioning", "provisioned", "failed"],
  queued: ["queued", "in_progress", "done", "error"],
  active: ["active", "inactive"],
  empty: [""],
  null: [null],
};

export function provisioningCandidates(value: unknown): readonly ValueOf<"provisioning">[] {
  return holding(PROVISIONING, typeof value === "string" ? value.toLowerCase() : value);
}

const INVOICES = {
  lower: ["unpaid", "paid", "cancelled", "refunded"],
  open: ["Open", "Paid", "Void", "Credited"],
  upper: ["DUE", "SETTLED", "CANCELLED", "REFUNDED"],
};

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

const PRODUCTS = {
  slug: ["shared", "wordpress", "vps", "virtual_desktop"],
  title: ["Shared", "WordPress", "Root VPS", "Virtual Desktop"],
};

export function productCandidates(value: unknown): readonly ValueOf<"product_type">[] {
  if (typeof value === "string" && /^[a-z]+(?:-[a-z]+)+$/.test(value)) return ["other"];
  return holding(PRODUCTS, value);
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
  return seen ?? { nothing: "No record of the account has a timestamp." };
}

function expiryCandidates(value: unknown): readonly ValueOf<"expires_at">[] {
  if (typeof value === "number") return ["epoch"];
  if (typeof value !== "string") return [];
  return [/^\d+$/.test(value) ? "epoch_text" : "instant"];
}

function expires_at(survey: Survey): Seen<"expires_at"> {
  const moments = valuesOf(recordsIn(survey.grants), "expires_at").filter(({ value }) => value !== null);
  const seen = agreed<"expires_at">(moments, expiryCandidates, "expires_at");
  return seen ?? { nothing: "None of the grants read expires." };
}

export const recordRows = {
  ids,
  record_ids,
  plan,
  unwrapped,
  grant,
  webhook,
  webhook_events: (survey) => agreedIn(survey, ["webhooks"], "events", eventCandidates),
  domain_name,
  domain_check,
  migration,
  status,
  provisioning: (survey) => agreedIn(survey, ["services"], "provisioning_status", provisioningCandidates),
  invoice_status: (survey) => agreedIn(survey, ["invoices"], "status", (value) => holding(INVOICES, value)),
  billing_cycle: (survey) => agreedIn(survey, ["services", "plans"], "billing_cycle", cycleCandidates),
  product_type: (survey) => agreedIn(survey, ["services", "plans"], "product_type", productCandidates),
  timestamps,
  expires_at,
} satisfies Partial<Detectors>;
