import { fromValue, object, type TraversalStep, type Typed, typeOfJson } from "../../core/expression/index.ts";
import { ExpressionError, isObject, type Json, UNKNOWN, type Value, type ValueObject } from "../../core/model/index.ts";

/** The outputs of other states, by the name of their `terraform_remote_state`. */
export interface SiblingStates {
  /** They or parts of them may be unknown. */
  readonly outputs: ReadonlyMap<string, Value>;
  /** Terraform's types of them, as far as they are told. */
  readonly types: ReadonlyMap<string, Readonly<Record<string, Json>>>;
}

/** What `data.terraform_remote_state.NAME` means: an object with `outputs`. */
export class Siblings {
  readonly #states: SiblingStates;
  readonly #values = new Map<string, Typed>();

  constructor(states: SiblingStates) {
    this.#states = states;
  }

  /** @param steps those after the name. @throws ExpressionError for what is not known, or not exactly. */
  resolve(name: string, steps: readonly TraversalStep[], text: string): { value: Typed; used: number } {
    const outputs = this.#states.outputs.get(name);
    if (outputs === undefined) throw new ExpressionError(`the outputs that ${text} refers to are not known`, 0);
    const [, output] = steps;
    const used = isObject(outputs) && output !== undefined ? { [output]: outputs[output] } : outputs;
    if (isInexact(used))
      throw new ExpressionError(`${text} holds a number with more digits than hostform keeps; record it as a text`, 0);
    const value = this.#values.get(name) ?? this.#typed(name, outputs);
    this.#values.set(name, value);
    return { value, used: 2 };
  }

  #typed(name: string, outputs: Value): Typed {
    if (outputs === UNKNOWN || !isObject(outputs)) return fromValue({ outputs });
    const types = this.#states.types.get(name) ?? {};
    const typed = Object.entries(outputs as ValueObject).map(([key, value]): [string, Typed] => {
      const type = Object.hasOwn(types, key) ? typeOfJson(types[key] ?? "dynamic") : undefined;
      return [key, fromValue(value, type)];
    });
    return object([["outputs", object(typed)]]);
  }
}

/** A number that was more exact where it was recorded: JavaScript has read it, and Terraform would not have rounded it. */
function isInexact(value: unknown): boolean {
  if (typeof value === "number")
    return Number.isInteger(value) ? !Number.isSafeInteger(value) : digitsOf(value) > EXACT_DIGITS;
  if (Array.isArray(value)) return value.some(isInexact);
  return isObject(value) && Object.values(value).some(isInexact);
}

/** So many decimal digits survive in a JavaScript number, whatever they are. */
const EXACT_DIGITS = 15;

const digitsOf = (value: number) => value.toExponential().replace(/e.*$/, "").replace(/\D/g, "").length;
