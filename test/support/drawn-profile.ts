/** Random profiles. Many runs together cover all combinations of values. */
import { createHash } from "node:crypto";
import { PROFILE_SWITCHES, type Profile, type ProfileSwitch } from "../../src/sandbox/profile/profile.ts";

/** Values without background faults and list lag. Only tests that request faults or lag support them. */
const CALM: Partial<Profile> = { weather: "calm", list_lag: "none" };

/** Returns the profile of a seed and a text. Each switch has a random value, except the switches of CALM. */
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
