/** Messages about a wrong account, and about a missing, shared or outdated state. */
import { counted, some } from "../model/index.ts";
import { type Catalogue, error, type Words, warning } from "./message.ts";

/** `of`: "Provider default". `origin`: its current base URL. */
type Account = Words<"of" | "origin">;

/** An object that another state on this machine also contains. */
export interface Shared extends Words<"address" | "noun" | "id" | "place" | "lastSeen" | "here"> {
  /** Resource address in the other state. Undefined if the address is unknown. */
  readonly other: string | undefined;
  /** Number of further objects in both states. */
  readonly more: number;
}

/** A missing or empty state of a project whose objects exist in the account. */
export interface MissingState extends Words<"place"> {
  /** Number of declared objects in the account. */
  readonly count: number;
  /** True if no state was ever written at this location. */
  readonly isNew: boolean;
  /** Another state on this machine that contains some of the objects. */
  readonly holder: string | undefined;
  /** Other state files in the same folder. */
  readonly others: readonly string[];
  /** Path of the backup of the state. Undefined if there is none. */
  readonly backup: string | undefined;
  /** Aliases of the providers whose accounts contain the objects. */
  readonly providers: readonly string[];
}

const MOVED = { do: "allow", limits: [{ limit: "account_moved" }] } as const;
const CORRECT = "Correct the base URL and the token of the provider.";
const SANDBOX = "If a sandbox was started without its earlier data: start with a new state.";

/** Returns an origin for messages. The origin of a loopback address is no URL that the user set. */
const shownOrigin = (origin: string) => (isOnThisMachine(origin) ? "a loopback address" : origin);

const isOnThisMachine = (origin: string) => /^https?:\/\/localhost/.test(origin);

const pgForms = (variable: string) =>
  `Set ${variable} in one of these forms: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…, or host=… port=… user=… password=… dbname=… sslmode=….`;

export const accounts = {
  "account.foreign/address": error(({ of, origin, recorded }: Account & Words<"recorded">) => ({
    summary: `${of} has another base URL than the state`,
    detail: `In the state: ${shownOrigin(recorded)}. Now: ${shownOrigin(origin)}. The same id may belong to another object at the new URL.`,
    remedies: [CORRECT, { ...MOVED, when: "the new URL leads to the same account" }],
  })),
  "account.foreign/objects": error(
    ({ of, origin, recorded, objects }: Account & Words<"recorded"> & { readonly objects: readonly string[] }) => ({
      summary: `${of} leads to another account than the state`,
      detail:
        objects.length === 1
          ? `In the state (${shownOrigin(recorded)}): ${objects[0]}. The account at ${shownOrigin(origin)} has only other objects.`
          : `In the state (${shownOrigin(recorded)}): ${objects[0]} and ${objects.length - 1} more. The account at ${shownOrigin(origin)} has none of them.`,
      remedies: [
        CORRECT,
        ...(isOnThisMachine(origin) ? [SANDBOX] : []),
        { ...MOVED, when: "this is the same account, and these objects were deleted on purpose" },
      ],
    }),
  ),
  "account.foreign/mandate": error({
    summary: "Mandate {id} is for another account",
    detail: "The base URL or the objects of this account differ from the mandate.",
    remedies: [CORRECT, "Or ask the approver for a mandate for this account."],
  }),
  "guard.missing": error(({ missing, share }: { readonly missing: readonly string[]; readonly share: string }) => ({
    summary: `The account lacks ${share}. Is this the wrong account?`,
    detail: `Missing: ${some(missing)}.`,
    remedies: [CORRECT, { do: "allow", limits: [{ limit: "missing" }] }],
  })),
  "account.double": warning(
    (given: Words<"address" | "noun" | "id" | "domain"> & { readonly ids: readonly string[] }) => ({
      summary: `${given.domain} is the domain of ${given.ids.length} ${given.noun}s: ${some(given.ids)}`,
      detail: `${given.address} is ${given.noun} ${given.id}. Each ${given.noun} is billed, and only one can be in use.`,
      remedies: [`If one was ordered by mistake, cancel it in the dashboard: the API cannot delete a ${given.noun}.`],
    }),
  ),
  "state.stranger": error({
    summary: "{noun} {id} is not the object in the state",
    detail: "{evidence}",
    remedies: [
      "If the provider leads to the wrong account or host, correct its base URL and token.",
      "If the host has given the id to another object, remove the old object from the state.",
    ],
  }),
  "state.missing": error(({ place, count, isNew, holder, others, backup, providers }: MissingState) => ({
    summary: `${isNew ? `This project has no state here (${place})` : `The state of this project is empty (${place})`}, but the account has ${count} of its objects`,
    detail:
      holder !== undefined
        ? `${holder} contains these objects.`
        : others.length > 0
          ? `The same folder has ${some(others)}.`
          : backup !== undefined
            ? `${backup} is a backup from before the last change, with the secrets that no API call returns.`
            : "The state may be in another checkout, in an undeclared backend, or in another environment.",
    remedies: [
      "If the state is in another place, move the file here, or declare the backend of the state.",
      ...(backup === undefined ? [] : [{ do: "restore_state", backup } as const]),
      { do: "recover", providers },
    ],
  })),
  "state.shared": warning(({ address, noun, id, other, place, lastSeen, here, more }: Shared) => ({
    summary: `${address} is ${noun} ${id}, which is also in ${place}${other === undefined ? "" : ` as ${other}`}${more > 0 ? `; ${counted(more, "more object")} in both` : ""}`,
    detail: `Last used there at ${lastSeen}. This state: ${here}.`,
    remedies: [
      "Keep each object in one state only. Otherwise each run reverts the values of the other state.",
      { do: "forget", when: "the other state must manage it" },
    ],
  })),
  "state.backend/unset": error(({ variable }: Words<"variable">) => ({
    summary: `${variable} is not set`,
    remedies: [pgForms(variable), "It contains a password, so do not write it in a file of the project."],
  })),
  "state.backend/sslmode": error({
    summary: "The sslmode of {variable} is not supported",
    detail: "Supported values: {modes}. With another value, the server could request the state in clear text.",
    remedies: ["Set a supported value."],
  }),
  "state.backend/port": error(({ variable }: Words<"variable">) => ({
    summary: `The port of ${variable} is invalid`,
    remedies: [pgForms(variable)],
  })),
  "state.backend/unverified": error(({ mode, host, variable }: Words<"mode" | "host" | "variable">) => ({
    summary: `sslmode=${mode} does not check that ${host} is the database server`,
    detail:
      mode === "disable"
        ? "The password and the state would be sent in clear text."
        : "An attacker in the network could receive the state, which contains secrets.",
    remedies: [
      `Set sslmode=verify-full in ${variable}. For a private certificate authority, also set sslrootcert=FILE.`,
      "If you trust the complete network, set HOSTFORM_PG_INSECURE=1 instead.",
    ],
  })),
  "state.backend/address": error(({ variable }: Words<"variable">) => ({
    summary: `${variable} is not a valid URL`,
    detail:
      "Special characters of a password must be percent-encoded in a URL: @ is %40, / is %2F, # is %23, and ? is %3F.",
    remedies: ["Percent-encode the password.", pgForms(variable)],
  })),
  "state.backend/pairs": error(({ variable }: Words<"variable">) => ({
    summary: `${variable} is malformed`,
    remedies: [pgForms(variable)],
  })),
} satisfies Catalogue;
