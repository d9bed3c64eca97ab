/**
 * Gaps of the specification as switches. The values of a switch are the ways to fill its gap. Also defines named sets of
 * values, and parses profiles. A new switch needs an entry here, and its use, usually in `shape/`.
 */
import { didYouMean, SandboxOptionError } from "../refusal.ts";

/** Values of each switch, the default first. */
export const PROFILE_SWITCHES = {
  /** Format of a list (§4 Gaps: "Shape of the list envelope: not shown"). */
  envelope: [
    "laravel",
    "data_meta",
    "items_pagination",
    "named_has_more",
    "flat",
    "data_only",
    "array",
    "meta_pagination",
  ],
  /** Number of the first page (§4 Pagination: only "page number"). */
  pages: ["from_one", "from_zero"],
  /** Response after the last page (§4 Pagination: not defined): an empty page, 404, or the last page again. */
  past_end: ["empty", "not_found", "repeats"],
  /** Items of an empty list (§4 Gaps): `[]`, null, or `{}`. `nothing`: the complete response is `{}`. */
  empty_list: ["array", "null", "map", "nothing"],
  /** Items of a list: unwrapped, or each under `data` (§4 Gaps). */
  items: ["bare", "wrapped"],
  /** Time until a new record is in lists (§4: not specified). */
  list_lag: ["none", "four_seconds", "thirty_seconds"],
  /** Order of a list (§4 Gaps: "Sorting or filtering parameters": not shown). `scattered` looks random, but never changes. */
  order: ["newest", "oldest", "scattered"],
  /** Bodies of 400, 401, 404, 405, 409 and 5xx (§7: not specified). `html` looks like the page of a proxy. */
  error_bodies: ["json", "html", "empty"],
  /** Body of a 429 (§7: "not specified beyond status"). */
  too_many: ["json", "text", "empty"],
  /** Rate-limit headers (§8 Gaps). */
  rate_headers: ["full", "none"],
  /** `Retry-After` of a 429 (§7: "not specified beyond status"). */
  retry_after: ["seconds", "date", "none"],
  /** Rule for a minute (§8: "60 requests per minute per token"). `bucket` adds one request per second. */
  rate: ["fixed", "sliding", "bucket"],
  /** Values of `errors` in a 422: lists of sentences, or one sentence (§7: "object of field errors"). */
  field_errors: ["lists", "texts"],
  /**
   * Spelling of status words (§2 Gaps). `words` has other words: "Pending Payment", "running". `digits`: "1". `numbers`: 1.
   */
  status: ["lower", "capitalised", "upper_snake", "words", "digits", "numbers"],
  /** Value of `provisioning_status` (§2 Gaps). */
  provisioning: ["words", "queued", "active", "empty", "null"],
  /** Words for the status of an invoice (§2 Gaps): unpaid and paid, Open and Paid, DUE and SETTLED. */
  invoice_status: ["lower", "open", "upper"],
  /** Format of `billing_cycle` (§2: "e.g. monthly"): "quarterly", "3 months", "quarter", 3. */
  billing_cycle: ["word", "months", "unit", "integer"],
  /** Words for the product type (§2 Gaps): vps, "Root VPS", "root-vps". */
  product_type: ["slug", "title", "other"],
  /** Type of ids in JSON. §2 specifies integers, which some servers send as strings. */
  ids: ["integer", "string"],
  /** Ids of grants, webhooks, client accounts and migration requests (§2 Gaps): as `ids`, UUIDs, or opaque strings. */
  record_ids: ["plain", "uuid", "opaque"],
  /** Id and prices of a plan (§2 Plan). Id: `plan_id` or `id`. Prices: one, one per currency, or none. */
  plan: ["plan_id", "id", "prices", "priceless"],
  /** Response of suspend and unsuspend (§4 Gaps): 202 with a message, 200 with the service, 204, or 202 without a body. */
  queued: ["message", "service", "no_content", "empty"],
  /** Responses to a deletion and to a given password: with a message, or 204 (§4 Gaps). */
  bodies: ["full", "empty204"],
  /** Field of a generated password (§4: "the new password once"). */
  password: ["password", "new_password"],
  /** Position of the invoice in the response to an order (§4 Gaps). */
  creation: ["nested", "beside", "split", "invoice_wrapped"],
  /** `yes`: a single object without its `data` wrapper. */
  unwrapped: ["no", "yes"],
  /** Fields of a grant (§2 Gaps): `id`, `grant_id`, or the e-mail address inside `user`. */
  grant: ["id", "grant_id", "user"],
  /** `expires_at` of a grant (§2 Gaps): ISO 8601, or seconds since the epoch as a number or a string. */
  expires_at: ["instant", "epoch", "epoch_text"],
  /** Response to the registration of a webhook (§2 Gaps): `secret`, `signing_secret`, or no `data` wrapper. */
  webhook: ["secret", "signing_secret", "bare"],
  /**
   * `events` of a webhook (§2 Gaps): a list of names, a map from name to boolean, a list of objects, comma-separated names.
   */
  webhook_events: ["list", "map", "objects", "text"],
  /** Field of the domain in a migration request and a registration (§2 Gaps). `nested`: `{"domain": {"name": …}}`. */
  domain_name: ["domain", "domain_name", "hostname", "nested"],
  /** Results of an availability check (§2 Gaps): a list or a map, with `available`, `is_available` or `status`. */
  domain_check: ["list", "map", "is_available", "status"],
  /** Accepted `registrant_contact` (§4 Gaps): the usual fields, or any fields. */
  registrant: ["fields", "loose"],
  /** Position of the answers (source type and scope) in a migration request (§2 Gaps). */
  migration: ["flat", "nested"],
  /** Format of times. §2 specifies `offset`. */
  timestamps: ["offset", "micros_z", "date"],
  /** Unit of amounts (§2 Gaps). `major` is rounded to integers, as §2 requires. */
  money: ["minor", "major"],
  /**
   * Status of the response to a repeated request with the same Idempotency-Key: the same, or 200 (§4: "the original
   * response").
   */
  replay: ["same", "ok"],
  /**
   * Idempotency-Key of an order that was rejected with 422: free for a corrected order, or kept with the rejection (§4: "a
   * repeated request … returns the original response").
   */
  refused_key: ["free", "kept"],
  /** Retention of an Idempotency-Key (§8 Gaps). */
  key_retention: ["day", "ten_minutes"],
  /** `data` of an event (§6: "not shown"): the fields of the record, the record under its name, or only its id. */
  event_data: ["fields", "nested", "id"],
  /** Intervals between attempts of a delivery (§6: "not shown"): 10, 100, 1000 s; 1, 5, 30 min; 1, 2, 4 s. */
  backoff: ["tens", "minutes", "seconds"],
  /** Deliveries of each event (§6: not specified). Some queues deliver twice. */
  deliveries: ["once", "twice"],
  /** `flaky`: some requests, which the seed selects, fail before or after their effect. */
  weather: ["calm", "flaky"],
} as const;

