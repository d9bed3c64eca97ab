/** Types of the dashboard's pages and their input. */
import { html } from "hono/html";
import { CALLS, type Called } from "../control/calls.ts";
import type { Control } from "../control/control.ts";
import type { OpenCollection } from "../control/records.ts";
import { readText } from "../http/request.ts";
import type { Settings } from "../options.ts";
import { Refusal, unprocessable, wrongField } from "../refusal.ts";
import type { Collections, Customer } from "../store/records.ts";
import { type Html, long } from "./html.ts";

/** Data about the sandbox besides its records. */
export interface About {
  /** Base URL of the API, known only after the port is open. */
  readonly url: string;
  readonly settings: Pick<Settings, "profile" | "seed" | "rateLimit" | "autoPay">;
  /** Real time between two updates of an open page, in milliseconds. 700 by default. */
  readonly liveMs?: number;
}

/** Request for a page. */
export interface Visit {
  readonly control: Control;
  readonly about: About;
  /** Time of the sandbox: ISO 8601, UTC. */
  readonly now: string;
  readonly frozen: boolean;
  readonly accounts: readonly Customer[];
  /** Account that the user has selected. */
  readonly account: Customer;
  /** Path and query. The page's forms are posted to it. */
  readonly here: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The rejected form, in the response to it. */
  readonly failed?: Failed;
}

/** Rejected form. */
export interface Failed {
  readonly form: Form;
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/** Message of an action, shown on the next page. */
export interface Said {
  readonly text: string;
  /** Value that only this message shows. */
  readonly once?: { readonly label: string; readonly value: string };
  /** Path of the next page. By default, the page with the form. */
  readonly to?: string;
}

/** Action of a button. It calls only the functions of `Control` that the HTTP call `api` calls. */
export interface Action {
  /** Equivalent HTTP call, such as "POST /invoices/:id/pay". */
  readonly api: string;
  /**
   * Returns the message for the next page. The message of a Refusal is shown at the form.
   * @throws Refusal
   */
  run(visit: Visit, form: Form): Said | string | Promise<Said | string>;
}

/** Returns an action that calls one function of the control. If the path contains `/:id`, the record's id is its argument. */
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
  /** Path below `ROOT` in hono's notation, such as "/services/:id". */
  readonly path: string;
  title(visit: Visit): string;
  /** Navigation entry of the page. By default, its path. */
  readonly nav?: string;
  body(visit: Visit): Html;
  /** Actions of the page's buttons, by the value of `do`. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** Parts that are updated while the page is open, by element id. */
  readonly live?: Readonly<Record<string, (visit: Visit) => Html>>;
}

/** Path of the pages. The overview is also at "/". */
export const ROOT = "/dashboard";

export class Form {
  readonly #fields: URLSearchParams;

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** @throws Refusal 415 for another content type, 413 for a body that is too large */
  static async of(request: Request): Promise<Form> {
    const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
    if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded") {
      throw new Refusal(415, "The dashboard accepts forms. Send JSON to the control API.");
    }
    return new Form(new URLSearchParams(await readText(request)));
  }

  /** Key of the pressed button's action. */
  get action(): string {
    return this.#fields.get("do") ?? "";
  }

  /** Returns the field unchanged. Undefined if it is missing. */
  raw(name: string): string | undefined {
    return this.#fields.get(name) ?? undefined;
  }

  /** Returns the field trimmed. Undefined if it is empty. */
  text(name: string): string | undefined {
    const text = this.raw(name)?.trim();
    return text === "" ? undefined : text;
  }

  /** Returns the values of a field, without empty ones. */
  all(name: string): string[] {
    return this.#fields.getAll(name).filter((value) => value !== "");
  }

  /**
   * Returns a required text.
   * @throws Refusal 422 with the field's label
   */
  required(name: string, label: string): string {
    const text = this.text(name);
    if (text === undefined) throw wrongField(name, `${label} is missing.`);
    return text;
  }

  /**
   * Returns a number of 0 or more. Undefined for an empty field.
   * @throws Refusal 422 for any other value
   */
  number(name: string, label: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text);
    throw wrongField(name, `${label} must be a number of 0 or more, not "${text}".`);
  }

  /**
   * Returns the id of the record.
   * @throws Refusal 422
   */
  id(name = "id"): number {
    const text = this.raw(name) ?? "";
    if (!/^\d{1,15}$/.test(text)) throw unprocessable(`The form has no valid id: "${text}".`);
    return Number(text);
  }

  /**
   * Returns the field if it is one of `words`.
   * @throws Refusal 422
   */
  oneOf<W extends string>(name: string, label: string, words: readonly W[]): W {
    const text = this.text(name);
    const found = words.find((word) => word === text);
    if (found === undefined) throw wrongField(name, `${label} must be one of ${words.join(", ")}.`);
    return found;
  }
}

/**
 * Returns the id of the page's path.
 * @throws Refusal 404 if it is not an id
 */
export function idOf({ params }: Visit, what: string): number {
  const text = params.id ?? "";
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(404, `There is no ${what} "${text}".`);
  return Number(text);
}

/** Returns a record. Undefined if it no longer exists, because other records may refer to a deleted record. */
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

/** Returns a link to a service, with its domain for recognition. */
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
