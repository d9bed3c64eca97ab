/**
 * What the specification leaves open, as switches: the values that the sandbox can fill each gap with, the default
 * first. A new switch is a new row here and its use in `shape.ts`.
 */
import { SandboxOptionError } from "./option-error.ts";

/** Every switch with its values, default first. */
export const PROFILE_SWITCHES = {
  /** Shape of a list (§4 Gaps: "Shape of the list envelope: not shown"). */
  envelope: ["laravel", "data_meta", "items_pagination", "named_has_more", "flat", "data_only", "array"],
  /** Spelling of status words (§2 Gaps). */
  status: ["lower", "capitalised", "upper_snake"],
  /** Type of ids on the wire. `string` goes against the integers of §2, and some servers do. */
  ids: ["integer", "string"],
  /** Bodies of suspend, unsuspend, deletions and passwords that were given: with a message, or 204 without any (§4 Gaps). */
  bodies: ["full", "empty204"],
  /** Rate-limit headers (§8 Gaps). */
  rate_headers: ["full", "none"],
  /** `Retry-After` of a 429 (§7: "not specified beyond status"). */
  retry_after: ["seconds", "date", "none"],
  /** Where the invoice stands in the answer to an order (§4 Gaps). */
  creation: ["nested", "beside", "split", "invoice_wrapped"],
  /** Single objects without their `data` wrapper. */
  unwrapped: ["no", "yes"],
  /** Form of instants; `offset` is what §2 says. */
  timestamps: ["offset", "micros_z", "date"],
  /** Scale of money amounts (§2 Gaps). `major` rounds to whole units, since §2 says integer. */
  money: ["minor", "major"],
} as const;

export type ProfileSwitch = keyof typeof PROFILE_SWITCHES;
export type Profile = { [K in ProfileSwitch]: (typeof PROFILE_SWITCHES)[K][number] };

const NAMES = Object.keys(PROFILE_SWITCHES) as ProfileSwitch[];

/**
 * The full profile: the default of each switch, overridden by what is given.
 * @throws SandboxOptionError for an unknown switch or value, naming those that exist.
 */
export function completeProfile(given: Readonly<Record<string, string | undefined>> = {}): Profile {
  const profile: Record<string, string> = {};
  for (const name of NAMES) profile[name] = PROFILE_SWITCHES[name][0];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!isSwitch(name)) {
      throw new SandboxOptionError(`There is no profile switch "${name}". The switches are ${NAMES.join(", ")}.`);
    }
    const values: readonly string[] = PROFILE_SWITCHES[name];
    if (!values.includes(value)) {
      throw new SandboxOptionError(
        `The profile switch "${name}" has no value "${value}". Its values are ${values.join(", ")}.`,
      );
    }
    profile[name] = value;
  }
  return profile as Profile;
}

/**
 * Reads `envelope=items_pagination,status=capitalised`. Spaces around the parts are allowed, an empty text is the default.
 * @throws SandboxOptionError for a part without `=`, a switch named twice, an unknown switch or value.
 */
export function parseProfile(text: string): Profile {
  const given: Record<string, string> = {};
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [name, value, ...rest] = part.split("=").map((one) => one.trim());
    if (name === undefined || value === undefined || rest.length > 0) {
      throw new SandboxOptionError(
        `The profile part "${part}" is not of the form switch=value. The switches are ${NAMES.join(", ")}.`,
      );
    }
    if (Object.hasOwn(given, name)) throw new SandboxOptionError(`The profile switch "${name}" is given twice.`);
    given[name] = value;
  }
  return completeProfile(given);
}

function isSwitch(name: string): name is ProfileSwitch {
  return Object.hasOwn(PROFILE_SWITCHES, name);
}
