/** Messages about creates without an answer. */
import { type Json, type JsonObject, openJson } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import { type Objects, type Resource, which } from "./objects.ts";

/** The reason for a doubt that a create created an object. */
export interface Doubt {
  /** The object shows a value in another form than it was sent. */
  readonly form?: readonly [name: string, is: Json, sent: Json] | undefined;
  /** Name of the plan that each of them has in place of the ordered one; null if the host shows only its number. */
  readonly otherPlan?: Json | undefined;
  /** Names of the attributes that the API does not show in a readable form. Empty: none. */
  readonly hidden: string;
  /** An object with another creation time than the request. */
  readonly created?: Words<"id" | "at"> | undefined;
  /** Time of the first request (ISO 8601). */
  readonly since: string;
}

function doubtOf({ ids, otherPlan, form, hidden, created, since }: Doubt & Pick<Objects, "ids">): string {
  if (otherPlan !== undefined) return `but of another plan${otherPlan === null ? "" : ` (${openJson(otherPlan)})`}`;
  if (form) return `but its ${form[0]} is ${openJson(form[1])} and the request had ${openJson(form[2])}`;
  if (hidden !== "") return `and the API shows no readable ${hidden}`;
  if (created) return `but ${created.id} was created at ${created.at}; the request left at ${since}`;
  return `and nothing else shows who created ${ids.length === 1 ? "it" : "them"}`;
}

/** An object beside the create that did not create it. */
type Rejected = Words<"address" | "noun" | "id">;

/** An object that differs from what was sent. Values are absent where they are secret, or differ in a part that is. */
export interface OtherObject {
  readonly differences: readonly {
    readonly name: string;
    readonly is?: Json | undefined;
    readonly sent?: Json | undefined;
  }[];
  /** The object cannot be adopted. */
  readonly isFinal: boolean;
}

const differing = ({ name, is, sent }: OtherObject["differences"][number]) =>
  is === undefined || sent === undefined
    ? `its ${name} is another one`
    : `its ${name} is ${openJson(is)}, not ${openJson(sent)}`;

export interface Removal extends Words<"address" | "since" | "reason"> {
  /** The next run may decide. */
  readonly isWaiting: boolean;
  /** Only a person can decide: no apply does. */
  readonly isQuestion: boolean;
  /** Moment from which a list can prove absence (ISO 8601). */
  readonly until: string | undefined;
}

/** The object in the answer to an earlier order. */
export interface Replayed extends Resource {
  readonly object: string | undefined;
}

const replayed = ({ address, noun, object }: Replayed) =>
  `The API replayed an earlier order for ${address}; its ${noun} ${object}`;

const UNORDERED = "No order was placed.";

