/**
 * Sends the deliveries of the outbox (§6 Delivery): signed, at once, and with up to 3 retries at increasing intervals after
 * any response except 2xx.
 *
 * Must not: follow redirects; connect to an address that the options do not allow.
 */
import { createHmac } from "node:crypto";
import type { SandboxClock } from "../clock.ts";
import type { Fault, Faults } from "../faults.ts";
import type { Settings } from "../options.ts";
import { backoffSeconds } from "../profile/profile.ts";
import type { Attempt, Delivery } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Post, PostResult } from "./post.ts";

/**
 * Maximum number of parallel deliveries, in total and per webhook. So, a receiver that never responds does not block the
 * others.
 */
const AT_ONCE = 50;
const AT_ONCE_EACH = 5;
/** Maximum time for a response, in milliseconds. */
const LONGEST_ANSWER_MS = 10_000;

interface Deps {
  readonly settings: Settings;
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly faults: Faults;
}

export class EventSender {
  readonly #deps: Deps;
  /** HTTP client, loaded at the first delivery. */
  #post: Promise<Post> | undefined;
  /** Attempts in progress by delivery id, and their number by webhook id. */
  readonly #underWay = new Map<number, Promise<void>>();
  readonly #each = new Map<number, number>();
  /** Ids of due deliveries by webhook id, ordered by due time. */
  #lanes = new Map<number, number[]>();
  /** Id of the newest delivery that `#look` has read. */
  #seen = 0;
  /** Time of the next retry, in milliseconds since the epoch. */
  #next: number | undefined;
  #pump: Promise<void> | undefined;
  /** Resolved by `wake` and `close`, to interrupt the wait for attempts in progress. */
  #bell = Promise.withResolvers<void>();
  #closed = false;
  /** Incremented when the data is replaced, so that results of earlier attempts are ignored. */
  #age = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Sends due deliveries in the background. */
  wake(): void {
    if (this.#closed) return;
    if (this.#pump !== undefined) {
      if (this.#isStale()) this.#bell.resolve();
      return;
    }
    this.#look();
    if (this.#lanes.size === 0) return;
    this.#pump = this.#run().finally(() => {
      this.#pump = undefined;
      this.wake();
    });
  }

  /** Time of the next retry, in milliseconds since the epoch. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Resolves when no due delivery is left. */
  async settled(): Promise<void> {
    this.wake();
    while (this.#pump !== undefined) await this.#pump;
  }

  /** Aborts the attempts in progress and ignores their results. Called when the data is replaced. */
  forget(): void {
    this.#age += 1;
    this.#lanes = new Map();
    void this.#post?.then((post) => post.close());
    this.#post = undefined;
  }

  /** Aborts the attempts in progress. Their deliveries stay in the outbox. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#bell.resolve();
    await (await this.#post)?.close();
    await this.#pump;
  }

  /** Reads the due deliveries that are not in progress, and the time of the next retry. */
  #look(): void {
    const { store, clock } = this.#deps;
    const now = clock.now();
    this.#seen = lastDelivery(store);
    this.#next = undefined;
    this.#lanes = new Map();
    const due: { id: number; at: number }[] = [];
    for (const { id, due_at } of store.table("outbox").all()) {
      const at = Date.parse(due_at);
      if (at > now) this.#next = Math.min(at, this.#next ?? at);
      else if (!this.#underWay.has(id)) due.push({ id, at });
    }
    for (const { id } of due.sort((a, b) => a.at - b.at || a.id - b.id)) this.#enter(id);
  }

  /** Returns true if a delivery was added or became due after the last `#look`. */
  #isStale(): boolean {
    const { store, clock } = this.#deps;
    return this.#seen !== lastDelivery(store) || (this.#next !== undefined && this.#next <= clock.now());
  }

  #enter(id: number): void {
    const webhook = this.#deps.store.table("deliveries").get(id)?.webhook_id ?? 0;
    const lane = this.#lanes.get(webhook);
    if (lane === undefined) this.#lanes.set(webhook, [id]);
    else lane.push(id);
  }

