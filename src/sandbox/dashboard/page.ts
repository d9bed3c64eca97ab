/** What a page of the dashboard is made of, and what it is given. */
import type { Control } from "../control/control.ts";
import type { Profile } from "../profile/profile.ts";
import type { Customer } from "../store/records.ts";
import type { Form } from "./form.ts";
import type { Html } from "./parts/text.ts";

/** What the pages tell about the sandbox besides its records. */
export interface About {
  /** Base URL of the API port; known once it listens. */
  readonly apiUrl: string;
  readonly profile: Profile;
  readonly seed: string;
  /** Requests per minute per token; 0: no limit. */
  readonly rateLimit: number;
  readonly autoPay: boolean;
  /** How often an open page is told what is new, in milliseconds of real time. Default 700. */
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
  /** The account that is looked at, as a user of the vendor's dashboard is signed in to one. */
  readonly account: Customer;
  /** Path with its query: where the forms of the page post to. */
  readonly here: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The form that was refused, when this is the answer to it. */
  readonly failed?: Failed;
}

/** A form that was refused: what to say at it, and what stood in it. */
export interface Failed {
  readonly form: Form;
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/** What is said after an action, on the page that follows. */
export interface Said {
  readonly text: string;
  /** A value that is shown this once. */
  readonly once?: { readonly label: string; readonly value: string };
  /** The page to go to; default: the one where the form stood. */
  readonly to?: string;
}

/** What a button does. It calls the functions of `Control` that the HTTP control API calls for `api`, and nothing else. */
export interface Action {
  /** The same as a call: "POST /invoices/:id/pay". */
  readonly api: string;
  /** @throws Refusal with a sentence, which is shown at the form. */
  run(visit: Visit, form: Form): Said | Promise<Said>;
}

export interface Page {
  /** Below /dashboard, in hono's notation: "/services/:id". */
  readonly path: string;
  title(visit: Visit): string;
  /** The entry of the navigation that it belongs to. */
  readonly nav: string;
  body(visit: Visit): Html;
  /** What its buttons do, by the `do` that they send. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** The parts that are sent anew while the page is open, by the id of the element that holds them. */
  readonly live?: Readonly<Record<string, (visit: Visit) => Html>>;
}

/** Where the pages are; the first one is at the root of the port as well. */
export const ROOT = "/dashboard";
