/** Messages about the state of an object in the account that no change ends. */
import { type Json, openJson } from "../model/index.ts";
import { type Catalogue, type Words, warning } from "./message.ts";

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

export const conditions = {
  "condition.own_form": warning(({ address, noun, name, is, declared, times }: Unkept) => ({
    summary:
      is === undefined || declared === undefined
        ? `${name} of ${address} stays another one than the declared one, which is secret`
        : `${name} of ${address} stays ${openJson(is)}; ${openJson(declared)} is declared`,
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