export type ProfileSwitch = keyof typeof PROFILE_SWITCHES;
export type Profile = { [K in ProfileSwitch]: (typeof PROFILE_SWITCHES)[K][number] };

/** Returns the intervals before the first, second and third retry of a delivery, in seconds (§6: "increasing intervals"). */
export function backoffSeconds(profile: Profile): readonly number[] {
  return { tens: [10, 100, 1000], minutes: [60, 300, 1800], seconds: [1, 2, 4] }[profile.backoff];
}

export function keyRetentionSeconds(profile: Profile): number {
  return profile.key_retention === "day" ? 86_400 : 600;
}

export function firstPage(profile: Profile): 0 | 1 {
  return profile.pages === "from_zero" ? 0 : 1;
}

/** Named profiles, as differences from the default. */
export const PROFILE_SETS = {
  /** The default, which imitates a Laravel application. */
  laravel: {},
  /** Minimum: no headers, bodies, wrappers or prices. */
  minimal: {
    envelope: "array",
    error_bodies: "empty",
    too_many: "empty",
    rate_headers: "none",
    retry_after: "none",
    field_errors: "texts",
    provisioning: "null",
    plan: "priceless",
    queued: "empty",
    bodies: "empty204",
    unwrapped: "yes",
    domain_check: "map",
    event_data: "id",
  },
  /** No switch has its default value. */
  contrary: {
    envelope: "items_pagination",
    pages: "from_zero",
    past_end: "repeats",
    empty_list: "null",
    items: "wrapped",
    order: "scattered",
    error_bodies: "html",
    too_many: "text",
    rate_headers: "none",
    retry_after: "date",
    rate: "bucket",
    field_errors: "texts",
    status: "words",
    provisioning: "active",
    invoice_status: "upper",
    billing_cycle: "integer",
    product_type: "other",
    ids: "string",
    record_ids: "uuid",
    plan: "prices",
    queued: "service",
    bodies: "empty204",
    password: "new_password",
    creation: "invoice_wrapped",
    unwrapped: "yes",
    grant: "user",
    expires_at: "epoch",
    webhook: "signing_secret",
    webhook_events: "map",
    domain_name: "domain_name",
    domain_check: "status",
    registrant: "loose",
    migration: "nested",
    timestamps: "micros_z",
    money: "major",
    replay: "ok",
    refused_key: "kept",
    key_retention: "ten_minutes",
    event_data: "nested",
    backoff: "minutes",
    deliveries: "twice",
  },
  /** The strictest server that the specification allows: no hints, short retention, no guarantees. */
  strict: {
    envelope: "data_only",
    order: "scattered",
    error_bodies: "html",
    too_many: "empty",
    rate_headers: "none",
    retry_after: "none",
    rate: "sliding",
    plan: "priceless",
    queued: "empty",
    bodies: "empty204",
    replay: "ok",
    refused_key: "kept",
    key_retention: "ten_minutes",
    event_data: "id",
    backoff: "seconds",
    deliveries: "twice",
  },
  /** The default with background faults. */
  flaky: { weather: "flaky" },
} as const satisfies Record<string, Partial<Profile>>;

