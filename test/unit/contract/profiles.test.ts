/** The check against the sandbox, with every gap filled in every way: what it says must be what the sandbox was given. */
import { describe, expect, it } from "vitest";
import { SWITCHES, type Switch } from "../../../src/contract/index.ts";
import { PROFILE_SETS, PROFILE_SWITCHES, type Profile, parseProfile } from "../../../src/sandbox/index.ts";
import { LONG } from "../../reliability/support/long.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { checkSandbox } from "./support.ts";

type Case = readonly [name: string, value: string];

const all: readonly Case[] = Object.entries(PROFILE_SWITCHES).flatMap(([name, values]) =>
  values.map((value) => [name, value] as const),
);
const isReported = ([name]: Case) => typeof (SWITCHES[name as keyof typeof SWITCHES] as Switch).reported === "string";
const isDefault = ([name, value]: Case) => (SWITCHES[name as keyof typeof SWITCHES] as Switch).values[0] === value;

const undetermined = all.filter((one) => !isReported(one) && !isDefault(one));
/** The nth value of each switch that nothing can determine; with `npm run test:long` each value alone. */
const undecidable: readonly Partial<Profile>[] = LONG
  ? undetermined.map(([name, value]) => ({ [name]: value }))
  : [...Map.groupBy(undetermined, ([name]) => name).values()].reduce<Partial<Profile>[]>((rows, cases) => {
      for (const [nth, [name, value]] of cases.entries()) rows[nth] = { ...rows[nth], [name]: value };
      return rows;
    }, []);

/** A refusal by the rate limit comes only where the server's limit is lower than the client's, and does not say so. */
const LIMITED = new Set(["too_many", "retry_after"]);

/** A set has the value, and its test finds it out. */
const isOfSet = ([name, value]: Case) =>
  !LIMITED.has(name) &&
  name !== "empty_list" &&
  Object.values(PROFILE_SETS).some((set: Partial<Profile>) => set[name as keyof Profile] === value);

/** Values of a set alone as well, in `npm run test:long properties`. */
const determined = all.filter((one) => isReported(one) && !isDefault(one) && (LONG || !isOfSet(one)));

const check = (profile: Partial<Profile>, more: { rateLimit?: number } = {}) =>
  checkSandbox({ sandbox: { ...more, profile }, write: {} });

describe("the table of switches", () => {
  it("is the sandbox's", () => {
    expect(Object.fromEntries(Object.entries(SWITCHES).map(([name, { values }]) => [name, values]))).toEqual(
      PROFILE_SWITCHES,
    );
  });

  it("says which values reading can determine, which writing, and which nothing", () => {
    const ways = Map.groupBy(Object.entries(SWITCHES), ([, { reported: way }]) =>
      typeof way === "string" ? way : "never",
    );
    const names = (way: string) => (ways.get(way as never) ?? []).map(([name]) => name);
    expect(names("write")).toEqual(["bodies", "webhook"]);
    expect(names("never")).toEqual([
      "list_lag",
      "rate",
      "queued",
      "password",
      "creation",
      "registrant",
      "money",
      "replay",
      "refused_key",
      "key_retention",
      "event_data",
      "backoff",
      "deliveries",
      "weather",
    ]);
  });
});

describe("a sandbox with one gap filled otherwise", () => {
  it.each(determined)("is found out: %s=%s", async (name, value) => {
    const limited = LIMITED.has(name);
    const profile: Partial<Profile> = { [name]: value, ...(limited && { rate_headers: "none" as const }) };
    const { report, row } = await check(profile, limited ? { rateLimit: 12 } : {});
    expect(row(name)).toMatchObject({ finding: "seen", value });
    const expected = parseProfile(report.profile);
    expect(expected).toEqual({ ...parseProfile(""), ...profile });
    expect(report.checks.filter(({ verdict }) => verdict === "stops")).toEqual([]);
  });

  it.each(undecidable)("is not, where nothing can determine it: %j", async (profile) => {
    const { report, row } = await check(profile);
    for (const name of Object.keys(profile)) {
      expect(row(name).finding, name).toBe("untold");
      expect(row(name).evidence.length, name).toBeGreaterThan(20);
    }
    // Background faults may show the rate limit's refusals, which are the default's.
    expect(report.profile).toBe("");
  });

  it("is the default, and says so of every switch that can be determined", async () => {
    const { report } = await check({ rate_headers: "none" }, { rateLimit: 12 });
    const seen = report.rows.filter(({ finding }) => finding === "seen").map((row) => row.switch);
    expect(seen).toEqual(Object.keys(SWITCHES).filter((name) => isReported([name, ""])));
    expect(report.profile).toBe("rate_headers=none");
  });
});

describe("a sandbox with many gaps filled otherwise", () => {
  it.each(Object.entries(PROFILE_SETS))("gets the profile that it has: %s", async (_, set: Partial<Profile>) => {
    const { report } = await check(set);
    // No list of the furnished account is empty, but for a page after the last one.
    const unseen = (name: string) => LIMITED.has(name) || (name === "empty_list" && set.past_end !== undefined);
    const tellable = Object.entries(set).filter((one) => isReported(one) && !unseen(one[0]) && !isDefault(one));
    expect(parseProfile(report.profile)).toEqual({ ...parseProfile(""), ...Object.fromEntries(tellable) });
  });

  it("the line can be given to a sandbox", async () => {
    const { report } = await check(PROFILE_SETS.contrary);
    const again = await startSandbox({ profile: parseProfile(report.profile) });
    await again.close();
  });
});
