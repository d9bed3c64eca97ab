/** The parts of a page of the dashboard, and what it gets. */
import { html } from "hono/html";
import { CALLS, type Called } from "../control/calls.ts";
import type { Control } from "../control/control.ts";
import type { OpenCollection } from "../control/records.ts";
import { readText } from "../http/request.ts";
import type { Settings } from "../options.ts";
import { Refusal, unprocessable, wrongField } from "../refusal.ts";
import type { Collections, Customer } from "../store/records.ts";
import { type Html, long } from "./html.ts";

/** Facts of the sandbox on its pages, beside the records. */
export interface About {
  /** Base URL of the API port; known once it listens. */
  readonly url: string;
  readonly settings: Pick<Settings, "profile" | "seed" | "rateLimit" | "autoPay">;
  /** Real time between two updates of an open page, in milliseconds. Default 700. */
  readonly liveMs?: number;
}

/** One look at a page. */
export interface Visit {
  readonly control: Control;
  readonly about: About;
  /** The sandbox's time, ISO 8601 UTC. */
  readonly now: string;
  readonly frozen: boolean;
  readonly accounts: readonly Customer[];
  /** The selected account; in the vendor's dashboard, the one that the user is signed in to. */
  readonly account: Customer;
  /** Path with its query: where the forms of the page post to. */
  readonly here: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The form that was refused, when this is the answer to it. */
  readonly failed?: Failed;
}

/** A form that was refused: the message to show at it, and its fields. */
export interface Failed {
  readonly form: Form;
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/** The message after an action, on the next page. */
export interface Said {
  readonly text: string;
  /** A value that is shown only here. */
  readonly once?: { readonly label: string; readonly value: string };
  /** The page to go to; default: the one where the form stood. */
  readonly to?: string;
}

/** The work of a button. It calls the functions of `Control` that the HTTP control API calls for `api`, and nothing else. */
export interface Action {
  /** The same as a call: "POST /invoices/:id/pay". */
  readonly api: string;
  /** @returns the message on the next page. @throws Refusal, whose message is shown at the form. */
  run(visit: Visit, form: Form): Said | string | Promise<Said | string>;
}

/** A button that calls one function of the control, with the id of its record where the call has one. */
export function callAction<K extends Called>(
  name: K,
  said: string | ((result: ReturnType<Control[K]>) => Said | string),
): Action {
  const api = CALLS[name];
  const run: Action["run"] = ({ control }, form) => {
    const call = control[name] as (id?: number) => ReturnType<Control[K]>;
    const result = api.includes("/:id") ? call(form.id()) : call();
    return typeof said === "string" ? said : said(result);
  };
  return { api, run };
}

export interface Page {
  /** Below /dashboard, in hono's notation: "/services/:id". */
  readonly path: string;
  title(visit: Visit): string;
  /** The entry of the navigation that it belongs to; default: its path. */
  readonly nav?: string;
  body(visit: Visit): Html;
  /** Its buttons, by the `do` that they send. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** The parts that are updated while the page is open, by the id of the element that holds them. */
  readonly live?: Readonly<Record<string, (visit: Visit) => Html>>;
}

/** Path of the pages; the first one is at the root of the port as well. */
export const ROOT = "/dashboard";

export class Form {
  readonly #fields: URLSearchParams;

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** @throws Refusal 415 for another content type, 413 for a body that is too large. */
  static async of(request: Request): Promise<Form> {
    const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
    if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded") {
      throw new Refusal(415, "The dashboard accepts forms. Send JSON to the control API.");
    }
    return new Form(new URLSearchParams(await readText(request)));
  }

  /** The button that was pressed. */
  get action(): string {
    return this.#fields.get("do") ?? "";
  }

  /** The field as it was sent; undefined when it is absent. */
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
    if (text === undefined) throw wrongField(name, `${label} is missing.`);
    return text;
  }

  /** A number of 0 or more, or undefined for an empty field. @throws Refusal 422 for anything else. */
  number(name: string, label: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text);
    throw wrongField(name, `${label} must be a number of 0 or more, not "${text}".`);
  }

  /** The id of the record that a button belongs to. */
  id(name = "id"): number {
    const text = this.raw(name) ?? "";
    if (!/^\d{1,15}$/.test(text)) throw unprocessable(`The form names no record: "${text}" is not an id.`);
    return Number(text);
  }

  /** One of some words. */
  oneOf<W extends string>(name: string, label: string, words: readonly W[]): W {
    const text = this.text(name);
    const found = words.find((word) => word === text);
    if (found === undefined) throw wrongField(name, `${label} must be one of ${words.join(", ")}.`);
    return found;
  }
}

/** The id in the page's path. @throws Refusal 404 for anything but an id */
export function idOf({ params }: Visit, what: string): number {
  const text = params.id ?? "";
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(404, `There is no ${what} "${text}".`);
  return Number(text);
}

/** The record, or undefined where it no longer exists: another record may still name it. */
export function find<K extends OpenCollection>(
  control: Control,
  collection: K,
  id: number,
): Collections[K] | undefined {
  try {
    return control.get(collection, id);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** A link to a service with its domain: an id alone says nothing to people. */
export function serviceLink({ control }: Pick<Visit, "control">, id: number): Html {
  const domain = find(control, "services", id)?.domain ?? null;
  return html`<a href="${ROOT}/services/${id}">Service ${id}</a>${domain !== null && html` ${long(domain)}`}`;
}

/** The records of the selected account, oldest first. */
export function own<K extends OpenCollection>(
  { control, account }: Pick<Visit, "control" | "account">,
  collection: K & (Collections[K] extends { customer_id: number } ? K : never),
): Collections[K][] {
  const records: readonly Collections[K][] = control.list(collection);
  return records.filter((one) => (one as { customer_id?: number }).customer_id === account.id);
}
