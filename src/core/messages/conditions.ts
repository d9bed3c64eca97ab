/** Messages about the state of an object in the account: its condition, a status without a known meaning, and an object that the API did not show. */
import { capitalized, type Json, openJson, type QueuedJob, type Remedy, some } from "../model/index.ts";
import { type Catalogue, either, error, type Words, warning } from "./message.ts";
import type { Resource } from "./objects.ts";

/** Resources that need an ability, and the words of the API. */
type Lacking = Words<"ability" | "said"> & { readonly addresses: readonly string[] };

/** An attribute whose value did not stay. `is` and `declared` are absent where they are secret, or differ in a part that is. */
export interface Unkept extends Words<"address" | "noun" | "name"> {
  readonly is?: Json | undefined;
  readonly declared?: Json | undefined;
  /** Number of changes that had no effect. */
  readonly times: number;
  /** The user adopted the object with this value. */
  readonly isAdopted?: boolean;
}

/** A plan by its name and its number, as far as they are known. */
interface PlanWords {
  readonly name: Json;
  readonly number: Json;
}

/** An object that has another plan than the ordered one. */
export interface OtherPlan extends Words<"address" | "noun" | "id"> {
  /** The attribute that declares the number of the plan. */
  readonly attribute: readonly [name: string];
  readonly is: PlanWords;
  readonly ordered: PlanWords;
}

function planOf({ name, number }: PlanWords, attribute: string): string {
  if (number === null) return openJson(name);
  return name === null ? `with ${attribute} ${openJson(number)}` : `${openJson(name)} (${openJson(number)})`;
}

/** An object that the host has switched off. `off`: the evidence. `name` is absent where it is secret. */
export interface Off extends Words<"address" | "noun" | "id" | "off"> {
  readonly name: string | undefined;
}

/** An object of the state. `name` (a domain) is absent where it is secret or unknown. */
export interface Recorded extends Words<"address" | "noun" | "id"> {
  readonly name?: string | undefined;
}

/** Date at which an apply saw the condition first. Absent: no apply has seen it. */
type Since = { readonly since?: string | undefined };

/** Invoices that are unpaid, the first one in words: `invoice INV-1, 12.00 USD, due 2026-11-30`. */
export interface Unpaid {
  readonly invoice: string;
  /** Number of further unpaid invoices. */
  readonly more: number;
}

/** `hosting_service.www: service 1001 (www.acme.example)`. */
const objectOf = ({ address, noun, id, name }: Recorded) =>
  `${address}: ${noun} ${id}${name === undefined || address.includes(name) ? "" : ` (${name})`}`;

const seen = ({ since }: Since) => (since === undefined ? [] : [`First recorded on ${since}.`]);

const sentences = (...parts: readonly string[]) => (parts.length === 0 ? undefined : parts.join(" "));

const unpaid = ({ invoice, more }: Unpaid) => `${invoice}${more === 0 ? "" : ` and ${more} more`}`;

const PAY = "Pay the invoice.";

export interface Status extends Resource {
  /** Alias of the provider whose `status_words` gives the word a meaning. */
  readonly provider: string;
  readonly status: Json | undefined;
  /** The job that hostform last requested, unless its end is known. */
  readonly job: QueuedJob | undefined;
}

type Unknown = Status & Words<"names">;

const unknown = ({ status }: Status) =>
  status == null ? "the API shows no status" : `its status ${openJson(status)} is unknown`;

const suspension = ({ toward }: QueuedJob) => (toward === "suspended" ? "the suspension" : "the end of the suspension");

const evidence = ({ noun, job }: Status) => {
  if (job === undefined) return `No request changes a ${noun} whose status is unknown.`;
  const then = job.before === null ? "" : `, when the status was ${openJson(job.before)}`;
  return `The request for ${suspension(job)} left at ${job.since}${then}.`;
};

