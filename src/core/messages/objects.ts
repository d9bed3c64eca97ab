/** Messages about objects of the account that are or may be declared resources. */
import { type Json, openJson, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";

/** Resource of a message. `noun`: noun of its kind, for example "service". */
export type Resource = Words<"address" | "noun">;

/** Objects of the account. `label`: domain or e-mail address of the first. */
export interface Objects extends Resource {
  readonly ids: readonly string[];
  readonly label?: string | undefined;
  /** Import id of the first object. */
  readonly object: string | undefined;
  /** True if each object costs money. */
  readonly isPaid: boolean;
}

/** A declared value, and the value of the object. */
export interface Difference extends Words<"address" | "noun" | "name" | "was" | "becomes"> {
  /** Old value for a remedy. Undefined if secret or unknown. */
  readonly value?: Json | undefined;
  readonly isSecret: boolean;
}

/** A swap of two addresses, of which the run includes only one. */
export interface HalfExchange extends Words<"noun" | "id" | "from" | "to"> {
  readonly name: string | undefined;
  readonly outside: readonly string[];
}

/** The sent value, and the value that the host returned. Undefined if secret. */
export interface Form extends Words<"address" | "noun" | "name"> {
  readonly sent?: Json | undefined;
  readonly is?: Json | undefined;
  /** True if the host hides a part of the value. */
  readonly isMasked?: boolean;
}

const inOwnForm = ({ address, name, sent, is, isMasked = false }: Form) => {
  if (isMasked) return `The API hides a part of "${name}" of ${address}`;
  return sent === undefined || is === undefined
    ? `"${name}" of ${address} differs in the API from the request`
    : `The API returns "${name}" of ${address} as ${openJson(is)}; the request had ${openJson(sent)}`;
};

/** Values of `deletion_policy` that release an object which the API cannot delete. */
type Policies = { readonly policies: readonly string[] };

type Gone = Words<"address" | "noun" | "object" | "how">;

/** Returns text such as `service 1001 (www.acme.example)` or `one of the services 1001, 1002`. */
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

const ANOTHERS = "If it belongs to another owner, declare another domain, e-mail address or URL.";

/** A resource for which the requested action is impossible. */
export interface Unfit<Why extends string> extends Words<"address" | "noun"> {
  readonly why: Why;
}

export const objects = {
  "plan.immutable": error((given: Difference & { isPaid: boolean }) => {
    const { address, name, value, isPaid } = given;
    return {
      summary: `The API cannot change "${name}" of ${address}`,
      detail: `${differs(given)}${isPaid ? " An apply never orders a replacement automatically." : ""}`,
      remedies: [{ do: "redeclare", attribute: name, value, paid: isPaid }],
    };
  }),
  "plan.immutable/once": error((given: Difference & Words<"id">) => {
    const { address, noun, name, value, id } = given;
    return {
      summary: `The API cannot change "${name}" of ${address}`,
      detail: `${differs(given)} The ${noun} stays registered with its present value.`,
      remedies: [
        { do: "redeclare", attribute: name, value, paid: "once" },
        `Only the host can change "${name}".`,
        { do: "forget", why: "import", id, when: `the host has changed "${name}"` },
      ],
    };
  }),
  "plan.immutable/account": error((given: Difference & { isKept: boolean }) => {
    const { address, name, was, becomes, value, isSecret, isKept } = given;
    return {
      summary: isKept
        ? `"${name}" of ${address}: the host returned a different value than requested`
        : `"${name}" of ${address} was changed in the account; the earlier value is declared`,
      detail: `${isSecret ? "Both values are secret." : `The account has ${was}; ${becomes} is declared.`} The API cannot change this attribute.`,
      remedies: [
        "Ask the host to restore the declared value.",
        { do: "follow", attribute: name, value, when: "the value in the account is correct" },
      ],
    };
  }),
  "plan.immutable/provider": error(({ address, from, to }: Words<"address" | "from" | "to">) => ({
    summary: `${address} cannot move from provider ${from} to ${to}`,
    detail: "The providers are different accounts, and the API has no call that moves an object to another account.",
    remedies: [
      { do: "use_provider", provider: from },
      { do: "forget", why: "import" },
    ],
  })),
  "plan.mismatch": error((given: Difference & Words<"id">) => {
    const { address, noun, id, name, value } = given;
    return {
      summary: `${address} cannot adopt ${noun} ${id}: the API cannot change "${name}"`,
      detail: differs(given),
      remedies: [{ do: "correct_import", attribute: name, value }],
    };
  }),

  "config.duplicate": error({
    summary: "{address} and {other} declare the same {noun}",
    detail: "The values that identify a {noun} are the same. No request was sent.",
    remedies: ["Remove {address} or {other}, or correct their values."],
  }),
  "config.duplicate/object": error(({ address, other, noun, id }: Resource & Words<"other" | "id">) => ({
    summary: `${address} and ${other} are the same ${noun} ${id}`,
    detail: "Only one address can manage an object.",
    remedies: [
      `Keep either ${address} or ${other}.`,
      { do: "move", from: other, when: "it was renamed, remove the import" },
    ],
  })),
  "plan.exists/recorded": error(({ address, noun, owner }: Resource & Words<"owner">) => ({
    summary: `${address} is the same ${noun} as ${owner} in the state`,
    detail: `The API has no call that shows a ${noun}, so only the state has this order. A second order would cost money.`,
    remedies: [{ do: "move", from: owner, when: "it was renamed" }, `Otherwise remove ${address}.`],
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
        `To get a second ${given.noun}, declare another domain, e-mail address or URL.`,
      ],
    }),
  ),
  "plan.exists/copied": error((given: Objects & Words<"holder">) => ({
    summary: `${given.address} already exists as ${which(given)}, which is in another state`,
    detail: `${given.holder} adopted this ${given.noun}. Two states would revert the changes of each other.`,
    remedies: [
      { do: "forget", when: "the other state manages it" },
      "If the other state is no longer used, remove the object from it. Then plan again here.",
    ],
  })),
  "plan.exists/outside": error(({ noun, id, name, from, to, outside }: HalfExchange) => ({
    summary: `${noun} ${id}${name === undefined ? "" : ` (${name})`} moves from ${from} to ${to} together with other objects`,
    detail: `This run does not include ${some(outside)}.`,
    remedies: [
      `Include ${some(outside)} in the run. Without it, a part of the swap would delete objects that the other part needs.`,
    ],
  })),
  "plan.exists/replaced": error((given: Objects & Words<"id">) => ({
    summary: `${given.address}: ${given.noun} ${given.id} no longer exists, and ${which(given)} has replaced it`,
    detail: `The state still has ${given.noun} ${given.id} at this address.`,
    remedies: [{ do: "import", id: given.object, forgetFirst: true }, ANOTHERS],
  })),
  "plan.exists/unseen": error((given: Objects) => ({
    summary: existingAs(given),
    detail: `Another address of the state may manage ${given.ids.length === 1 ? `this ${given.noun}` : `these ${given.noun}s`}. An apply does not ${given.isPaid ? "order" : "create"} a duplicate.`,
    remedies: [
      { do: "move", when: `another address of the state holds the ${given.noun}` },
      { do: "import", id: given.object },
      ANOTHERS,
    ],
  })),
  "plan.exists/twin": error((given: Objects & Words<"id">) => ({
    summary: `${given.address} would replace ${given.noun} ${given.id}, but ${which(given)} exists already`,
    detail: `${given.ids.length === 1 ? `The existing ${given.noun} is` : `The existing ${given.noun}s are`} not in the state. The host would reject the new ${given.noun}, or have two.`,
    remedies: [{ do: "import", id: given.object, forgetFirst: true }, ANOTHERS],
  })),
  "plan.exists": error((given: Objects) => {
    const { noun, ids, object, isPaid } = given;
    return {
      summary: existingAs(given),
      detail: `${ids.length === 1 ? `The ${noun} is` : `The ${noun}s are`} not in the state, and an apply does not ${isPaid ? "order" : "create"} a second ${noun}.`,
      remedies: [{ do: "import", id: object }, ANOTHERS],
    };
  }),
  "plan.gone/import": error({
    summary: "{address} cannot adopt {noun} {object}: it {how}",
    remedies: ["Correct the id of the import, or remove the import."],
  }),
  "api.malformed/other": error({
    summary: "The API returned {other} in response to a request for {noun} {id}",
    remedies: [
      "Check for a cache or proxy between this machine and the API. After such a response, no further request is sent.",
    ],
  }),
  "api.malformed/listed": error({
    summary: "The API returned 404 for {noun} {id}, but lists the {noun}",
    detail: "{said}",
    remedies: [
      "Try again in a minute: the response may come from a router or proxy. After such a response, no further request is sent.",
    ],
  }),
  "plan.gone/ended": warning(({ noun, object, how }: Omit<Gone, "address">) => ({
    summary: `${noun} ${object} ${how}`,
    detail: `The account still lists this ${noun}. An apply creates a new ${noun}.`,
    remedies: [`If you no longer want the ${noun}, stop declaring it.`],
  })),
  "plan.gone/listed": warning({
    summary: "{noun} {object} is treated as deleted: the API lists it, but returns 404 for it",
    detail: "Two DELETE requests returned 404.",
    remedies: ["Check the dashboard. If it shows the {noun} as active, delete the {noun} in the dashboard."],
  }),
  "plan.unfit/replace": error(({ address, noun, why }: Unfit<"keyless" | "absent">) => ({
    summary:
      why === "keyless"
        ? `${address} cannot be replaced: the API cannot delete a ${noun}`
        : `${address} cannot be replaced: the plan has no existing ${noun} at this address`,
    detail: "Only webhooks and grants can be replaced.",
    remedies: [
      why === "keyless"
        ? `To order a new ${noun}, declare it under a new name.`
        : "Replace only a resource that exists and is part of the run.",
    ],
  })),
  "plan.unfit/reorder": error(({ address, noun, why }: Unfit<"free" | "present">) => ({
    summary:
      why === "free"
        ? `${address} cannot be ordered again: a ${noun} is not ordered`
        : `${address} cannot be ordered again: its ${noun} still exists`,
    detail: "Only a service that no longer exists can be ordered again.",
    remedies: [
      why === "free"
        ? `Apply without this option: an apply recreates a ${noun} that no longer exists.`
        : `To order a new ${noun}, declare it under a new name.`,
    ],
  })),
  "plan.unreadable": either((given: Objects & Words<"hidden">) => ({
    summary: `${given.address} may already exist as ${which(given)}: the API returns no readable ${given.hidden}`,
    detail: `The specification does not define the format. An apply creates no second ${given.noun}.`,
    remedies: [
      { do: "import", id: given.object, when: "it is the declared resource" },
      `If it is another ${given.noun}, import it at another address, or remove it.`,
      { do: "report_shape" },
    ],
  })),
  "plan.lookalike": either(
    (
      given: Objects & {
        readonly other?: readonly [name: string, is: Json, declared: Json];
        /** Hosting plan and domain of each object. */
        readonly shown: readonly (readonly [plan: Json, domain: Json])[];
        /** Address of a create request with a lost response. It may have created one of the objects. */
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
          ? `Its ${other[0]} is ${openJson(other[1])}; ${address} declares ${openJson(other[2])}. Some hosts shorten this value.`
          : `The API shows ${some([...new Set(facts)], 3)}. ${pending === undefined ? "The state may have been lost." : `The unanswered request for ${pending} may have created ${one ? "it" : "one"}.`}`,
        remedies: [
          { do: "import", id: one ? object : undefined, when: `${which(given)} is ${address}` },
          { do: "order_anyway" },
        ],
      };
    },
  ),
  "plan.lookalike/named": error({
    summary: "Several {noun}s have the name {name}: {ids}",
    remedies: ["Import the {noun} by its id."],
  }),
  "plan.lookalike/renamed": error(({ address, former }: Words<"address" | "former">) => ({
    summary: `${address} may be ${former} under a new name`,
    detail: `${former} has the same hosting plan and is no longer declared. Without a domain, the two cannot be distinguished.`,
    remedies: [{ do: "move", from: former, when: "it was renamed" }, { do: "order_anyway" }],
  })),
  "plan.expired": either({
    summary: "{address} is not created: {expired}",
    remedies: ["Remove {address}, or declare a later expires_at."],
  }),
  "plan.unknown_date": warning(({ address, name, is }: Words<"address" | "name"> & { readonly is: Json }) => ({
    summary: `"${name}" of ${address} is not a valid date: the API returns ${openJson(is)}`,
    detail: `An invalid date causes no change, so ${name} keeps its value.`,
    remedies: [`Compare ${name} with the dashboard.`, { do: "report_shape" }],
  })),
  "api.form": warning((given: Form) => ({
    summary: inOwnForm(given),
    detail: `The API created the ${given.noun} and returns the value in another format. This is not a difference.`,
    remedies: [
      given.isMasked
        ? "No action is needed: the API keeps the whole value."
        : "If the returned value is wrong, correct the declared value.",
    ],
  })),
  "api.form/other": warning((given: Form) => ({
    summary: inOwnForm(given),
    detail: "The value may cost more or expose more. The next plan shows the difference.",
    remedies: ["If the value of the API is correct, declare that value."],
  })),
  "plan.prevented": error(({ address, noun, id, policies }: Resource & Words<"id"> & Policies) => ({
    summary: `${address} (${noun} ${id}) cannot be removed`,
    detail: `The API cannot delete a ${noun}, and the deletion_policy in the state is "prevent".`,
    remedies: [{ do: "release", policies, to: "remove" }, { do: "forget" }],
  })),
  // All resources of a kind need the same text, so that a report can fold them.
  "plan.prevented/kept": warning(({ noun, policies }: Words<"noun"> & Policies) => ({
    summary: `A ${noun} is not removed: the API cannot delete it, and its deletion_policy in the state is "prevent"`,
    remedies: [{ do: "release", policies, to: "destroy" }, { do: "forget" }],
  })),
  "plan.prevented/early": either({
    summary: "{address} cannot be removed yet: its status is {status}",
    detail: 'The deletion_policy in the state is "suspend", and a {noun} that is not live cannot be suspended.',
    remedies: ["Wait until the {noun} is live, and apply again.", { do: "forget" }],
  }),
  "plan.prevented/skip_destroy": error({
    summary: "{address} cannot be replaced: it has destroy = false",
    detail: "The object that it replaces would stay beside the new object.",
    remedies: ["Remove destroy = false and apply first. Otherwise undo the change that replaces {address}."],
  }),
  "plan.prevented/lifecycle": error(
    ({ address, former, isReplaced }: Words<"address"> & { former: string | undefined; isReplaced: boolean }) => ({
      summary: `${address} cannot be ${isReplaced ? "replaced" : "removed"}: ${former === undefined ? "it" : `${former}, its former address,`} has prevent_destroy`,
      remedies: [
        `To allow this, remove prevent_destroy and apply first. Otherwise undo the change that ${isReplaced ? "replaces" : "removes"} ${address}.`,
      ],
    }),
  ),
} satisfies Catalogue;
