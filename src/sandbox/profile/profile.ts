/** How a profile is given: switches, or a text with the name of a set and what differs from it. */
import { didYouMean } from "../refusal.ts";
import { SandboxOptionError } from "../refusal.ts";
import { PROFILE_SETS } from "./sets.ts";
import { PROFILE_SWITCHES, type Profile, type ProfileSwitch } from "./switches.ts";

export {
  backoffSeconds,
  firstPage,
  keyRetentionSeconds,
  listLagSeconds,
  PROFILE_SWITCHES,
  type Profile,
  type ProfileSwitch,
} from "./switches.ts";

const NAMES = Object.keys(PROFILE_SWITCHES) as ProfileSwitch[];

/**
 * The full profile: the default of each switch, overridden by what is given. A text is read by `parseProfile`.
 * @throws SandboxOptionError for an unknown switch or value, naming those that exist.
 */
export function completeProfile(given: string | Readonly<Record<string, string | undefined>> = {}): Profile {
  if (typeof given === "string") return parseProfile(given);
  if (typeof given !== "object" || given === null || !Object.values(given).every(isTextOrNothing)) {
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
 * Reads `envelope=items_pagination,status=capitalised`, or the name of a set with what differs from it:
 * `contrary,ids=integer`. The set may stand anywhere. Spaces around the parts are allowed, an empty text is the default.
 * @throws SandboxOptionError for two sets, an unknown one, a switch named twice, an unknown switch or value.
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
      if (set !== undefined)
        throw new SandboxOptionError(`A profile begins with one set, not with ${set} and ${name}.`);
      set = name;
      continue;
    }
    if (value === undefined || rest.length > 0) throw new SandboxOptionError(noPart(part, name));
    if (Object.hasOwn(given, name)) throw new SandboxOptionError(`The profile switch "${name}" is given twice.`);
    given[name] = value;
  }
  return completeProfile({ ...(set !== undefined && PROFILE_SETS[set as keyof typeof PROFILE_SETS]), ...given });
}

/** The parts of a profile that differ from the defaults, as `parseProfile` reads them; empty for the default profile. */
export function profileText(profile: Profile): string {
  const parts = NAMES.filter((name) => profile[name] !== PROFILE_SWITCHES[name][0]);
  return parts.map((name) => `${name}=${profile[name]}`).join(",");
}

/** What is wrong with a part that is neither a set nor `switch=value`. */
function noPart(part: string, name: string): string {
  if (isSwitch(name)) {
    return `The profile switch "${name}" wants one value, as switch=value: ${name}=${PROFILE_SWITCHES[name].join(` or ${name}=`)}.`;
  }
  const sets = Object.keys(PROFILE_SETS);
  return `There is no profile set "${part}".${meant(part, sets, "sets")} Anything else is of the form switch=value.`;
}

/** The name that was probably meant, or all that there are. */
function meant(name: string, names: readonly string[], what: string): string {
  return didYouMean(name, names) || ` The ${what} are ${names.join(", ")}.`;
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isSwitch(name: string): name is ProfileSwitch {
  return Object.hasOwn(PROFILE_SWITCHES, name);
}
