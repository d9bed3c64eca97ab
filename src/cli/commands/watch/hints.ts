import type { ResourceState, State } from "../../../core/model/index.ts";

/** What an event names. Nothing else of it counts: what has become of it is read from the API. */
export interface Hint {
  /** Its name (§6). */
  readonly event: string;
  /** The id of a service: the order of an invoice. */
  readonly service: string | undefined;
  readonly invoice: string | undefined;
}

/** More than this waiting at once is as good as all. */
const MOST_HINTS = 100;
/** A look at more addresses than this costs as much as one at everything. */
const MOST_TARGETS = 10;

/** The events that wait for a look. Bounded, however many come. */
export class Hints {
  readonly #waiting = new Map<string, Hint>();
  #overflown = false;

  /** The same thing named twice is one hint. */
  add(hint: Hint): void {
    const key = JSON.stringify([hint.event, hint.service ?? null, hint.invoice ?? null]);
    if (this.#waiting.size < MOST_HINTS || this.#waiting.has(key)) this.#waiting.set(key, hint);
    else this.#overflown = true;
  }

  /** Takes what waits. */
  take(): { readonly hints: readonly Hint[]; readonly overflown: boolean } {
    const taken = { hints: [...this.#waiting.values()], overflown: this.#overflown };
    this.#waiting.clear();
    this.#overflown = false;
    return taken;
  }
}

/** What events mean for this project. */
export interface Named {
  /** Addresses to look at. */
  readonly targets: readonly string[];
  /** It is better to look at everything. */
  readonly everything: boolean;
  /** Events about what is not ours, as far as anybody can tell. */
  readonly strangers: readonly Hint[];
}

/**
 * The addresses in the state that events name: a service by its id, with its grants when the event is about the service
 * itself; what an invoice is for by the order or by the invoice. An event that names nothing may be about anything.
 * @param open a create has no known outcome, or something declared is not made yet: then an id that is not recorded may be ours.
 */
export function namedBy(hints: readonly Hint[], state: State, open: boolean): Named {
  const resources = [...state.resources.values()];
  const targets = new Set<string>();
  const strangers: Hint[] = [];
  let everything = false;
  for (const hint of hints) {
    if (hint.service === undefined && hint.invoice === undefined) everything = true;
    const found = resources.filter((resource) => isNamed(resource, hint));
    for (const { address } of found) targets.add(address);
    if (found.length === 0) strangers.push(hint);
  }
  if (targets.size > MOST_TARGETS || (open && strangers.length > 0)) everything = true;
  return { targets: everything ? [] : [...targets], everything, strangers: everything ? [] : strangers };
}

function isNamed({ address, attributes }: ResourceState, { event, service, invoice }: Hint): boolean {
  const type = address.slice(0, address.indexOf("."));
  const is = (name: string, id: string | undefined) => id !== undefined && attributes[name] === id;
  if (type === "hosting_service") return is("id", service) || is("invoice_id", invoice);
  if (type === "hosting_domain") return is("invoice_id", invoice);
  return type === "hosting_grant" && event.startsWith("service.") && is("service_id", service);
}