/** After a requested job, the likely meaning is its result; else only the object itself shows the right remedy. */
function remedy({ status, provider, job }: Status): Remedy {
  if (status == null) return "Compare it with the dashboard. Changes wait until the API shows a status.";
  const map = { do: "map_status", provider, word: status } as const;
  if (job !== undefined) {
    const shows = job.toward === "suspended" ? "suspended" : "up again";
    return { ...map, phases: [job.toward], when: `the dashboard shows it as ${shows}` };
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

const unchanged = unknownStatus(({ names, address }: Unknown) => `${names} of ${address} cannot change`);

/** Changes that wait for the resource at `address`. `others`: those of other resources, which depend on it. */
type HeldBack = Words<"address"> & {
  readonly others: readonly string[];
  readonly isOwn: boolean;
  readonly isUnread: boolean;
};

function waiting({ others, isOwn, address }: HeldBack): string {
  const rest = others.length === 1 ? `the change of ${others[0]}` : `${others.length} changes`;
  if (others.length === 0) return `The change of ${address} is held back`;
  const after = others.length === 1 ? "is" : "are";
  return isOwn ? `The change of ${address} and ${rest} are held back` : `${capitalized(rest)} ${after} held back`;
}

export const conditions = {
  "condition.offline": warning((given: Recorded & Since) => ({
    summary: `${objectOf(given)} is suspended, but not declared so`,
    detail: sentences(...seen(given), "No invoice shows the reason."),
    remedies: [
      "Ask the host for the reason.",
      { do: "set", attribute: "suspended", value: false, when: "it is to come back online" },
    ],
  })),
  "condition.offline/unread": warning((given: Recorded & Since) => ({
    summary: `${objectOf(given)} is suspended, but not declared so`,
    detail: sentences(...seen(given)),
    remedies: ["Look in the dashboard whether an invoice is unpaid, or ask the host for the reason."],
  })),
  "condition.offline/invoice": warning((given: Recorded & Since & Unpaid) => ({
    summary: `${objectOf(given)} is suspended for unpaid ${unpaid(given)}`,
    detail: sentences(...seen(given), "It stays so until the payment."),
    remedies: [PAY],
  })),
  "condition.offline/withdrawn": warning((given: Recorded) => ({
    summary: `${objectOf(given)} stays suspended, but is no longer declared so`,
    detail: "An attribute that is not declared stays as it is.",
    remedies: [{ do: "set", attribute: "suspended", value: false, when: "it is to come back online" }],
  })),
  "condition.offline/provisioning": warning((given: Recorded) => ({
    summary: `${objectOf(given)} is not online yet: its invoice is paid, and the host has not provisioned it`,
    remedies: ["Ask the host if this does not change."],
  })),
  "condition.offline/pending": warning((given: Recorded & { readonly isRead: boolean }) => ({
    summary: `${objectOf(given)} is not online yet`,
    detail: `It goes online after the payment of its invoice.${given.isRead ? " The account lists no invoice of it." : ""}`,
    remedies: ["Look in the dashboard whether its invoice is paid."],
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
    summary: `${objectOf(given)} seems to be handed over to another account`,
    detail: `No list shows it, and the API refuses it: ${given.why}. Nothing changes it.`,
    remedies: [
      "If another account owns it now, stop declaring it: the next apply forgets it.",
      "If it is still yours, use a token of the account that owns it.",
    ],
  })),
  "condition.outside": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)}: the token does not see the ${given.noun}`,
    detail: `No list shows it, and the API refuses it: ${given.why}.`,
    remedies: ["Use a token of the whole account, or add the service to the restriction of this token."],
  })),
  // The same detail for each resource with the same reason, so that a report can fold them.
  "condition.unread": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)} was not read`,
    detail: `${given.why}. Its condition is unknown. The plan compares it with the record.`,
    remedies: ["Plan again when the cause is gone."],
  })),
  "condition.unread/ability": warning(({ address, noun, why }: Words<"address" | "noun" | "why">) => ({
    summary: `${address} is as recorded, not checked`,
    detail: `The token may not read a ${noun} (403): ${why}.`,
    remedies: ["To check it, plan with a token that has the ability, where only reviewed declarations are used."],
  })),
  "condition.unread/invoices": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)}: its invoices were not read`,
    detail: `${given.why}. An invoice may be unpaid.`,
    remedies: ["Look in the dashboard, or use a token that may read invoices."],
  })),
  "condition.own_form": warning(({ address, noun, name, is, declared, times, isAdopted = false }: Unkept) => ({
    summary:
      is === undefined || declared === undefined
        ? `${name} of ${address} stays another one than the declared one, which has a secret part`
        : `${name} of ${address} stays ${openJson(is)}; ${openJson(declared)} is declared`,
    detail: isAdopted
      ? `You adopted the ${noun} with this value. An apply leaves the ${noun} as it is.`
      : `The host did not accept the declared value in ${times} changes. The next apply leaves the ${noun} as it is.`,
    remedies: isAdopted
      ? [{ do: "follow", attribute: name, value: is }]
      : ["Ask the host why it does not accept the declared value."],
  })),
  "condition.other_plan": warning(({ address, noun, id, attribute: [attribute], is, ordered }: OtherPlan) => ({
    summary: `${address}: ${noun} ${id} has the plan ${planOf(is, attribute)}; the plan ${planOf(ordered, attribute)} was ordered`,
    detail: "The host sold another plan, or somebody changed it. The API cannot change it.",
    remedies: [
      "Compare the plan with the invoice, and ask the host.",
      is.number === null
        ? { do: "forget", why: "restore" }
        : { do: "follow", attribute, value: is.number, when: "the plan was changed on purpose" },
    ],
  })),
  "condition.off": warning(({ address, noun, id, name, off }: Off) => ({
    summary: `${address}: the host shows ${noun} ${id}${name === undefined ? "" : ` (${name})`} as switched off: ${off}`,
    detail: "It may receive no events until it is switched on again.",
    remedies: [
      "Correct its receiver. Then switch it on in the dashboard.",
      "Or delete it there and apply: that creates another one, with a new secret.",
    ],
  })),

  "plan.unknown_status/unchanged": either(unchanged),
  "condition.unknown_status": warning(unknownStatus(({ address }: Status) => address)),
  "condition.unknown_status/unchanged": warning(unchanged),
  "condition.unknown_status/unchecked": warning(
    unknownStatus(({ names, address }: Unknown) => `The account does not show ${names} of ${address}`),
  ),
  "plan.unknown_status/parent": error(({ noun, id, status }: Words<"noun" | "id"> & Pick<Status, "status">) => ({
    summary: `The status of ${noun} ${id} is ${status == null ? "hidden" : `${openJson(status)}, which is unknown`}: it may not be live yet`,
    remedies: [
      status == null
        ? "Look in the dashboard whether it is live."
        : `Set in the provider's status_words what ${openJson(status)} means: pending, if the ${noun} is not live yet.`,
    ],
  })),
  "plan.unknown_status/withheld": warning((given: Status & Words<"address" | "other">) => ({
    summary: `${given.address} stays as it is: ${given.other}, which comes first, has an unknown status`,
    detail: "A deletion waits for changes that may fail, so that nothing is lost because of them.",
    remedies: [remedy(given)],
  })),
  "plan.unknown_status/ordered": warning(
    unknownStatus(({ names, address }: Unknown) => `${names} of ${address} must wait`),
  ),
  "plan.unknown_status/ended": error(
    unknownStatus(
      ({ job, address }: Status & { job: QueuedJob }) =>
        `The account does not confirm ${suspension(job)} of ${address}`,
    ),
  ),
  "plan.prevented/status": either((given: Status) => ({
    summary: `The removal of ${given.address} must wait: ${unknown(given)}`,
    detail: 'The recorded deletion_policy is "suspend", which needs a known status.',
    remedies: [remedy(given), { do: "forget" }],
  })),

  "plan.unread": error(({ address, noun, said }: Words<"address" | "noun" | "said">) => ({
    summary: `${address} cannot be planned: the token does not see what this ${noun} belongs to`,
    detail: `No list shows it, and the API refuses it: ${said}.`,
    remedies: ["If another account owns it now, stop declaring both.", "If not, use a token that sees it."],
  })),
  "plan.held_back": warning((given: HeldBack) => ({
    summary: waiting(given),
    detail: [
      given.isUnread ? `The API did not show ${given.address}.` : `${given.address} has an error.`,
      ...(given.others.length > 0 ? [`Held back with it: ${some(given.others)}.`] : []),
    ].join(" "),
    remedies: [
      given.isUnread
        ? "Plan again when the API shows it, or apply the other changes alone."
        : `Resolve ${given.address} first, or apply the other changes alone.`,
    ],
  })),
  "plan.ability": either(({ ability, addresses, said }: Lacking) => ({
    summary:
      addresses.length === 1
        ? `${addresses[0]} needs the ability "${ability}", which the token lacks`
        : `${addresses.length} resources need the ability "${ability}", which the token lacks`,
    detail: `${addresses.length === 1 ? "" : `Resources: ${some(addresses)}. `}The API refused a request (403): ${said}.`,
    remedies: [`Use a token with the ability "${ability}".`],
  })),
  "plan.restricted/order": either(({ said }: Words<"address" | "said">) => ({
    summary: "The token is restricted to services, and a new service is outside the restriction",
    detail: `The host refuses the order, or does not list the service. The API's words: ${said}.`,
    remedies: ["Order with a token of the whole account."],
  })),
  "plan.restricted": warning(({ address, noun, id, said }: Words<"address" | "noun" | "id" | "said">) => ({
    summary: "A restricted token orders a service, and its lists will not show the service",
    detail: `No list shows ${noun} ${id} (${address}): ${said}.`,
    remedies: ["Order with a token of the whole account, or add each new service to the restriction of this token."],
  })),
} satisfies Catalogue;
