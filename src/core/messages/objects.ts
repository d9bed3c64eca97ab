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

/** An object that another address declares, where one of the two addresses is not part of the run. */
export interface HalfExchange extends Words<"noun" | "id" | "from" | "to"> {
  readonly name: string | undefined;
  readonly outside: readonly string[];
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

/** Deletion policies by which an object without a DELETE leaves the state. */
type Policies = { readonly policies: readonly string[] };

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
  "plan.immutable/provider": error(({ address, from, to }: Words<"address" | "from" | "to">) => ({
    summary: `${address} cannot move from provider ${from} to ${to}`,
    detail: "The two are different accounts; the API has no call that moves an object from one to the other.",
    remedies: [
      { do: "use_provider", provider: from },
      { do: "forget", why: "import" },
    ],
  })),
  "plan.mismatch": error((given: Difference & Words<"id">) => {
    const { address, noun, id, name, value } = given;
    return {
      summary: `${address} cannot adopt ${noun} ${id}: the API cannot change its ${name}`,
      detail: differs(given),
      remedies: [{ do: "correct_import", attribute: name, value }],
    };
  }),

  "config.duplicate": error(({ address, noun, other }: Words<"address" | "noun" | "other">) => ({
    summary: `${address} and ${other} declare the same ${noun}`,
    detail: `The values that distinguish one ${noun} from another are the same. No request was sent.`,
    remedies: ["Remove one of the two, or correct the values that they refer to."],
  })),
  "config.duplicate/object": error(({ address, other, noun, id }: Resource & Words<"other" | "id">) => ({
    summary: `${address} and ${other} are the same ${noun} ${id}`,
    detail: "Only one address can manage an object.",
    remedies: ["Keep one of the two.", { do: "move", from: other, when: "it was renamed, leave the import out" }],
  })),
  "plan.exists/recorded": error(({ address, noun, owner }: Resource & Words<"owner">) => ({
    summary: `${address} is the same ${noun} as ${owner}, which is in the state`,
    detail: `The API cannot show a ${noun}, so only the state has a record of it. A second order would cost money.`,
    remedies: [{ do: "move", from: owner, when: "it was renamed" }, "Otherwise declare it once."],
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
  "plan.expired": either(({ address, expired }: Words<"address" | "expired">) => ({
    summary: `${address} is not created: ${expired}`,
    remedies: ["Remove it, or declare a later expires_at."],
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
  "plan.prevented": error(({ address, noun, id, policies }: Resource & Words<"id"> & Policies) => ({
    summary: `${address} (${noun} ${id}) may not be removed`,
    detail: `The API cannot delete a ${noun}, and the recorded deletion_policy is "prevent".`,
    remedies: [{ do: "release", policies, to: "remove" }, { do: "forget" }],
  })),
  // The same text for each resource of the kind, so that a report can fold them.
  "plan.prevented/kept": warning(({ noun, policies }: Words<"noun"> & Policies) => ({
    summary: `A ${noun} stays: the API cannot delete it, and its recorded deletion_policy is "prevent"`,
    remedies: [{ do: "release", policies, to: "destroy" }, { do: "forget" }],
  })),
  "plan.prevented/early": either(({ address, noun, status }: Resource & Words<"status">) => ({
    summary: `${address} may not be removed yet: its status is ${status}`,
    detail: `The recorded deletion_policy is "suspend", and a ${noun} that is not live cannot be suspended.`,
    remedies: ["Wait until it is live, and apply again.", { do: "forget" }],
  })),
  "plan.prevented/lifecycle": error(
    ({ address, former, isReplaced }: Words<"address"> & { former: string | undefined; isReplaced: boolean }) => ({
      summary: `${address} may not be ${isReplaced ? "replaced" : "removed"}: ${former === undefined ? "it" : `${former}, its former address,`} has prevent_destroy`,
      remedies: ["To allow it, remove prevent_destroy first. Otherwise undo the change that requires it."],
    }),
  ),
} satisfies Catalogue;
