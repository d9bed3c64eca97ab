/**
 * Lives with servers of every kind that matters to money and secrets: all combinations of the switches by which an order
 * could be placed twice, taken for missing, or a site be suspended by mistake. Whatever else a server may do differently
 * is chosen by the seed. Only in `npm run test:long profiles`; HOSTFORM_PROFILES says how many of the combinations.
 */
import { describe, expect, it } from "vitest";
import { PROFILE_SWITCHES, type Profile, profileText } from "../../src/sandbox/index.ts";
import { drawnProfile } from "../support/drawn-profile.ts";
import { liveWithFaults } from "../support/profile-faults.ts";
import { live } from "../support/profile-life.ts";

const SEED = Number(process.env.HOSTFORM_SEED ?? 1);

/**
 * `creation` and `replay`: whether the order is found in its answer, the first and the repeated one. `envelope` and
 * `order`: whether what was ordered is found in the list. `error_bodies`: whether "gone" and "in progress" are
 * understood. `status` and `queued`: whether a suspension is.
 */
const DANGEROUS = ["creation", "replay", "envelope", "order", "error_bodies", "status", "queued"] as const;

const all = DANGEROUS.reduce<Partial<Profile>[]>(
  (some, name) => some.flatMap((one) => PROFILE_SWITCHES[name].map((value) => ({ ...one, [name]: value }))),
  [{}],
);

/** The rest of the profile, by the seed; without background faults. */
const completed = (dangerous: Partial<Profile>, at: number): Profile => ({
  ...drawnProfile(SEED, String(at)),
  ...dangerous,
});

const wanted = Math.min(Number(process.env.HOSTFORM_PROFILES ?? all.length), all.length);
/** Spread over all of them; the seed says where it begins. */
const chosen = Array.from({ length: wanted }, (_, at) => (Math.floor((at * all.length) / wanted) + SEED) % all.length);

const GROUPS = 100;
const groups = Array.from({ length: Math.ceil(wanted / GROUPS) }, (_, at) => at * GROUPS);

describe.runIf(process.env.HOSTFORM_LONG === "1")("all combinations of the dangerous switches", () => {
  it.each(groups)("give the same life, from number %i on", { timeout: 600_000 }, async (from) => {
    const usual = await live({});
    for (const at of chosen.slice(from, from + GROUPS)) {
      const profile = completed(all[at] ?? {}, at);
      expect(await live(profile), profileText(profile)).toEqual(usual);
    }
  });

  it.each(groups)(
    "and with background faults nothing is lost, from number %i on",
    { timeout: 600_000 },
    async (from) => {
      // A tenth of them: each has faults of its own.
      for (const at of chosen.slice(from, from + GROUPS).filter((_, index) => index % 10 === 0)) {
        await liveWithFaults({ ...completed(all[at] ?? {}, at), weather: "flaky" }, `${SEED}:${at}`);
      }
    },
  );
});
