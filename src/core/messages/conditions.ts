/** Messages about conditions, unknown statuses, and objects that could not be read. */
import { capitalized, type Json, openJson, type QueuedJob, type Remedy, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import type { Resource } from "./objects.ts";

/** An ability that the token lacks, the resources that need it, and the API's message. */
type Lacking = Words<"ability" | "said"> & { readonly addresses: readonly string[] };

/**
 * An attribute for which the host does not keep the declared value. `is` and `declared` are undefined if they differ only in
 * a secret part.
 */
export interface Unkept extends Words<"address" | "noun" | "name"> {
  readonly is?: Json | undefined;
  readonly declared?: Json | undefined;
  /** Number of changes without effect. */
  readonly times: number;
  /** True if the user adopted the object with this value. */
  readonly isAdopted?: boolean;
}

/** Name and number of a hosting plan. Null if unknown. */
interface PlanWords {
  readonly name: Json;
  readonly number: Json;
}

/** An object whose hosting plan differs from the order. */
export interface OtherPlan extends Words<"address" | "noun" | "id"> {
  /** Name of the attribute that declares the number of the hosting plan. */
  readonly attribute: readonly [name: string];
  readonly is: PlanWords;
  readonly ordered: PlanWords;
}

function planOf({ name, number }: PlanWords, attribute: string): string {
  if (number === null) return openJson(name);
  return name === null ? `with ${attribute} ${openJson(number)}` : `${openJson(name)} (${openJson(number)})`;
}

/** An object that the host disabled. `off`: the field that proves this. `name`: undefined if secret. */
export interface Off extends Words<"address" | "noun" | "id" | "off"> {
  readonly name: string | undefined;
}

/** An object of the state. `name`: its domain, undefined if secret or unknown. */
export interface Recorded extends Words<"address" | "noun" | "id"> {
  readonly name?: string | undefined;
}

/** Date of the first apply that found the suspension. Undefined if none did. */
type Since = { readonly since?: string | undefined };

/** True if an unpaid invoice is due, but was not due when hostform first recorded the suspension. */
type Owing = { readonly isOwing?: boolean };

/** Unpaid invoices. `invoice`: description of the first, such as `invoice INV-1, 12.00 USD, due 2026-11-30`. */
export interface Unpaid {
  readonly invoice: string;
  /** Number of further unpaid invoices. */
  readonly more: number;
}

/** Returns text such as `hosting_service.www: service 1001 (www.acme.example)`. */
const objectOf = ({ address, noun, id, name }: Recorded) =>
  `${address}: ${noun} ${id}${name === undefined || address.includes(name) ? "" : ` (${name})`}`;

const seen = ({ since }: Since) => (since === undefined ? [] : [`Suspended since ${since} or earlier.`]);

const sentences = (...parts: readonly string[]) => (parts.length === 0 ? undefined : parts.join(" "));

const unpaid = ({ invoice, more }: Unpaid) => `${invoice}${more === 0 ? "" : ` and ${more} more`}`;

const PAY = "Pay the invoice.";

export interface Status extends Resource {
  /** Alias of the provider whose `status_words` should contain the status. */
  readonly provider: string;
  readonly status: Json | undefined;
  /** Last job that hostform requested. Undefined if it has ended. */
  readonly job: QueuedJob | undefined;
}

type Unknown = Status & Words<"names">;

/** Puts each name in quotes: `suspended, email` becomes `"suspended", "email"`. */
const quoted = (names: string) =>
  names
    .split(", ")
    .map((name) => `"${name}"`)
    .join(", ");

const unknown = ({ status }: Status) =>
  status == null ? "the API shows no status" : `its status ${openJson(status)} is unknown`;

const suspension = ({ toward }: QueuedJob) => (toward === "suspended" ? "the suspension" : "the end of the suspension");

const evidence = ({ noun, job }: Status) => {
  if (job === undefined) return `A ${noun} with an unknown status is never changed.`;
  const then = job.before === null ? "" : ` The status was ${openJson(job.before)} at that time.`;
  return `The request for ${suspension(job)} was sent at ${job.since}.${then}`;
};

/**
 * Returns the remedy for an unknown status. After a requested job, the status probably means its result. Otherwise the user
 * must check the object.
 */
function remedy({ status, provider, job, noun }: Status): Remedy {
  if (status == null) return "Check the status in the dashboard. Changes wait until the API shows a status.";
  const map = { do: "map_status", provider, word: status } as const;
  if (job !== undefined) {
    const shows = job.toward === "suspended" ? "suspended" : "online";
    return { ...map, phases: [job.toward], when: `the dashboard shows the ${noun} as ${shows}` };
  }
  return { ...map, phases: /suspen|paus/i.test(String(status)) ? ["suspended", "live"] : ["live", "suspended"] };
}

const unknownStatus =
  <Given extends Status>(clause: (given: Given) => string) =>
  (given: Given) => ({
    summary: `${clause(given)}: ${unknown(given)}`,
    detail: evidence(given),
    remedies: [remedy(given)],
  });

const unchanged = unknownStatus(({ names, address }: Unknown) => `${quoted(names)} of ${address} cannot change`);

/** Changes that wait for the resource at `address`. `others`: addresses of its dependents. */
type HeldBack = Words<"address"> & {
  readonly others: readonly string[];
  readonly isOwn: boolean;
  readonly isUnread: boolean;
};

function waiting({ others, isOwn, address }: HeldBack): string {
  const rest = others.length === 1 ? `the change of ${others[0]}` : `${others.length} changes`;
  if (others.length === 0) return `The change of ${address} is skipped`;
  const verb = others.length === 1 ? "is" : "are";
  return isOwn ? `The change of ${address} and ${rest} are skipped` : `${capitalized(rest)} ${verb} skipped`;
}

export const conditions = {
  "condition.offline": warning((given: Recorded & Since & Owing) => ({
    summary: `${objectOf(given)} is suspended, but not declared as suspended`,
    detail: sentences(
      ...seen(given),
      given.isOwing ? "Its unpaid invoice was not due at that time." : "No invoice shows the reason.",
    ),
    remedies: [
      "Ask the host for the reason.",
      given.isOwing
        ? `Pay the invoice. No apply unsuspends the ${given.noun} before the payment.`
        : { do: "set", attribute: "suspended", value: false, when: "you want it online again" },
    ],
  })),
  "condition.offline/unread": warning((given: Recorded & Since) => ({
    summary: `${objectOf(given)} is suspended, but not declared as suspended`,
    detail: sentences(...seen(given)),
    remedies: ["Check the dashboard for an unpaid invoice, or ask the host for the reason."],
  })),
  "condition.offline/invoice": warning((given: Recorded & Since & Unpaid) => ({
    summary: `${objectOf(given)} is suspended for unpaid ${unpaid(given)}`,
    detail: sentences(...seen(given), "It is suspended until the payment."),
    remedies: [PAY],
  })),
  "condition.offline/withdrawn": warning((given: Recorded) => ({
    summary: `${objectOf(given)} stays suspended, but is no longer declared as suspended`,
    detail: "An attribute that is not declared keeps its value.",
    remedies: [{ do: "set", attribute: "suspended", value: false, when: "you want it online again" }],
  })),
  "condition.offline/provisioning": warning((given: Recorded) => ({
    summary: `${objectOf(given)} is not online yet: its invoice is paid, and the host has not provisioned it`,
    remedies: ["If the status stays the same, contact the host."],
  })),
  "condition.offline/pending": warning((given: Recorded) => ({
    summary: `${objectOf(given)} is not online yet`,
    detail: `The ${given.noun} goes online after its invoice is paid. The account lists no invoice for this ${given.noun}.`,
    remedies: ["Check in the dashboard whether the invoice is paid."],
  })),
  "condition.unpaid": warning((given: Recorded & Unpaid) => ({
    summary: `${objectOf(given)} has an unpaid invoice: ${unpaid(given)}`,
    remedies: [PAY],
  })),
  "condition.unpaid/order": warning((given: Recorded & Unpaid) => ({
    summary: `${objectOf(given)} waits for payment: ${unpaid(given)}`,
    remedies: [PAY],
  })),
  "condition.unpaid/renewal": warning((given: Recorded & Unpaid & Words<"due">) => ({
    summary: `${objectOf(given)} is not renewed: ${unpaid(given)}`,
    detail: `Its term ended on ${given.due}.`,
    remedies: [PAY],
  })),
  "condition.gone": warning((given: Recorded & Words<"how">) => ({
    summary: `${objectOf(given)} ${given.how}`,
    detail: `An apply does not order the ${given.noun} again automatically, because an order raises an invoice.`,
    remedies: [`If you no longer want the ${given.noun}, stop declaring it.`, { do: "reorder" }],
  })),
  "condition.handed_over": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)} is not in the account of this token`,
    detail: `No list shows it, and the API rejects requests for it: ${given.why}.`,
    remedies: [
      "If the token is wrong, use a token of the account that owns it.",
      "If another account owns it now, stop declaring it. The next apply removes it from the state.",
    ],
  })),
  "condition.outside": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)}: the token has no access to the ${given.noun}`,
    detail: `No list shows it, and the API rejects requests for it: ${given.why}.`,
    remedies: ["Use a token of the whole account, or add the service to the scope of this token."],
  })),
  // Resources with the same reason need the same detail, so that a report can fold them.
  "condition.unread": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)} was not read`,
    detail: `${given.why}. The condition of the ${given.noun} is unknown. The plan uses the state.`,
    remedies: ["Plan again after the cause is fixed."],
  })),
  "condition.unread/ability": warning({
    summary: "{address} was not checked: the plan uses the state",
    detail: "The token cannot read a {noun} (403): {why}.",
    remedies: ["To check it, plan with a token that has the ability. Use such a token only for reviewed declarations."],
  }),
  "condition.unread/invoices": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)}: its invoices were not read`,
    detail: `${given.why}. An invoice may be unpaid.`,
    remedies: ["Check the dashboard, or use a token that can read invoices."],
  })),
  "condition.unread/order": warning((given: Recorded & { readonly why: string | undefined }) => ({
    summary: `${objectOf(given)} is not online yet, and its invoices were not read`,
    detail: `${given.why ?? "No invoice of the order is known"}. The ${given.noun} goes online after its invoice is paid.`,
    remedies: ["Check in the dashboard whether the invoice is paid."],
  })),
  "condition.own_form": warning(({ address, noun, name, is, declared, times, isAdopted = false }: Unkept) => ({
    summary:
      is === undefined || declared === undefined
        ? `"${name}" of ${address} is still not the declared value, which has a secret part`
        : `"${name}" of ${address} is still ${openJson(is)}; ${openJson(declared)} is declared`,
    detail: isAdopted
      ? `You adopted the ${noun} with this value. An apply does not change the ${noun}.`
      : `The host did not accept the declared value in ${times} changes. The next apply does not change the ${noun}.`,
    remedies: isAdopted
      ? [{ do: "follow", attribute: name, value: is }]
      : ["Ask the host why it does not accept the declared value."],
  })),
  "condition.other_plan": warning(({ address, noun, id, attribute: [attribute], is, ordered }: OtherPlan) => ({
    summary: `${address}: ${noun} ${id} has the hosting plan ${planOf(is, attribute)}; the hosting plan ${planOf(ordered, attribute)} was ordered`,
    detail: "The host sold another hosting plan, or somebody changed it. The API cannot change it.",
    remedies: [
      "Compare the hosting plan with the invoice, and ask the host.",
      is.number === null
        ? { do: "forget", why: "restore" }
        : { do: "follow", attribute, value: is.number, when: "the hosting plan was changed on purpose" },
    ],
  })),
  "condition.off": warning(({ address, noun, id, name, off }: Off) => ({
    summary: `${address}: the host has disabled ${noun} ${id}${name === undefined ? "" : ` (${name})`}: ${off}`,
    detail: `The ${noun} may get no events until it is enabled again.`,
    remedies: [
      `Repair the receiver. Then enable the ${noun} in the dashboard.`,
      `Or delete the ${noun} in the dashboard and apply. The apply creates a ${noun} with a new secret.`,
    ],
  })),

  "plan.unknown_status/unchanged": either(unchanged),
  "condition.unknown_status": warning(unknownStatus(({ address }: Status) => address)),
  "condition.unknown_status/unchanged": warning((given: Unknown) => ({
    ...unchanged(given),
    summary: `${given.address}: ${unknown(given)}, so ${quoted(given.names)} is not changed`,
  })),
  "condition.unknown_status/unchecked": warning(
    unknownStatus(({ names, address }: Unknown) => `Cannot read ${quoted(names)} of ${address}`),
  ),
  "plan.unknown_status/parent": error(({ noun, id, status }: Words<"noun" | "id"> & Pick<Status, "status">) => ({
    summary: `The status of ${noun} ${id} is ${status == null ? "hidden" : `${openJson(status)}, which is unknown`}: it may not be live yet`,
    remedies: [
      status == null
        ? `Check in the dashboard whether the ${noun} is live.`
        : `If the ${noun} is not live yet, map ${openJson(status)} to pending in the provider's status_words.`,
    ],
  })),
  "plan.unknown_status/withheld": warning((given: Status & Words<"address" | "other">) => ({
    summary: `${given.address} is not changed: ${given.other} must change first, and the status of ${given.other} is unknown`,
    detail: "A deletion waits until the changes before it succeed.",
    remedies: [remedy(given)],
  })),
  "plan.unknown_status/ordered": warning(
    unknownStatus(({ names, address }: Unknown) => `${quoted(names)} of ${address} must wait`),
  ),
  "plan.unknown_status/ended": error(
    unknownStatus(
      ({ job, address }: Status & { job: QueuedJob }) =>
        `The account does not confirm ${suspension(job)} of ${address}`,
    ),
  ),
  "plan.prevented/status": either((given: Status) => ({
    summary: `${given.address} cannot be removed yet: ${unknown(given)}`,
    detail: 'The deletion_policy in the state is "suspend", which needs a known status.',
    remedies: [remedy(given), { do: "forget" }],
  })),

  "plan.unread": error({
    summary: "{address} cannot be planned: the token has no access to the parent of this {noun}",
    detail: "No list shows the parent, and the API rejects it: {said}.",
    remedies: [
      "If another account owns the parent now, stop declaring both resources.",
      "Otherwise use a token with access to the parent.",
    ],
  }),
  "plan.held_back": warning((given: HeldBack) => ({
    summary: waiting(given),
    detail: [
      given.isUnread ? `The API did not show ${given.address}.` : `${given.address} has an error.`,
      ...(given.others.length > 0 ? [`Skipped because of this: ${some(given.others)}.`] : []),
    ].join(" "),
    remedies: [
      given.isUnread
        ? `Plan again when the API shows ${given.address}, or apply the other changes alone.`
        : `Fix ${given.address} first, or apply the other changes alone.`,
    ],
  })),
  "plan.ability": either(({ ability, addresses, said }: Lacking) => ({
    summary:
      addresses.length === 1
        ? `${addresses[0]} needs the ability "${ability}", which the token lacks`
        : `${addresses.length} resources need the ability "${ability}", which the token lacks`,
    detail: `${addresses.length === 1 ? "" : `Resources: ${some(addresses)}. `}The API rejected a request (403): ${said}.`,
    remedies: [`Use a token with the ability "${ability}".`],
  })),
  "plan.restricted/order": either({
    summary: "The token's scope does not include new services",
    detail: "The host rejects the order, or does not list the service. The API's message: {said}.",
    remedies: ["Order with a token of the whole account."],
  }),
  "plan.restricted": warning({
    summary: "The token's scope does not include new services, so its lists will not show the ordered service",
    detail: "No list shows {noun} {id} ({address}): {said}.",
    remedies: ["Order with a token of the whole account, or add each new service to the scope of this token."],
  }),
} satisfies Catalogue;
