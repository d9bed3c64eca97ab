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
export interface Recorded extends Words<"noun" | "id"> {
  readonly name?: string | undefined;
}

/** `service 1001 (www.acme.example)`. */
const objectOf = ({ noun, id, name }: Recorded) => `${noun} ${id}${name === undefined ? "" : ` (${name})`}`;

export const conditions = {
  "condition.handed_over": warning((given: Recorded & Words<"address" | "why">) => ({
    summary: `${given.address}: ${objectOf(given)} seems to be handed over to another account`,
    detail: `No list shows it, and the API refuses it: ${given.why}.`,
    remedies: [
      "If another account owns it now, stop declaring it: the next apply forgets it.",
      "If it is still yours, use a token of the account that owns it.",
    ],
  })),
  "condition.outside": warning((given: Recorded & Words<"address" | "why">) => ({
    summary: `${given.address}: the token does not see ${objectOf(given)}`,
    detail: `No list shows it, and the API refuses it: ${given.why}.`,
    remedies: ["Use a token of the whole account, or add the service to the restriction of this token."],
  })),
  // The same detail for each resource with the same reason, so that a report can fold them.
  "condition.unread": warning((given: Recorded & Words<"address" | "why">) => ({
    summary: `${given.address}: ${objectOf(given)} was not read`,
    detail: `${given.why}. Its condition is unknown. The plan compares it with the record.`,
    remedies: ["Plan again when the cause is gone."],
  })),
  "condition.unread/ability": warning(({ address, noun, why }: Words<"address" | "noun" | "why">) => ({
    summary: `${address} is as recorded, not checked`,
    detail: `The token may not read a ${noun} (403): ${why}.`,
    remedies: ["To check it, plan with a token that has the ability, where only reviewed declarations are used."],
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
