/**
 * The gaps of the specification as the sandbox's profile names them: each switch with its values, the default first,
 * and whether a server's answers can tell the value. The names stand here once more, since nothing of the sandbox is
 * imported; a test holds them against the sandbox's own.
 */

/** `read`: answers to GETs can tell. `write`: the harmless writes can. */
export type Way = "read" | "write";

export interface Switch {
  readonly values: readonly [string, ...string[]];
  /** How the value is told; otherwise why it cannot be. */
  readonly told: Way | { readonly never: string };
}

const ORDER = "It shows in the answer to an order, and none is placed.";
const QUEUED = "It shows in the answer to a suspension, and none is asked for.";
const EVENTS = "It shows in events, and this is no receiver of them.";

export const SWITCHES = {
  envelope: {
    values: [
      "laravel",
      "data_meta",
      "items_pagination",
      "named_has_more",
      "flat",
      "data_only",
      "array",
      "meta_pagination",
    ],
    told: "read",
  },
  pages: { values: ["from_one", "from_zero"], told: "read" },
  past_end: { values: ["empty", "not_found", "repeats"], told: "read" },
  empty_list: { values: ["array", "null", "map", "nothing"], told: "read" },
  items: { values: ["bare", "wrapped"], told: "read" },
  list_lag: {
    values: ["none", "four_seconds", "thirty_seconds"],
    told: { never: "A list that is a little behind now and then says nothing when nothing is new." },
  },
  order: { values: ["newest", "oldest", "scattered"], told: "read" },
  error_bodies: { values: ["json", "html", "empty"], told: "read" },
  too_many: { values: ["json", "text", "empty"], told: "read" },
  rate_headers: { values: ["full", "none"], told: "read" },
  retry_after: { values: ["seconds", "date", "none"], told: "read" },
  rate: {
    values: ["fixed", "sliding", "bucket"],
    told: { never: "It takes several windows at their limit to tell, and the account's other programs would wait." },
  },
  field_errors: { values: ["lists", "texts"], told: "read" },
  status: { values: ["lower", "capitalised", "upper_snake", "words", "digits", "numbers"], told: "read" },
  provisioning: { values: ["words", "queued", "active", "empty", "null"], told: "read" },
  invoice_status: { values: ["lower", "open", "upper"], told: "read" },
  billing_cycle: { values: ["word", "months", "unit", "integer"], told: "read" },
  product_type: { values: ["slug", "title", "other"], told: "read" },
  ids: { values: ["integer", "string"], told: "read" },
  record_ids: { values: ["plain", "uuid"], told: "read" },
  plan: { values: ["plan_id", "id", "prices", "priceless"], told: "read" },
  queued: { values: ["message", "service", "no_content", "empty"], told: { never: QUEUED } },
  bodies: { values: ["full", "empty204"], told: "write" },
  password: {
    values: ["password", "new_password"],
    told: { never: "It shows when a password is set, and none is." },
  },
  creation: { values: ["nested", "beside", "split", "invoice_wrapped"], told: { never: ORDER } },
  unwrapped: { values: ["no", "yes"], told: "read" },
  grant: { values: ["id", "grant_id", "user"], told: "read" },
  expires_at: { values: ["instant", "epoch", "epoch_text"], told: "read" },
  webhook: { values: ["secret", "signing_secret", "bare"], told: "write" },
  webhook_events: { values: ["list", "map", "objects", "text"], told: "read" },
  domain_name: { values: ["domain", "domain_name", "hostname", "nested"], told: "read" },
  domain_check: { values: ["list", "map", "is_available", "status"], told: "read" },
  registrant: { values: ["fields", "loose"], told: { never: "It shows when a domain is registered, and none is." } },
  migration: { values: ["flat", "nested"], told: "read" },
  timestamps: { values: ["offset", "micros_z", "date"], told: "read" },
  money: {
    values: ["minor", "major"],
    told: { never: "500 may be five dollars or five hundred. Compare a price with the dashboard." },
  },
  replay: { values: ["same", "ok"], told: { never: ORDER } },
  refused_key: { values: ["free", "kept"], told: { never: ORDER } },
  key_retention: { values: ["day", "ten_minutes"], told: { never: ORDER } },
  event_data: { values: ["fields", "nested", "id"], told: { never: EVENTS } },
  backoff: { values: ["tens", "minutes", "seconds"], told: { never: EVENTS } },
  deliveries: { values: ["once", "twice"], told: { never: EVENTS } },
  weather: { values: ["calm", "flaky"], told: { never: "A calm hour says nothing of the next one." } },
} as const satisfies Record<string, Switch>;

export type SwitchName = keyof typeof SWITCHES;
/** The switches whose value can be told. */
export type ToldSwitch = { [S in SwitchName]: (typeof SWITCHES)[S]["told"] extends Way ? S : never }[SwitchName];
export type ValueOf<S extends SwitchName> = (typeof SWITCHES)[S]["values"][number];