export type ProfileSet = keyof typeof PROFILE_SETS;

const NAMES = Object.keys(PROFILE_SWITCHES) as ProfileSwitch[];

/**
 * Returns the complete profile, with defaults for missing switches. `parseProfile` parses a text.
 * @throws SandboxOptionError for an unknown switch or value, with the known ones
 */
export function completeProfile(given: string | Readonly<Record<string, string | undefined>> = {}): Profile {
  if (typeof given === "string") return parseProfile(given);
  if (
    typeof given !== "object" ||
    given === null ||
    !Object.values(given).every((value) => ["string", "undefined"].includes(typeof value))
  ) {
    throw new SandboxOptionError('A profile is a text such as "contrary,ids=integer", or an object of texts.');
  }
  const profile: Record<string, string> = {};
  for (const name of NAMES) profile[name] = PROFILE_SWITCHES[name][0];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!isSwitch(name)) {
      throw new SandboxOptionError(`There is no profile switch "${name}".${meant(name, NAMES, "switches")}`);
    }
    const values: readonly string[] = PROFILE_SWITCHES[name];
    if (!values.includes(value)) {
      throw new SandboxOptionError(
        `The profile switch "${name}" has no value "${value}".${didYouMean(value, values)} Its values are ${values.join(", ")}.`,
      );
    }
    profile[name] = value;
  }
  return profile as Profile;
}

/**
 * Parses switches (`envelope=items_pagination,status=capitalised`), or a set and differences (`contrary,ids=integer`). The
 * set can be anywhere in the text. Spaces around the parts are allowed. An empty text is the default profile.
 * @throws SandboxOptionError for an unknown set, switch or value, a second set, and a repeated switch
 */
export function parseProfile(text: string): Profile {
  const given: Record<string, string> = Object.create(null);
  let set: string | undefined;
  for (const part of text.split(",").map((one) => one.trim().replace(/\s*=\s*/g, "="))) {
    if (part === "") continue;
    if (/\s/.test(part)) {
      throw new SandboxOptionError(`Put commas between the parts of a profile: ${part.replace(/\s+/g, ",")}.`);
    }
    const [name = "", value, ...rest] = part.split("=");
    if (value === undefined && Object.hasOwn(PROFILE_SETS, name)) {
      if (set !== undefined) throw new SandboxOptionError(`A profile names one set, not both ${set} and ${name}.`);
      set = name;
      continue;
    }
    if (value === undefined || rest.length > 0) throw new SandboxOptionError(noPart(part, name));
    if (Object.hasOwn(given, name)) throw new SandboxOptionError(`The profile switch "${name}" is given twice.`);
    given[name] = value;
  }
  return completeProfile({ ...(set !== undefined && PROFILE_SETS[set as keyof typeof PROFILE_SETS]), ...given });
}

/** Returns the switches without their default value. */
export function changedIn(profile: Profile): ProfileSwitch[] {
  return NAMES.filter((name) => profile[name] !== PROFILE_SWITCHES[name][0]);
}

/** Returns the differences from the default, in the format of `parseProfile`. */
export function profileText(profile: Profile): string {
  return changedIn(profile)
    .map((name) => `${name}=${profile[name]}`)
    .join(",");
}

/** Returns the error message of a part that is neither a set nor `switch=value`. */
function noPart(part: string, name: string): string {
  if (isSwitch(name)) {
    return `The profile switch "${name}" needs one value, as switch=value: ${name}=${PROFILE_SWITCHES[name].join(` or ${name}=`)}.`;
  }
  const sets = Object.keys(PROFILE_SETS);
  return `There is no profile set "${part}".${meant(part, sets, "sets")} Write a switch as switch=value.`;
}

/** Suggests the most similar name, or lists all names. */
function meant(name: string, names: readonly string[], what: string): string {
  return didYouMean(name, names) || ` The ${what} are ${names.join(", ")}.`;
}

function isSwitch(name: string): name is ProfileSwitch {
  return Object.hasOwn(PROFILE_SWITCHES, name);
}
