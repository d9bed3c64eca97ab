/** Messages about create requests whose response was lost. */
import { type Json, type JsonObject, openJson } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import { type Objects, type Resource, which } from "./objects.ts";

/** Reasons why an object may not be the result of the create request. */
export interface Doubt {
  /** An attribute whose value has another format than in the request. */
  readonly form?: readonly [name: string, is: Json, sent: Json] | undefined;
  /** Name of the objects' hosting plan if it differs from the order. Null if the host returns only the number. */
  readonly otherPlan?: Json | undefined;
  /** Names of attributes that hostform cannot read. Empty if all are readable. */
  readonly hidden: string;
  /** An object that was not created at the time of the request. */
  readonly created?: Words<"id" | "at"> | undefined;
  /** Time of the first attempt (ISO 8601). */
  readonly since: string;
}

function doubtOf({ ids, otherPlan, form, hidden, created, since }: Doubt & Pick<Objects, "ids">): string {
  if (otherPlan !== undefined)
    return `but of another hosting plan${otherPlan === null ? "" : ` (${openJson(otherPlan)})`}`;
  if (form) return `but its ${form[0]} is ${openJson(form[1])} and the request had ${openJson(form[2])}`;
  if (hidden !== "") return `and the API shows no readable ${hidden}`;
  if (created) return `but ${created.id} was created at ${created.at}; the request is from ${since}`;
  return `and nothing shows who created ${ids.length === 1 ? "it" : "them"}`;
}

/** An object that the create request did not create. */
type Rejected = Words<"address" | "noun" | "id">;

/** An object that differs from the request. Values are undefined if they differ only in a secret part. */
export interface OtherObject {
  readonly differences: readonly {
    readonly name: string;
    readonly is?: Json | undefined;
    readonly sent?: Json | undefined;
  }[];
  /** True if the object cannot be adopted. */
  readonly isFinal: boolean;
}

const differing = ({ name, is, sent }: OtherObject["differences"][number]) =>
  is === undefined || sent === undefined
    ? `its ${name} differs`
    : `its ${name} is ${openJson(is)}, not ${openJson(sent)}`;

export interface Removal extends Words<"address" | "since" | "reason"> {
  /** True if a later run may decide. */
  readonly isWaiting: boolean;
  /** True if only a person can decide. */
  readonly isQuestion: boolean;
  /** Earliest time when a list can prove that the object does not exist (ISO 8601). Undefined if no list can. */
  readonly until: string | undefined;
}

/** The object in the response to an earlier order. */
export interface Replayed extends Resource {
  readonly object: string | undefined;
}

const replayed = ({ address, noun, object }: Replayed) =>
  `The API returned the response of an earlier order for ${address}: ${noun} ${object}`;

const UNORDERED = "Nothing was ordered.";