  async #run(): Promise<void> {
    // The response to the causing request must be sent first.
    await new Promise(setImmediate);
    while (!this.#closed) {
      if (this.#isStale()) this.#look();
      for (const [webhook, lane] of this.#lanes) this.#startFrom(webhook, lane);
      if (this.#underWay.size === 0) return;
      this.#bell = Promise.withResolvers();
      await Promise.race([...this.#underWay.values(), this.#bell.promise]);
    }
  }

  /** Starts due deliveries to a webhook, up to the maximum. */
  #startFrom(webhook: number, lane: number[]): void {
    while (this.#underWay.size < AT_ONCE && (this.#each.get(webhook) ?? 0) < AT_ONCE_EACH) {
      const id = lane.shift();
      if (id === undefined) {
        this.#lanes.delete(webhook);
        return;
      }
      this.#each.set(webhook, (this.#each.get(webhook) ?? 0) + 1);
      const work = this.#attempt(id).finally(() => {
        this.#underWay.delete(id);
        this.#each.set(webhook, (this.#each.get(webhook) ?? 1) - 1);
      });
      this.#underWay.set(id, work);
    }
  }

  async #attempt(id: number): Promise<void> {
    const { store } = this.#deps;
    const delivery = store.table("deliveries").get(id);
    const webhook = delivery && store.table("webhooks").get(delivery.webhook_id);
    const made = { at: store.table("outbox").get(id)?.due_at ?? this.#deps.clock.instant(), status: null, error: null };
    if (delivery === undefined || webhook === undefined) {
      this.#note(id, { ...made, error: "The subscription was removed." }, "abandoned");
      return;
    }
    const age = this.#age;
    const fault = this.#deps.faults.injectIntoDelivery(delivery.event);
    const sent = fault === undefined ? await this.#send(delivery, webhook.secret) : outcomeOf(fault);
    if (this.#closed || age !== this.#age) return;
    const good = sent.status !== null && sent.status >= 200 && sent.status < 300;
    const error = good ? null : (sent.error ?? refusalOf(sent.status));
    this.#note(id, { ...made, status: sent.status, error }, good ? "delivered" : sent.blocked ? "blocked" : undefined);
  }

  async #send(delivery: Delivery, secret: string): Promise<PostResult> {
    this.#post ??= import("./post.ts").then(({ openPost }) =>
      openPost(this.#deps.settings.deliverTo, LONGEST_ANSWER_MS),
    );
    return (await this.#post).send(delivery.url, delivery.body, {
      "Content-Type": "application/json",
      "User-Agent": "hosting-sandbox-webhooks/1",
      [SIGNATURE_HEADER]: sign(delivery.body, secret),
    });
  }

  /** Stores the result of an attempt, and schedules the next attempt if there is one. */
  #note(id: number, attempt: Attempt, end: Delivery["status"] | undefined): void {
    const { store, settings } = this.#deps;
    store.transaction(() => {
      const delivery = store.table("deliveries").get(id);
      // Ignore the result if the data was replaced during the attempt.
      if (delivery === undefined || store.table("outbox").get(id)?.due_at !== attempt.at)
        return store.table("outbox").remove(id);
      const attempts = [...delivery.attempts, attempt];
      const wait = backoffSeconds(settings.profile)[attempts.length - 1];
      const status = end ?? (wait === undefined ? "abandoned" : "pending");
      store.table("deliveries").update(id, { attempts, status });
      if (status === "pending" && wait !== undefined) {
        const due = Date.parse(attempt.at) + wait * 1000;
        store.table("outbox").put({ id, due_at: new Date(due).toISOString() });
        // The retry may already be due, because the clock can jump.
        if (due <= this.#deps.clock.now()) this.#enter(id);
        else this.#next = Math.min(due, this.#next ?? due);
      } else store.table("outbox").remove(id);
      prune(store);
    });
  }
}

/** Maximum number of finished deliveries in the store. */
const KEPT_DELIVERIES = 5_000;

/** Deletes the oldest finished deliveries above the maximum. Must run inside a transaction. */
function prune(store: Store): void {
  let surplus = store.table("deliveries").size - KEPT_DELIVERIES;
  if (surplus <= KEPT_DELIVERIES / 10) return;
  for (const { id, status } of store.table("deliveries").all()) {
    if (surplus <= 0) return;
    if (status === "pending") continue;
    store.table("deliveries").remove(id);
    surplus -= 1;
  }
}

function lastDelivery(store: Store): number {
  return store.table("counters").get("deliveries")?.value ?? 0;
}

/** Returns the result of a fault. Nothing is sent. */
function outcomeOf({ id, drop, status = 500 }: Fault): PostResult {
  if (drop) return { status: null, error: `The connection was cut by fault ${id}.`, blocked: false };
  return { status, error: `${refusalOf(status)} Fault ${id} was injected.`, blocked: false };
}

function refusalOf(status: number | null): string {
  if (status !== null && status >= 300 && status < 400) {
    return `The receiver answered ${status}; redirects are not followed.`;
  }
  return `The receiver answered ${status}, not 2xx.`;
}

/** Header of every delivery (§6 Signature 1). */
export const SIGNATURE_HEADER = "X-Service-Signature";

/**
 * Returns the signature: "The HMAC-SHA256 of the exact raw request body, keyed with the webhook's own signing secret, as a
 * hexadecimal digest" (§6).
 */
export function sign(body: string, secret: string): string {
  return createHmac("sha256", secret).update(body, "utf8").digest("hex");
}
