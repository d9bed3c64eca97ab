/** Messages about the state of an object in the account that no change ends. */
import { type Json, openJson } from "../model/index.ts";
import { type Catalogue, type Words, warning } from "./message.ts";

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

export const conditions = {
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
} satisfies Catalogue;