export const creates = {
  "plan.pending/blind": either(({ address, noun }: Resource) => ({
    summary: `${address} may already be ordered: the response to its request was lost`,
    detail: `The API has no call that shows a ${noun}, so no run sends the request again.`,
    remedies: [{ do: "resolve" }],
  })),
  "plan.pending/accepted": either(({ address, noun }: Resource) => ({
    summary: `The API accepted the request for ${address}, but no list shows the ${noun} yet`,
    detail: `A job may create the ${noun} later. Each run checks the lists, and none sends the request again.`,
    remedies: ["Apply again later.", { do: "resolve", as: "absent", when: "it was not created" }],
  })),
  "plan.pending/undecided": either((given: Objects & Doubt & { isAccepted: boolean }) => {
    const { address, noun, ids, object, isAccepted } = given;
    const one = ids.length === 1;
    const outcome = isAccepted ? "its response has no id" : "its request got no response";
    return {
      summary: `${address} may be ${which(given)}: ${outcome}`,
      detail: `The ${noun}${one ? " is" : "s are"} new, ${doubtOf(given)}.`,
      remedies: [{ do: "resolve", object: one ? object : undefined }],
    };
  }),
  "plan.pending/changed": error({
    summary: "The plan is out of date: {address} is not {noun} {id}",
    detail:
      "The plan adopts this {noun} as the result of a request without a response. The account has changed. No request was sent.",
    remedies: ["Plan again, then apply."],
  }),
  "plan.pending/repeated": error(({ address, since, sent }: Words<"address" | "since"> & { sent: JsonObject }) => ({
    summary: `The API rejected the repeated request for ${address}`,
    detail: `The response to the request of ${since} was lost. This run sent it again unchanged; new values apply after you resolve it.`,
    remedies: [{ do: "resolve", as: "absent", when: "the first request created nothing", sent }],
  })),
  "plan.pending/turns": error({
    summary: "This run did not send the create request of {address} again",
    detail: "This run had the create lock {turns} times. Each time, another run had created objects shortly before.",
    remedies: [{ do: "apply_again" }],
  }),
  "plan.pending/removal": either(({ address, since, reason, isWaiting, isQuestion, until }: Removal) => ({
    summary: `${address} cannot be removed yet: the response to its create request was lost`,
    detail: `The request was sent at ${since}: ${reason}.${until === undefined ? "" : ` The wait ends at ${until}.`}`,
    remedies: [...(isWaiting ? [{ do: "apply_again" } as const] : []), { do: "resolve", removing: !isQuestion }],
  })),
  "apply.replayed": warning(({ address, noun, object }: Replayed) => ({
    summary: `An earlier order created ${noun} ${object}: ${address} adopts it and orders nothing new`,
  })),
  "apply.replayed/found": warning(({ address, noun, object }: Replayed) => ({
    summary: `The response to the order of ${address} was lost: the order created ${noun} ${object}, which ${address} adopts`,
  })),
  "apply.replayed/held": error(({ address, noun, object, owner }: Replayed & Words<"owner">) => ({
    summary: `The API returned ${noun} ${object} for ${address}, but ${owner} manages it`,
    detail: `${UNORDERED} The references are equal, or ${owner} adopted the wrong ${noun}.`,
    remedies: [`Correct the reference of ${address}.`, { do: "forget", address: owner, why: "import" }],
  })),
  "apply.replayed/older": error((given: Replayed) => ({
    summary: `${replayed(given)} existed before this order`,
    detail: `An earlier order used the same project and name. ${UNORDERED}`,
    remedies: [
      { do: "import", id: given.object, when: "it is the declared resource" },
      `To order a new ${given.noun}, set the reference to a value that no earlier order of this project used.`,
    ],
  })),
  "apply.replayed/gone": error((given: Replayed) => ({
    summary: `${replayed(given)} no longer exists`,
    detail: `The API still has the Idempotency-Key of that order. ${UNORDERED}`,
    remedies: [{ do: "reorder", replayed: true }],
  })),
  "apply.replayed/other": error((given: Replayed & Words<"name" | "is" | "declared">) => ({
    summary: `${replayed(given)} has ${given.name} ${given.is}, not ${given.declared}`,
    detail: `An earlier order used the same project and name. ${UNORDERED}`,
    remedies: [
      `To order a new ${given.noun}, declare another reference.`,
      { do: "import", id: given.object, when: `you want to use the existing ${given.noun}` },
    ],
  })),
  "secret.lost": warning(({ address, noun, object }: Replayed) => ({
    summary: `The response with the secret of ${address} was lost: this run deleted ${noun} ${object} and creates a new ${noun}`,
    detail: "The API returns the secret only once, in that response.",
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
      summary: `${isOwn ? "An earlier run" : "A run with another state"} ${isLost ? "requested" : "ordered"} ${noun} ${object} at ${at}${isLost ? " and got no response" : ""}`,
      detail: `The API has no call that shows a ${noun}, so an apply sends no second order for ${address}.`,
      remedies: [
        { do: "import", id: object, when: "the order succeeded and this state must manage it" },
        { do: "order_anyway" },
        `Otherwise stop declaring ${address}.`,
      ],
    }),
  ),
  "usage/held": error({
    summary: "{address} cannot adopt {noun} {id}: it is already in the state, as {owner}",
    detail: "Only one address can manage an object.",
    remedies: ["Pass the id of the object that the request created."],
  }),
  "usage/sibling": error({
    summary: "{address} cannot adopt {noun} {id}: {sibling} requested it",
    detail: "The response to the create request of {sibling} was also lost.",
    remedies: ["Resolve {sibling} first."],
  }),
  "usage/created": error(({ address, noun, id, undeclared }: Rejected & { readonly undeclared: boolean }) => ({
    summary: `${address} cannot be confirmed as absent: the request created ${noun} ${id}`,
    detail: `Without an entry in the state, no run would manage the ${noun}. Nothing was changed.`,
    remedies: undeclared
      ? [`${address} is not declared. To keep the ${noun}, declare ${address} again and apply.`, { do: "forget" }]
      : [{ do: "apply_again" }],
  })),
  "usage/differs": error(({ address, noun, id, differences, isFinal }: Rejected & OtherObject) => ({
    summary: `${address} cannot adopt ${noun} ${id}: ${differences.map(differing).join("; ")}`,
    detail: isFinal
      ? "The request did not create it, and an apply would delete it."
      : `The request may not have created this ${noun}.`,
    remedies: isFinal
      ? [{ do: "import", id, when: "this address must manage it, and its values are declared" }]
      : [{ do: "resolve", as: "forced", object: id, when: "you have checked that the request created it" }],
  })),
  "usage/other": error(({ address, noun, id, isOlder }: Rejected & { isOlder: boolean }) => ({
    summary: `${address} cannot adopt ${noun} ${id}: the request did not create it`,
    detail: isOlder ? "It existed before the request was sent." : "Its values differ from the request.",
    remedies: [{ do: "import", id, when: "this address must manage it" }],
  })),
} satisfies Catalogue;
