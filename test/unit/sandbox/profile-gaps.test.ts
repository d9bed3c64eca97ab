/**
 * What the specification leaves open, row by row, and which switches of the profile fill each gap in another way. A gap
 * that is found later gets a row here first, and fails until there is a switch or a reason.
 */
import { expect, test } from "vitest";
import { PROFILE_SWITCHES, type ProfileSwitch } from "../../../src/sandbox/index.ts";

interface Gap {
  readonly title: string;
  readonly switches: readonly ProfileSwitch[];
  /** What of the row has no switch, and why. Required where there is none at all. */
  readonly without?: string;
}

const GAPS: readonly Gap[] = [
  { title: "1 list envelope", switches: ["envelope", "pages", "past_end", "empty_list", "items"] },
  {
    title: "2 bodies of 401, 404 and 5xx",
    switches: ["error_bodies"],
    without: "The status of an unknown id is 404 and of a bad token 401: what they mean elsewhere is not guessed.",
  },
  { title: "3 headers and body of a 429", switches: ["rate_headers", "retry_after", "too_many"] },
  { title: "4 field errors of a 422", switches: ["field_errors"] },
  { title: "5 bodies of 400 and 409, replay", switches: ["error_bodies", "replay", "refused_key"] },
  { title: "6 service status", switches: ["status"] },
  { title: "7 provisioning_status", switches: ["provisioning"] },
  { title: "8 creation response", switches: ["creation", "unwrapped"] },
  { title: "9 billing_cycle", switches: ["billing_cycle"] },
  { title: "10 product_type", switches: ["product_type"] },
  { title: "11 invoice status", switches: ["invoice_status"] },
  { title: "12 unit of money", switches: ["money"] },
  { title: "13 fields of a plan", switches: ["plan"] },
  { title: "14 answers of suspend and unsuspend", switches: ["queued"] },
  { title: "15 password and sign-on", switches: ["password", "bodies", "unwrapped"] },
  { title: "16 fields of a grant", switches: ["grant", "expires_at", "record_ids", "ids"] },
  { title: "17 webhook subscription", switches: ["webhook", "webhook_events", "record_ids", "ids"] },
  {
    title: "18 domain check",
    switches: ["domain_check", "unwrapped"],
    without: "The parameters: every plausible one is understood, so that no choice of a client's is favoured.",
  },
  {
    title: "19 domain registration",
    switches: ["registrant", "creation", "domain_name"],
    without: "The types of years and nameserver_mode: a request is passed through as it is declared.",
  },
  { title: "20 client account", switches: ["record_ids", "ids"] },
  { title: "21 migration request", switches: ["migration", "status", "domain_name", "record_ids"] },
  { title: "22 event data", switches: ["event_data"] },
  { title: "23 delivery backoff", switches: ["backoff"] },
  { title: "24 form of timestamps", switches: ["timestamps"] },
  {
    title: "25 order and filters of lists",
    switches: ["order"],
    without: "Filters: there are none in the specification, and a client that sends one gets the whole list.",
  },
  {
    title: "26 key retention, type of window, secrets of a replay",
    switches: ["key_retention", "rate"],
    without: "Secrets of a replay: only orders of services have keys, and their answers hold no secret.",
  },
  { title: "ids: of services and invoices alone they are said to be integers", switches: ["ids", "record_ids"] },
];

/** Switches that no gap asks for. */
const BEYOND: Readonly<Partial<Record<ProfileSwitch, string>>> = {
  list_lag: "Lists may be read from a copy that is a little behind; §4 does not promise that they are not.",
  deliveries: "Every queue delivers twice at times; §6 does not promise that it happens once.",
  weather: "Networks fail.",
};

test("every gap of the specification has a switch, or a reason", () => {
  expect(GAPS).toHaveLength(27);
  expect(new Set(GAPS.map(({ title }) => title)).size).toBe(27);
  for (const { title, switches, without } of GAPS) {
    expect(switches.length > 0 || without !== undefined, title).toBe(true);
  }
});

test("every switch fills a gap, or has a reason; each has a choice", () => {
  const filling = new Set<string>([...GAPS.flatMap(({ switches }) => switches), ...Object.keys(BEYOND)]);
  expect([...filling].sort()).toEqual(Object.keys(PROFILE_SWITCHES).sort());
  for (const [name, values] of Object.entries(PROFILE_SWITCHES)) {
    expect(values.length, name).toBeGreaterThan(1);
    expect(new Set<string>(values).size, name).toBe(values.length);
  }
});
