/** The forms that pages send: read within bounds, and looked into with a sentence for what is missing. */

import { readText } from "../http/request-body.ts";
import { Refusal } from "../refusal.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";

/** The fields of a form that was sent. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** @throws Refusal 415 for what is no form, 413 for what is too large. */
  static async of(request: Request): Promise<Form> {
    const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
    if (type.trim().toLowerCase() !== FORM_TYPE) {
      throw new Refusal(415, "The pages take what their forms send; for JSON there is the control API.");
    }
    return new Form(new URLSearchParams(await readText(request)));
  }

  /** The button that was pressed. */
  get action(): string {
    return this.#fields.get("do") ?? "";
  }

  /** The field as it was sent; undefined when it was not. */
  raw(name: string): string | undefined {
    return this.#fields.get(name) ?? undefined;
  }

  /** The field without spaces around it; undefined when it is empty. */
  text(name: string): string | undefined {
    const text = this.raw(name)?.trim();
    return text === "" ? undefined : text;
  }

  /** All values of a field, without the empty ones. */
  all(name: string): string[] {
    return this.#fields.getAll(name).filter((value) => value !== "");
  }

  /** A text that must not be empty. @throws Refusal 422 that names the field as the page does. */
  required(name: string, label: string): string {
    const text = this.text(name);
    if (text === undefined) throw wrong(name, `${label} is missing.`);
    return text;
  }

  /** A whole number of 0 or more, or undefined for an empty field. @throws Refusal 422 for anything else. */
  count(name: string, label: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text)) throw wrong(name, `${label} must be a whole number of 0 or more, not "${text}".`);
    return Number(text);
  }

  /** A number of 0 or more with or without a fraction. */
  number(name: string, label: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(text))
      throw wrong(name, `${label} must be a number of 0 or more, not "${text}".`);
    return Number(text);
  }

  /** The id of the record that a button belongs to. */
  id(name = "id"): number {
    const text = this.raw(name) ?? "";
    if (!/^\d{1,15}$/.test(text)) throw new Refusal(422, `The form names no record: "${text}" is not an id.`);
    return Number(text);
  }

  /** One of some words. */
  oneOf<W extends string>(name: string, label: string, words: readonly W[]): W {
    const text = this.text(name);
    const found = words.find((word) => word === text);
    if (found === undefined) throw wrong(name, `${label} must be one of ${words.join(", ")}.`);
    return found;
  }
}

function wrong(name: string, message: string): Refusal {
  return new Refusal(422, message, { errors: { [name]: [message] } });
}
