/** Messages about the state of an object in the account that no change ends. */
import type { Json } from "../model/index.ts";
import { type Catalogue, type Words, warning } from "./message.ts";
import { inJson } from "./objects.ts";

/** An attribute whose value did not stay. `is` and `declared` are absent where they are secret. */
export interface Unkept extends Words<"address" | "noun" | "name"> {
  readonly is?: Json | undefined;
  readonly declared?: Json | undefined;
  /** Number of changes that had no effect. */
  readonly times: number;
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
      { do: "forget", when: "another account owns it now" },
      "If it is still yours, use a token of the account that owns it.",
    ],
  })),
  "condition.unread": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)} was not read`,
    detail: `${given.why}. Its condition is unknown, so the plan has no change of it.`,
    remedies: ["Plan again when the cause is gone."],
  })),
  "condition.unread/invoices": warning((given: Recorded & Words<"why">) => ({
    summary: `${objectOf(given)}: its invoices were not read`,
    detail: `${given.why}. An invoice may be unpaid.`,
    remedies: ["Look in the dashboard, or use a token that may read invoices."],
  })),
  "condition.own_form": warning(({ address, noun, name, is, declared, times }: Unkept) => ({
    summary:
      is === undefined || declared === undefined
        ? `${name} of ${address} stays another one than the declared one, which is secret`
        : `${name} of ${address} stays ${inJson(is)}; ${inJson(declared)} is declared`,
    detail: `The host answered ${times} changes with the same value. The next apply leaves the ${noun} as it is.`,
    remedies: ["Declare the value that the host keeps, or ask the host why it keeps another one."],
  })),
  "condition.off": warning(({ address, noun, id, name, off }: Off) => ({
    summary: `${address}: the host shows ${noun} ${id}${name === undefined ? "" : ` (${name})`} as switched off: ${off}`,
    detail: "It may receive no events until it is switched on again.",
    remedies: [
      "Correct its receiver. Then switch it on in the dashboard.",
      "Or delete it there and apply: that creates another one, with a new secret.",
    ],
  })),
} satisfies Catalogue;
