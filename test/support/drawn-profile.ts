/** Profiles by chance, so that in time all combinations of values are met. */
import { createHash } from "node:crypto";
import { PROFILE_SWITCHES, type Profile, type ProfileSwitch } from "../../src/sandbox/profile/profile.ts";

/** What a test that does not ask for it cannot stand: failures, and lists that lag. */
const CALM: Partial<Profile> = { weather: "calm", list_lag: "none" };

/** A profile that follows from the seed and the text: each switch has any of its values. Without background faults. */
export function drawnProfile(seed: number | string, text: string): Profile {
  const drawn = (Object.keys(PROFILE_SWITCHES) as ProfileSwitch[]).map((name) => {
    const values = PROFILE_SWITCHES[name];
    const number = createHash("sha256")
      .update(JSON.stringify([seed, text, name]))
      .digest()
      .readUInt32BE();
    return [name, CALM[name] ?? values[number % values.length]];
  });
  return Object.fromEntries(drawn) as Profile;
}