export const creates = {
  "plan.pending/blind": either(({ address, noun }: Resource) => ({
    summary: `${address} may already be ordered: the answer to its request was lost`,
    detail: `The API cannot show a ${noun}, so no run sends the request again.`,
    remedies: [{ do: "resolve" }],
  })),
  "plan.pending/accepted": either(({ address, noun }: Resource) => ({
    summary: `The API accepted the request for ${address}, but no list shows the ${noun} yet`,
    detail: `Its answer names no ${noun}; a job may create it. Each run looks for it, and none sends the request again.`,
    remedies: ["Apply again later.", { do: "resolve", as: "absent", when: "it was not created" }],
  })),
  "plan.pending/undecided": either((given: Objects & Doubt & { isAccepted: boolean }) => {
    const { address, noun, ids, object, isAccepted } = given;
    const one = ids.length === 1;
    const answer = isAccepted ? `the API accepted its create and named no ${noun}` : "its create has no answer";
    return {
      summary: `${address} may be ${which(given)}: ${answer}`,
      detail: `The ${noun}${one ? " is" : "s are"} new, ${doubtOf(given)}.`,
      remedies: [{ do: "resolve", object: one ? object : undefined }],
    };
  }),
  "plan.pending/changed": error(({ address, noun, id }: Rejected) => ({
    summary: `${address} is not ${noun} ${id}: the account changed since the plan`,
    detail: `The plan adopts that ${noun} for a create without an answer. No request was sent.`,
    remedies: ["Plan again, then apply."],
  })),
  "plan.pending/repeated": error(({ address, since, sent }: Words<"address" | "since"> & { sent: JsonObject }) => ({
    summary: `The API refused the repeated request for ${address}`,
    detail: `The request of ${since} has no answer. This run sent it again unchanged; new values count after you resolve it.`,
    remedies: [{ do: "resolve", as: "absent", when: "the first request created nothing", sent }],
  })),
  "plan.pending/turns": error(({ address, turns }: Words<"address"> & { turns: number }) => ({
    summary: `This run did not send the create of ${address} again`,
    detail: `Other runs created objects in each of ${turns} turns.`,
    remedies: [{ do: "apply_again" }],
  })),
  "plan.pending/removal": either(({ address, since, reason, isWaiting, isQuestion, until }: Removal) => ({
    summary: `The removal of ${address} must wait: its create has no answer`,
    detail: `The request left at ${since}: ${reason}.${until === undefined ? "" : ` The wait ends at ${until}.`}`,
    remedies: [...(isWaiting ? [{ do: "apply_again" } as const] : []), { do: "resolve", removing: !isQuestion }],
  })),
  "apply.replayed": warning(({ address, noun, object }: Replayed) => ({
    summary: `An earlier order created ${noun} ${object}: ${address} adopts it and orders nothing new`,
  })),
  "apply.replayed/found": warning(({ address, noun, object }: Replayed) => ({
    summary: `The answer to the order of ${address} was lost: the order created ${noun} ${object}, which ${address} adopts`,
  })),
  "apply.replayed/held": error(({ address, noun, object, owner }: Replayed & Words<"owner">) => ({
    summary: `The API answered the order of ${address} with ${noun} ${object}, which ${owner} manages`,
    detail: `${UNORDERED} Both have one reference, or ${owner} adopted the wrong ${noun}.`,
    remedies: ["Correct the reference.", { do: "forget", address: owner, why: "import" }],
  })),
  "apply.replayed/older": error((given: Replayed) => ({
    summary: `${replayed(given)} existed before`,
    detail: `An earlier order has the same project and name. ${UNORDERED}`,
    remedies: [
      { do: "import", id: given.object, when: "it is the declared one" },
      "To order another one, declare an unused reference.",
    ],
  })),
  "apply.replayed/gone": error((given: Replayed) => ({
    summary: `${replayed(given)} no longer exists`,
    detail: `The API still has the Idempotency-Key of that order and repeated its answer. ${UNORDERED}`,
    remedies: [{ do: "reorder", replayed: true }],
  })),
  "apply.replayed/other": error((given: Replayed & Words<"name" | "is" | "declared">) => ({
    summary: `${replayed(given)} has ${given.name} ${given.is}, not ${given.declared}`,
    detail: `An earlier order has the same project and name. ${UNORDERED}`,
    remedies: [
      "Declare another reference to order it.",
      { do: "import", id: given.object, when: `the existing ${given.noun} will do` },
    ],
  })),
  "secret.lost": warning(({ address, noun, object }: Replayed) => ({
    summary: `The answer with the secret of ${address} was lost: this run deleted ${noun} ${object} and creates it again`,
    detail: "The API returns the secret only once, in that answer.",
  })),
  "plan.exists/elsewhere": error(
    ({
      address,
      noun,
      object,
      at,
      isLost,
      isOwn,
    }: Words<"address" | "noun" | "object" | "at"> & Record<"isLost" | "isOwn", boolean>) => ({
      summary: `${isOwn ? "An earlier run" : "A run with another state"} ${isLost ? "requested" : "ordered"} ${noun} ${object} at ${at}${isLost ? " and got no answer" : ""}`,
      detail: `The API cannot show a ${noun}, so an apply sends no second order for ${address}.`,
      remedies: [
        { do: "import", id: object, when: "it was ordered and this state is to manage it" },
        { do: "order_anyway" },
        "Otherwise stop declaring it.",
      ],
    }),
  ),
  "usage/held": error(({ address, noun, id, owner }: Rejected & Words<"owner">) => ({
    summary: `${address} cannot adopt ${noun} ${id}: it is already in the state, as ${owner}`,
    detail: "Only one address can manage an object.",
    remedies: ["Name the object that the request created."],
  })),
  "usage/sibling": error(({ address, noun, id, sibling }: Rejected & Words<"sibling">) => ({
    summary: `${address} cannot adopt ${noun} ${id}: ${sibling} requested it`,
    detail: `The create of ${sibling} has no answer either.`,
    remedies: [`Resolve ${sibling} first.`],
  })),
  "usage/created": error(({ address, noun, id, undeclared }: Rejected & { readonly undeclared: boolean }) => ({
    summary: `The request for ${address} created ${noun} ${id}`,
    detail: `A create without an object would leave the ${noun} in the account and in no state. Nothing was settled.`,
    remedies: undeclared
      ? ["It is not declared: to keep it, declare it again and apply.", { do: "forget" }]
      : [{ do: "apply_again" }],
  })),
  "usage/differs": error(({ address, noun, id, differences, isFinal }: Rejected & OtherObject) => ({
    summary: `${address} cannot adopt ${noun} ${id}: ${differences.map(differing).join("; ")}`,
    detail: isFinal
      ? "The request did not create it, and an apply would delete it."
      : `The request may not have created this ${noun}.`,
    remedies: isFinal
      ? [{ do: "import", id, when: "this address is to manage it, and its values are declared" }]
      : [{ do: "resolve", as: "forced", object: id, when: "you have looked at it and the request created it" }],
  })),
  "usage/other": error(({ address, noun, id, isOlder }: Rejected & { isOlder: boolean }) => ({
    summary: `${address} cannot adopt ${noun} ${id}: the request did not create it`,
    detail: isOlder ? "It existed before the request left." : "It is not as it was requested.",
    remedies: [{ do: "import", id, when: "this address is to manage it" }],
  })),
} satisfies Catalogue;
