/** Profiles by chance, so that in time all combinations of values are met. */
import { createHash } from "node:crypto";
import { PROFILE_SWITCHES, type Profile, type ProfileSwitch } from "../../src/sandbox/profile/profile.ts";

/** A profile that follows from the seed and the text: each switch has any of its values. In calm weather. */
export function drawnProfile(seed: number | string, text: string): Profile {
  const drawn = (Object.keys(PROFILE_SWITCHES) as ProfileSwitch[]).map((name) => {
    const values = PROFILE_SWITCHES[name];
    const number = createHash("sha256")
      .update(JSON.stringify([seed, text, name]))
      .digest()
      .readUInt32BE();
    return [name, name === "weather" ? "calm" : values[number % values.length]];
  });
  return Object.fromEntries(drawn) as Profile;
}
