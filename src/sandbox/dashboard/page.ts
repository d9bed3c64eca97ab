/** The parts of a page of the dashboard, and its input. */
import { html } from "hono/html";
import { CALLS, type Called } from "../control/calls.ts";
import type { Control } from "../control/control.ts";
import type { OpenCollection } from "../control/records.ts";
import { readText } from "../http/request.ts";
import type { Settings } from "../options.ts";
import { Refusal, unprocessable, wrongField } from "../refusal.ts";
import type { Collections, Customer } from "../store/records.ts";
import { type Html, long } from "./html.ts";

/** Facts about the sandbox that pages show in addition to the records. */
export interface About {
  /** Base URL of the API port. It is known after the port is open. */
  readonly url: string;
  readonly settings: Pick<Settings, "profile" | "seed" | "rateLimit" | "autoPay">;
  /** Real time between two updates of an open page, in milliseconds. Default 700. */
  readonly liveMs?: number;
}

/** One request of a page. */
export interface Visit {
  readonly control: Control;
  readonly about: About;
  /** Time of the sandbox (ISO 8601, UTC). */
  readonly now: string;
  readonly frozen: boolean;
  readonly accounts: readonly Customer[];
  /** Selected account. In the vendor's dashboard, it is the account of the user. */
  readonly account: Customer;
  /** Path with its query. The forms of the page post to this path. */
  readonly here: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The rejected form, if this is the response to it. */
  readonly failed?: Failed;
}

/** A rejected form: its message and its fields. */
export interface Failed {
  readonly form: Form;
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/** Message after an action, which the next page shows. */
export interface Said {
  readonly text: string;
  /** A value that is shown only once, in this message. */
  readonly once?: { readonly label: string; readonly value: string };
  /** Path of the next page. Default: the page with the form. */
  readonly to?: string;
}

/** Action of a button. It calls only the functions of `Control` that the HTTP control API calls for `api`. */
export interface Action {
  /** Equivalent HTTP call, such as "POST /invoices/:id/pay". */
  readonly api: string;
  /** @returns the message on the next page. @throws Refusal. Its message is shown at the form. */
  run(visit: Visit, form: Form): Said | string | Promise<Said | string>;
}

/**
 * Returns the action of a button. The action calls one function of the control, and passes the record's id if the call's path
 * contains `/:id`.
 */
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
  /** Path below /dashboard in hono's notation, such as "/services/:id". */
  readonly path: string;
  title(visit: Visit): string;
  /** Navigation entry of the page. Default: its path. */
  readonly nav?: string;
  body(visit: Visit): Html;
  /** Buttons of the page, by the value of `do`. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** Element id -> part of the page that is updated while the page is open. */
  readonly live?: Readonly<Record<string, (visit: Visit) => Html>>;
}

/** Path of the pages. The first page is also at the root of the port. */
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

  /** Name of the pressed button. */
  get action(): string {
    return this.#fields.get("do") ?? "";
  }

  /** Returns the unchanged field. Undefined if it is missing. */
  raw(name: string): string | undefined {
    return this.#fields.get(name) ?? undefined;
  }

  /** Returns the trimmed field. Undefined if it is empty. */
  text(name: string): string | undefined {
    const text = this.raw(name)?.trim();
    return text === "" ? undefined : text;
  }

  /** Returns all values of a field that are not empty. */
  all(name: string): string[] {
    return this.#fields.getAll(name).filter((value) => value !== "");
  }

  /** Returns a text that must not be empty. @throws Refusal 422 with the field's name on the page. */
  required(name: string, label: string): string {
    const text = this.text(name);
    if (text === undefined) throw wrongField(name, `${label} is missing.`);
    return text;
  }

  /** Returns a number of 0 or more. Undefined for an empty field. @throws Refusal 422 for any other value. */
  number(name: string, label: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text);
    throw wrongField(name, `${label} must be a number of 0 or more, not "${text}".`);
  }

  /** Returns the id of the button's record. */
  id(name = "id"): number {
    const text = this.raw(name) ?? "";
    if (!/^\d{1,15}$/.test(text)) throw unprocessable(`The form names no record: "${text}" is not an id.`);
    return Number(text);
  }

  /** Returns one of several words. */
  oneOf<W extends string>(name: string, label: string, words: readonly W[]): W {
    const text = this.text(name);
    const found = words.find((word) => word === text);
    if (found === undefined) throw wrongField(name, `${label} must be one of ${words.join(", ")}.`);
    return found;
  }
}

/** Returns the id in the page's path. @throws Refusal 404 if it is not an id */
export function idOf({ params }: Visit, what: string): number {
  const text = params.id ?? "";
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(404, `There is no ${what} "${text}".`);
  return Number(text);
}

/** Returns the record. Undefined if it no longer exists, because another record may still refer to it. */
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

/** Returns a link to a service with its domain, because people do not know ids. */
export function serviceLink({ control }: Pick<Visit, "control">, id: number): Html {
  const domain = find(control, "services", id)?.domain ?? null;
  return html`<a href="${ROOT}/services/${id}">Service ${id}</a>${domain !== null && html` ${long(domain)}`}`;
}

/** Returns the records of the selected account, oldest first. */
export function own<K extends OpenCollection>(
  { control, account }: Pick<Visit, "control" | "account">,
  collection: K & (Collections[K] extends { customer_id: number } ? K : never),
): Collections[K][] {
  const records: readonly Collections[K][] = control.list(collection);
  return records.filter((one) => (one as { customer_id?: number }).customer_id === account.id);
}
