/**
 * The command line with servers that fill the gaps of the specification in other ways: with every value of each switch
 * among other ones, and with every set. Every pair of values, every value alone, and all combinations of the
 * dangerous ones are behind `npm run test:long profiles`.
 */
import { describe, expect, it } from "vitest";
import { PROFILE_SETS, PROFILE_SWITCHES, type Profile, parseProfile, profileText } from "../../src/sandbox/index.ts";
import { completeProfile } from "../../src/sandbox/profile/profile.ts";
import { LONG } from "../reliability/support/long.ts";
import { pairwise } from "../support/pairwise.ts";
import { liveWithFaults } from "../support/profile-faults.ts";
import { ask, begin, live, order } from "../support/profile-life.ts";
import { withKnownForm } from "../support/sandbox.ts";

/** Where requests fail by chance, a life takes another course: it has its own test below. So it does where lists lag. */
const { weather: _, list_lag: __, ...SWITCHES } = PROFILE_SWITCHES;

const alone = Object.entries(SWITCHES).flatMap(([name, values]) =>
  values
    .slice(1)
    .map((value) => ({ name, value: value as string, profile: withKnownForm({ [name]: value } as Partial<Profile>) })),
);
/**
 * Combinations that show each value once that no set has. Each takes the next value of every switch; the switches begin with
 * different ones.
 */
function eachOnce(switches: typeof SWITCHES): Partial<Profile>[] {
  const sets: readonly Partial<Profile>[] = Object.values(PROFILE_SETS);
  const rest = Object.entries(switches).map(([name, [usual = "", ...values]]) => {
    const others = values.filter((value) => !sets.some((set) => set[name as keyof typeof SWITCHES] === value));
    return [name, others.length === 0 ? [usual] : others] as const;
  });
  const rows = Math.max(...rest.map(([, { length }]) => length));
  return Array.from({ length: rows }, (_, row) => {
    const values = rest.map(([name, of], at) => [name, of[(row + at) % of.length]]);
    return Object.fromEntries(values) as Partial<Profile>;
  });
}

const combinations = (LONG ? pairwise(SWITCHES) : eachOnce(SWITCHES)).map(withKnownForm).map((profile) => ({
  profile,
  text: profileText(completeProfile({ ...profile, weather: "calm", list_lag: "none" })),
}));

// The first of them lives twice, once with the usual server: what fails there fails all.
describe("however the server fills the gaps of the specification", { timeout: 60_000 }, () => {
  let first: ReturnType<typeof live> | undefined;
  const usual = () => {
    first ??= live({});
    return first;
  };

  it.runIf(LONG).each(alone)("$name=$value gives the same life", async ({ profile }) => {
    expect(await live(profile)).toEqual(await usual());
  });

  it.each(Object.keys(PROFILE_SETS).filter((name) => name !== "flaky"))("so does the set %s", async (name) => {
    expect(await live(name)).toEqual(await usual());
  });

  const asked = async (profile: string) => {
    const project = await begin(profile);
    await order(project);
    return ask(project);
  };
  let shown: ReturnType<typeof asked> | undefined;

  it.each(Object.keys(PROFILE_SETS))("data sources show the same with the set %s", async (name) => {
    shown ??= asked("laravel");
    expect(await asked(`${name},weather=calm`)).toEqual(await shown);
  });

  it.each(combinations)("a combination of values: $text", async ({ profile }) => {
    expect(await live(profile)).toEqual(await usual());
  });
});

describe("a service that is gone, with its grants", () => {
  it.each(PROFILE_SWITCHES.error_bodies)(
    "is reported, and nothing is ordered, with 404s that are %s",
    async (error_bodies) => {
      const project = await begin({ error_bodies });
      await order(project);
      const [site] = project.control.list("services").filter(({ domain }) => domain === "www.acme.example");
      project.control.remove("services", site?.id ?? 0);
      const { diagnostics, changes, conditions } = await project.plan();
      expect(conditions?.map(({ condition, address }) => `${condition} ${address}`)).toEqual([
        "gone hosting_service.www",
      ]);
      expect(diagnostics.map(({ code, address }) => `${code} ${address}`)).toEqual([
        'apply.skipped hosting_grant.www["dev@acme.example"]',
        'apply.skipped hosting_grant.www["guest@acme.example"]',
      ]);
      expect(changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);
      // A page with that status is not believed where the list still has the service.
      const box = project.control
        .list("services")
        .find(({ plan_id, customer_id }) => plan_id === 31 && customer_id === 1);
      const page = { body: "<!DOCTYPE html><title>404 Not Found</title>", headers: { "content-type": "text/html" } };
      project.control.addFault({ path: `/services/${box?.id}`, phase: "before", status: 404, times: 9, ...page });
      expect((await project.run("services", String(box?.id))).code).toBe(1);
      expect((await project.plan()).diagnostics).toEqual(diagnostics);
    },
  );
});

describe("a minute that somebody else used up", () => {
  const { retry_after, rate_headers, too_many, rate } = PROFILE_SWITCHES;
  it.each(pairwise({ retry_after, rate_headers, too_many, rate }))(
    "is waited for, and nothing is lost ($retry_after, $rate_headers, $too_many, $rate)",
    async (profile) => {
      const project = await begin(profile, { rateLimit: 8 });
      await order(project);
      // By headers beforehand, or by a refusal: either way it waited for more than there was.
      expect(project.clock.slept).toBeGreaterThan(50_000);
    },
  );
});

describe("background faults", () => {
  it.each([
    ["flaky", "one"],
    ["flaky", "two"],
    ["flaky", "three"],
    ["minimal,weather=flaky", "four"],
    ["contrary,weather=flaky", "five"],
    ["strict,weather=flaky", "six"],
  ])("(%s, seed %s) delays a life and changes nothing of it", async (profile, seed) => {
    await liveWithFaults(parseProfile(profile), seed);
  });
});
