/** Messages about an object of the account beside the resource that is, or may be, the same. */
import { type Json, openJson, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

/** The resource that a message is about; "service" is the noun of its kind. */
export type Resource = Words<"address" | "noun">;

/** Objects of the account: their ids, and a domain or e-mail address of the first one. */
export interface Objects extends Resource {
  readonly ids: readonly string[];
  readonly label?: string | undefined;
  /** Id of the first one, as `import` takes it. */
  readonly object: string | undefined;
  /** Each object costs money. */
  readonly isPaid: boolean;
}

/** A declared value beside the value of the object. */
export interface Difference extends Words<"address" | "noun" | "name" | "was" | "becomes"> {
  /** The old value, for a remedy. Absent: a secret, or unknown. */
  readonly value?: Json | undefined;
  readonly isSecret: boolean;
}

/** An object that another state of this machine holds. */
export interface Shared extends Words<"address" | "noun" | "id" | "place" | "lastSeen" | "here"> {
  /** Its address in the other state, if that is known. */
  readonly other: string | undefined;
  /** Number of further objects that both states hold. */
  readonly more: number;
}

/** A project without records of what it declares. */
export interface MissingState extends Words<"place"> {
  /** Number of declared objects that the account has. */
  readonly count: number;
  /** No state was ever written in this place. */
  readonly isNew: boolean;
  /** Another state of this machine that holds some of them. */
  readonly holder: string | undefined;
  /** Other states in the folder of this one. */
  readonly others: readonly string[];
  /** The state before its last change. */
  readonly backup: string | undefined;
  /** Accounts that have them. */
  readonly providers: readonly string[];
}

/** An object that another address declares, where one of the two addresses is not part of the run. */
export interface HalfExchange extends Words<"noun" | "id" | "from" | "to"> {
  readonly name: string | undefined;
  readonly outside: readonly string[];
}

/** A one-time secret that cannot go where its object goes. */
export interface HeldSecret extends Words<"address" | "noun" | "id" | "from" | "name" | "place"> {
  readonly other: string | undefined;
  /** The address has a record of its own. */
  readonly isOccupied: boolean;
}

/** A value that the host shows in place of the value that was sent. Both are absent where they are secret. */
export interface Form extends Words<"address" | "noun" | "name"> {
  readonly sent?: Json | undefined;
  readonly is?: Json | undefined;
  /** The host hides a part of the value. */
  readonly isMasked?: boolean;
}

const inOwnForm = ({ address, name, sent, is, isMasked = false }: Form) => {
  if (isMasked) return `The API hides a part of ${name} of ${address}`;
  return sent === undefined || is === undefined
    ? `The API shows another ${name} of ${address} than the request had`
    : `The API shows ${name} of ${address} as ${openJson(is)}; the request had ${openJson(sent)}`;
};

/** A declared value that must be shown, with the sources that forbid it. */
export interface Hidden extends Words<"address" | "name"> {
  readonly from: readonly string[];
}

type Gone = Words<"address" | "noun" | "object" | "how">;

/** `service 1001 (www.acme.example)`, or `one of the services 1001, 1002`. */
export function which({ noun, ids, label }: Pick<Objects, "noun" | "ids" | "label">): string {
  if (ids.length > 1) return `one of the ${noun}s ${some(ids)}`;
  return `${noun} ${ids[0]}${label === undefined ? "" : ` (${label})`}`;
}

const differs = ({ address, noun, name, was, becomes, isSecret }: Difference) =>
  isSecret
    ? `${address} declares another value, which is secret.`
    : `The ${noun} has ${name} ${was}; ${address} declares ${becomes}.`;

const existingAs = (given: Objects) =>
  given.ids.length === 1
    ? `${given.address} already exists as ${which(given)}`
    : `${given.address} matches ${given.ids.length} existing ${given.noun}s: ${some(given.ids)}`;

const ANOTHERS = "If it belongs to someone else, declare other values.";

/** A resource that the user named for what cannot be done with it. */
export interface Unfit<Why extends string> extends Words<"address" | "noun"> {
  readonly why: Why;
}

export const objects = {
  "plan.immutable": error((given: Difference & { isPaid: boolean }) => {
    const { address, name, value, isPaid } = given;
    return {
      summary: `The API cannot change ${name} of ${address}`,
      detail: `${differs(given)}${isPaid ? " An apply never orders a replacement automatically." : ""}`,
      remedies: [{ do: "redeclare", attribute: name, value, paid: isPaid }],
    };
  }),
  "plan.immutable/once": error((given: Difference & Words<"id">) => {
    const { address, noun, name, value, id } = given;
    return {
      summary: `The API cannot change ${name} of ${address}`,
      detail: `${differs(given)} The ${noun} stays registered as it is.`,
      remedies: [
        { do: "redeclare", attribute: name, value, paid: "once" },
        "Only the host can change it.",
        { do: "forget", why: "import", id, when: "the host has changed it" },
      ],
    };
  }),
  "plan.immutable/account": error((given: Difference & { isKept: boolean }) => {
    const { address, noun, name, was, becomes, value, isSecret, isKept } = given;
    return {
      summary: isKept
        ? `The host keeps another ${name} of ${address} than was sent`
        : `${name} of ${address} was changed in the account; the declared value is the earlier one`,
      detail: `${isSecret ? "Both values are secret." : `The ${noun} has ${name} ${was}; ${becomes} is declared.`} The API cannot change it.`,
      remedies: [
        "Ask the host to change it back.",
        { do: "follow", attribute: name, value, when: "the account is right" },
      ],
    };
  }),
  "plan.mismatch": error((given: Difference & Words<"id">) => {
    const { address, noun, id, name, value } = given;
    return {
      summary: `${address} cannot adopt ${noun} ${id}: the API cannot change its ${name}`,
      detail: differs(given),
      remedies: [{ do: "correct_import", attribute: name, value }],
    };
  }),
  "config.sensitive": error(({ address, name, from }: Hidden) => ({
    summary: `${name} of ${address} comes from a sensitive source: ${from.join(", ")}`,
    detail: "Approvers decide by this value, so reports must show it.",
    remedies: from.map((source) => {
      const [kind, variable] = source.split(/\.(.*)/s);
      if (kind === "env") return `If anyone may see ${variable}, add it to HOSTFORM_ENV_ALLOW.`;
      return kind === "var"
        ? `If anyone may see the variable ${variable}, declare it as not sensitive.`
        : "Write the value itself.";
    }),
    address,
    attribute: [name],
  })),

  "config.duplicate": error(({ address, noun, other }: Words<"address" | "noun" | "other">) => ({
    summary: `${address} and ${other} declare the same ${noun}`,
    detail: `The values that distinguish one ${noun} from another are the same. No request was sent.`,
    remedies: ["Remove one of the two, or correct the values that they refer to."],
  })),
  "plan.exists/held": error(
    (given: Objects & Words<"owner"> & { readonly isOccupied: boolean; readonly isRemoved: boolean }) => ({
      summary: `${given.address} already exists as ${which(given)}, which ${given.owner} manages`,
      detail: "Only one address can manage an object.",
      remedies: [
        {
          do: "move",
          from: given.owner,
          ...(given.isOccupied && { occupied: true }),
          ...(given.isRemoved && { removed: true }),
          when: "it was renamed",
        },
        "If you want two, declare other values.",
      ],
    }),
  ),
  "plan.exists/copied": error((given: Objects & Words<"holder">) => ({
    summary: `${given.address} already exists as ${which(given)}, which another state holds`,
    detail: `${given.holder} has settled this create. Two states would undo each other.`,
    remedies: [
      { do: "forget", when: "the other state manages it" },
      "If the other state is no longer used, take the object out of it, then plan again here.",
    ],
  })),
  "plan.exists/outside": error(({ noun, id, name, from, to, outside }: HalfExchange) => ({
    summary: `${noun} ${id}${name === undefined ? "" : ` (${name})`} moves from ${from} to ${to} with others`,
    detail: `This run leaves out ${some(outside)}.`,
    remedies: [`Plan ${some(outside)} in the same run: half of an exchange would delete what the rest needs.`],
  })),
  "plan.exists/replaced": error((given: Objects & Words<"id">) => ({
    summary: `${given.address}: ${given.noun} ${given.id} is gone, and ${which(given)} is in its place`,
    detail: `The state still has ${given.noun} ${given.id} at this address.`,
    remedies: [{ do: "import", id: given.object, forgetFirst: true }, ANOTHERS],
  })),
  "plan.exists/unseen": error((given: Objects) => ({
    summary: existingAs(given),
    detail: `This run cannot see whether another address of the state holds ${given.ids.length === 1 ? "it" : "them"}. An apply does not ${given.isPaid ? "order" : "create"} another one.`,
    remedies: [
      { do: "move", when: "another address of the state holds it" },
      { do: "import", id: given.object },
      ANOTHERS,
    ],
  })),
  "plan.exists/twin": error((given: Objects & Words<"id">) => ({
    summary: `${given.address} would replace ${given.noun} ${given.id}, but ${which(given)} exists already`,
    detail: `${given.ids.length === 1 ? "It is" : "They are"} not in the state. The host would refuse the new ${given.noun}, or have two.`,
    remedies: [{ do: "import", id: given.object, forgetFirst: true }, ANOTHERS],
  })),
  "plan.exists": error((given: Objects) => {
    const { noun, ids, object, isPaid } = given;
    return {
      summary: existingAs(given),
      detail: `${ids.length === 1 ? `The ${noun} is` : `The ${noun}s are`} not in the state, and an apply does not ${isPaid ? "order" : "create"} another one.`,
      remedies: [{ do: "import", id: object }, ANOTHERS],
    };
  }),
  "plan.gone/import": error(({ address, noun, object, how }: Gone) => ({
    summary: `${address} cannot adopt ${noun} ${object}: it ${how}`,
    remedies: ["Correct the id of the import, or remove the import."],
  })),
  "api.malformed/other": error(({ noun, id, other }: Words<"noun" | "id" | "other">) => ({
    summary: `The API was asked for ${noun} ${id} and answered with ${other}`,
    remedies: ["Look for a cache or proxy between here and the API. No request follows such an answer."],
  })),
  "api.malformed/listed": error(({ noun, id, said }: Words<"noun" | "id" | "said">) => ({
    summary: `The API answers that ${noun} ${id} does not exist, but lists it`,
    detail: said,
    remedies: [
      "Try again in a minute: a router or proxy may have answered instead of the API. No request follows such an answer.",
    ],
  })),
  "plan.gone/ended": warning(({ noun, object, how }: Omit<Gone, "address">) => ({
    summary: `${noun} ${object} ${how}`,
    detail: `The account still lists it. An apply creates another ${noun}.`,
    remedies: [`If you no longer want the ${noun}, stop declaring it.`],
  })),
  "plan.gone/listed": warning(({ noun, object }: Words<"noun" | "object">) => ({
    summary: `${noun} ${object} counts as ended: the API lists it, but does not find it`,
    detail: "The API answered two deletions with 404.",
    remedies: [`Check the dashboard. If it shows the ${noun} as active, remove it there.`],
  })),
  "plan.unfit/replace": error(({ address, noun, why }: Unfit<"keyless" | "absent">) => ({
    summary:
      why === "keyless"
        ? `${address} cannot be replaced: the API does not delete a ${noun}`
        : `${address} cannot be replaced: this plan has no present ${noun} there`,
    detail: "Webhooks and grants can be replaced.",
    remedies: [
      why === "keyless"
        ? `To have another ${noun}, declare it under a new name.`
        : "Only what exists and is part of the run can be replaced.",
    ],
  })),
  "plan.unfit/reorder": error(({ address, noun, why }: Unfit<"free" | "present">) => ({
    summary:
      why === "free"
        ? `${address} cannot be ordered again: a ${noun} is not ordered under a key`
        : `${address} cannot be ordered again: its ${noun} is not gone`,
    detail: "Only a service that the account no longer has is ordered again.",
    remedies: [
      why === "free"
        ? `Leave the request out: an apply creates a ${noun} again when it is gone.`
        : `To have another ${noun}, declare it under a new name.`,
    ],
  })),
  "plan.unreadable": either((given: Objects & Words<"hidden">) => ({
    summary: `${given.address} may already exist as ${which(given)}: the API shows no readable ${given.hidden}`,
    detail: `The specification does not define the form. An apply creates no second ${given.noun}.`,
    remedies: [
      { do: "import", id: given.object, when: "it is the declared one" },
      "If it is another one, import it under an address of its own, or remove it.",
      { do: "report_shape" },
    ],
  })),
  "plan.lookalike": either(
    (
      given: Objects & {
        readonly other?: readonly [name: string, is: Json, declared: Json];
        /** The plan and the domain that each shows. */
        readonly shown: readonly (readonly [plan: Json, domain: Json])[];
        /** The address of a create without an answer, which may have created one of them. */
        readonly pending?: string | undefined;
      },
    ) => {
      const { address, ids, object, other, shown, pending } = given;
      const one = ids.length === 1;
      const facts = shown.map(([plan, domain]) => {
        const parts = [
          plan === null ? "no plan" : `plan ${openJson(plan)}`,
          domain === null ? "no domain" : openJson(domain),
        ];
        return parts.join(" and ");
      });
      return {
        summary: `${address} may be ${which(given)}, which ${one ? "is" : "are"} not in the state`,
        detail: other
          ? `Its ${other[0]} is ${openJson(other[1])}; ${address} declares ${openJson(other[2])}. A host may rewrite or cut it.`
          : `The API shows ${some([...new Set(facts)], 3)}. ${pending === undefined ? "The state may have been lost." : `The create of ${pending} has no answer and may have created ${one ? "it" : "one"}.`}`,
        remedies: [{ do: "import", id: one ? object : undefined, when: "it is" }, { do: "order_anyway" }],
      };
    },
  ),
  "plan.lookalike/renamed": error(({ address, former }: Words<"address" | "former">) => ({
    summary: `${address} may be ${former} under a new name`,
    detail: `${former} has the same plan and is no longer declared. Without a domain, nothing distinguishes the two.`,
    remedies: [{ do: "move", from: former, when: "it was renamed" }, { do: "order_anyway" }],
  })),
  "secret.output/other": error(
    ({
      address,
      name,
      place,
      recorded,
      other,
    }: Words<"address" | "name" | "place" | "other"> & { readonly recorded?: string | undefined }) => ({
      summary:
        recorded === undefined
          ? `${place} already holds a secret, and the state does not know the ${name} of ${address}`
          : `${place} holds another secret than the recorded ${name} of ${address}`,
      detail: `${recorded === undefined ? "" : `Recorded: ${recorded}. `}There: ${other}. It may exist nowhere else, so it is not overwritten.`,
      remedies: ["Move that secret away, or name another place for the new one."],
    }),
  ),
  "secret.output/held": error(({ address, noun, id, from, name, place, other, isOccupied }: HeldSecret) => ({
    summary: `${noun} ${id} moves from ${from} to ${address}, but its ${name} was written to ${place}`,
    detail: `${address} declares ${other ?? "no secret_output"}, and the ${name} is not in the state.`,
    remedies: [
      `Declare secret_output of ${address} as it was at ${from}: the place goes with the ${noun}.`,
      { do: "move", from, ...(isOccupied && { occupied: true }), when: `you have moved the ${name} yourself` },
    ],
  })),
  "plan.expired": either(({ address, expired }: Words<"address" | "expired">) => ({
    summary: `${address} is not created: ${expired}`,
    remedies: ["Remove it, or declare a later expires_at."],
  })),
  "state.missing": error(({ place, count, isNew, holder, others, backup, providers }: MissingState) => ({
    summary: `${isNew ? `This project has no state here (${place})` : `The state of this project is empty (${place})`}, but the account has ${count} of its objects`,
    detail:
      holder !== undefined
        ? `${holder} holds them.`
        : others.length > 0
          ? `The same folder has ${some(others)}.`
          : backup !== undefined
            ? `${backup} has the state before its last change, with the secrets that only the state had.`
            : "The state may be in another checkout, in an undeclared backend, or in another environment.",
    remedies: [
      "If the state is elsewhere, put it here, or declare its backend.",
      ...(backup === undefined ? [] : [{ do: "restore_state", backup } as const]),
      { do: "recover", providers },
    ],
  })),
  "state.shared": warning(({ address, noun, id, other, place, lastSeen, here, more }: Shared) => ({
    summary: `${address} is ${noun} ${id}, which ${other ?? "another address"} in ${place} also manages${more > 0 ? `, as ${more} more object${more === 1 ? "" : "s"}` : ""}`,
    detail: `Seen there at ${lastSeen}. Here is ${here}.`,
    remedies: [
      "Keep an object in one state: each run undoes what the other one declares.",
      { do: "forget", when: "the other state is to manage it" },
    ],
  })),
  "plan.unknown_date": warning(({ address, name, is }: Words<"address" | "name"> & { readonly is: Json }) => ({
    summary: `${name} of ${address} is unreadable: the API shows ${openJson(is)}`,
    detail: `An unreadable date changes nothing, so ${name} keeps its value.`,
    remedies: [`Compare ${name} with the dashboard.`, { do: "report_shape" }],
  })),
  "api.form": warning((given: Form) => ({
    summary: inOwnForm(given),
    detail: `The API created the ${given.noun} and writes the value differently. Both values count as equal.`,
    remedies: [
      given.isMasked
        ? "Nothing needs to be done: the API keeps the whole value."
        : "If you meant another value, declare it as the API shows it.",
    ],
  })),
  "api.form/other": warning((given: Form) => ({
    summary: inOwnForm(given),
    detail: "The value may cost or expose more, so it is a difference in the next plan.",
    remedies: ["If the value of the API is right, declare it."],
  })),
} satisfies Catalogue;
