import type { Chance } from "./chance.ts";
import type { Habits } from "./circumstances.ts";
import {
  type Account,
  accountJson,
  type Grant,
  grantJson,
  invoiceJson,
  type Migration,
  migrationJson,
  PLANS,
  phaseOf,
  type Registration,
  type Service,
  serviceJson,
  type Webhook,
  webhookJson,
} from "./records.ts";
import { type Answer, type Arrival, made, NOT_FOUND, objectOf, ok, pageOf, Throttle } from "./wire.ts";

/** Effect or attempted effect of a write request. */
export type Deed =
  | { readonly did: "order"; readonly service: Service; readonly key: string }
  | { readonly did: "replay"; readonly key: string; readonly sameBody: boolean }
  | { readonly did: "suspend" | "unsuspend" | "password"; readonly service: Service }
  | { readonly did: "grant"; readonly grant: Grant }
  | { readonly did: "revoke"; readonly grant: Grant }
  | { readonly did: "subscribe" | "unsubscribe"; readonly webhook: Webhook }
  | { readonly did: "account"; readonly account: Account }
  | { readonly did: "migrate"; readonly migration: Migration }
  | { readonly did: "register"; readonly domain: string };

/** API of one account. Follows the specification exactly, and is as inconvenient as the specification allows. */
export class Server {
  readonly services: Service[] = [];
  readonly registrations: Registration[] = [];
  readonly accounts: Account[] = [];
  readonly migrations: Migration[] = [];
  grants: Grant[] = [];
  webhooks: Webhook[] = [];
  readonly habits: Habits;
  readonly throttle: Throttle;
  readonly #chance: Chance;
  readonly #now: () => number;
  readonly #witness: (deed: Deed, from: string) => void;
  readonly #keys = new Map<
    string,
    { readonly at: number; readonly until: number; readonly sent: string; readonly body: unknown }
  >();
  #ids = 100;

  constructor(chance: Chance, now: () => number, habits: Habits, witness: (deed: Deed, from: string) => void) {
    this.#chance = chance;
    this.#now = now;
    this.habits = habits;
    this.throttle = new Throttle(habits.perMinute);
    this.#witness = witness;
  }

  nextId(): number {
    this.#ids += this.#chance.whole(1, 3);
    return this.#ids;
  }

  /** Handles a request. */
  handle(arrival: Arrival): Answer {
    this.settle();
    const { method, path } = arrival;
    const [collection = "", id = "", part = "", partId = ""] = path.split("/").slice(1);
    const route = `${method} ${collection}${id && "/:"}${part && `/${part}`}${partId && "/:"}`;
    const service = this.services.find((one) => String(one.id) === id && one.visibleAt <= this.#now());
    switch (route) {
      case "GET plans":
        return this.#list(PLANS, (plan) => ({ ...plan, currency: "USD", billing_cycle: "monthly" }), arrival);
      case "GET services": {
        const shown = this.services.filter(
          (one) => one.visibleAt + this.habits.lagMs <= this.#now() && !(one.terminated && this.habits.hidesTerminated),
        );
        return this.#list(shown, (one) => serviceJson(one, this.#now()), arrival);
      }
      case "GET services/:":
        if (service === undefined || (service.terminated && this.habits.hidesTerminated)) return NOT_FOUND;
        return ok(serviceJson(service, this.#now()));
      case "POST services":
        return this.#order(arrival);
      case "POST services/:/suspend":
      case "POST services/:/unsuspend":
      case "POST services/:/password":
      case "GET services/:/grants":
      case "POST services/:/grants":
        return service === undefined ? NOT_FOUND : this.#ofService(part, service, arrival);
      case "DELETE services/:/grants/:": {
        const grant = this.grants.find((one) => String(one.id) === partId && String(one.service) === id);
        if (grant === undefined) return NOT_FOUND;
        this.grants = this.grants.filter((one) => one !== grant);
        return this.#done({ did: "revoke", grant }, arrival, { status: 204, body: undefined });
      }
      case "GET webhooks":
        return this.#list(this.#listed(this.webhooks), webhookJson, arrival);
      case "POST webhooks": {
        const { url, events } = objectOf(arrival) as { url: string; events: string[] };
        const secret = `whsec_${this.#chance.uuid()}`;
        const webhook: Webhook = { ...this.#new(), url, events, secret };
        this.webhooks.push(webhook);
        const shown = this.habits.terse ? { secret } : { ...webhookJson(webhook), secret };
        return this.#done({ did: "subscribe", webhook }, arrival, made(shown));
      }
      case "DELETE webhooks/:": {
        const webhook = this.webhooks.find((one) => String(one.id) === id);
        if (webhook === undefined) return NOT_FOUND;
        this.webhooks = this.webhooks.filter((one) => one !== webhook);
        return this.#done({ did: "unsubscribe", webhook }, arrival, { status: 204, body: undefined });
      }
      case "POST domains":
        return this.#register(arrival);
      case "GET accounts":
        return this.#list(this.#listed(this.accounts), accountJson, arrival);
      case "POST accounts": {
        const { name, currency = "USD" } = objectOf(arrival) as { name: string; currency?: string };
        const account: Account = { ...this.#new(), name, currency };
        this.accounts.push(account);
        return this.#done({ did: "account", account }, arrival, this.#answer(accountJson(account)));
      }
      case "GET migration-requests":
        return this.#list(this.#listed(this.migrations), migrationJson, arrival);
      case "GET migration-requests/:": {
        const found = this.migrations.find((one) => String(one.id) === id);
        return found === undefined ? NOT_FOUND : ok(migrationJson(found));
      }
      case "POST migration-requests": {
        const { domain, order_id: order = null } = objectOf(arrival) as { domain: string; order_id?: number };
        const migration: Migration = { ...this.#new(), domain, order };
        this.migrations.push(migration);
        return this.#done({ did: "migrate", migration }, arrival, this.#answer(migrationJson(migration)));
      }
      default:
        return NOT_FOUND;
    }
  }

  /**
   * Handles a request. If the request reads the first page of a list, the first item belongs to another user, and ends
   * after this request.
   */
  shift(arrival: Arrival): Answer {
    const { method, path, query } = arrival;
    const [plan] = PLANS;
    if (method !== "GET" || query.get("page") !== "1" || plan === undefined) return this.handle(arrival);
    const ending = { id: this.nextId(), createdAt: 0, foreign: true };
    const domain = `ended${ending.id}.example`;
    switch (path) {
      case "/services": {
        const order = { ...ending, plan, domain, term: 1, key: null, currency: "USD", password: null, jobs: [] };
        const times = { visibleAt: 0, paidAt: 0, provisionedAt: 0, suspended: false, terminated: false };
        return this.#withFirst(this.services, { ...order, ...times }, arrival);
      }
      case "/webhooks": {
        const webhook = { ...ending, url: `https://${domain}/`, events: ["invoice.paid"], secret: "theirs" };
        return this.#withFirst(this.webhooks, webhook, arrival);
      }
      case "/accounts":
        return this.#withFirst(this.accounts, { ...ending, name: domain, currency: "USD" }, arrival);
      case "/migration-requests":
        return this.#withFirst(this.migrations, { ...ending, domain, order: null }, arrival);
      default:
        return this.handle(arrival);
    }
  }

  #withFirst<T>(rows: T[], row: T, arrival: Arrival): Answer {
    rows.splice(this.habits.newestFirst ? rows.length : 0, 0, row);
    const answer = this.handle(arrival);
    rows.splice(rows.indexOf(row), 1);
    return answer;
  }

  #list<T extends object>(items: readonly T[], json: (item: T) => object, { query }: Arrival): Answer {
    return pageOf(this.habits.newestFirst ? items.toReversed() : items, json, query, this.habits.pageSize);
  }

  /** Returns the items that a list contains now. Some hosts list new objects late. */
  #listed<T extends { readonly createdAt: number }>(items: readonly T[]): T[] {
    const { lagMs, aheadMs } = this.habits;
    return items.filter(({ createdAt }) => createdAt - aheadMs + lagMs <= this.#now());
  }

  /** Adds the server's time to a response. */
  dated(answer: Answer): Answer {
    const date = new Date(this.#now() + this.habits.aheadMs).toUTCString();
    return { ...answer, headers: { date, ...answer.headers } };
  }

  #new(): { id: number; createdAt: number; foreign: false } {
    return { id: this.nextId(), createdAt: this.#now() + this.habits.aheadMs, foreign: false };
  }

  #answer(data: object): Answer {
    return this.habits.terse ? { status: 201, body: undefined } : made(data);
  }

  /** Performs the due jobs. */
  settle(): void {
    const now = this.#now();
    for (const service of this.services) {
      for (const job of service.jobs) if (job.at <= now) service.suspended = job.suspend;
      service.jobs = service.jobs.filter(({ at }) => at > now);
    }
  }

  /** Adds a service from an order or from the console. */
  add(order: Pick<Service, "plan" | "domain" | "term" | "foreign" | "key">, workMs: number): Service {
    const now = this.#now();
    const { payMs, provisionMs } = this.habits;
    const paidAt = now + workMs + this.#chance.whole(...payMs);
    const service: Service = {
      ...order,
      id: this.nextId(),
      currency: "USD",
      createdAt: now + this.habits.aheadMs,
      visibleAt: now + workMs,
      paidAt,
      provisionedAt: paidAt + this.#chance.whole(...provisionMs),
      suspended: false,
      terminated: false,
      jobs: [],
      password: null,
    };
    this.services.push(service);
    return service;
  }

  /**
   * §4: a repeated request with the same key returns the original response. §7: 409 while the first request is in
   * progress.
   */
  #order(arrival: Arrival): Answer {
    const { key, body: sent = "" } = arrival;
    if (key === undefined) return { status: 400, body: { message: "The Idempotency-Key header is required." } };
    const now = this.#now();
    const known = this.#keys.get(key);
    if (known !== undefined && now < known.until) return { status: 409, body: { message: "In progress." } };
    if (known !== undefined && now < known.at + this.habits.keyMemoryMs)
      return this.#done({ did: "replay", key, sameBody: known.sent === sent }, arrival, made(known.body));
    const {
      plan_id,
      domain = null,
      term = 1,
    } = objectOf(arrival) as { plan_id: number; domain?: string; term?: number };
    const plan = PLANS.find((one) => one.plan_id === plan_id);
    if (plan === undefined) return { status: 422, body: { message: "Invalid.", errors: { plan_id: ["unknown"] } } };
    const work = this.#chance.once(this.habits.slowOrders) ? this.#chance.whole(1_000, 50_000) : 0;
    const service = this.add({ plan, domain, term, key, foreign: false }, work);
    const body = { ...serviceJson(service, now), invoice: invoiceJson(service.id, service.id, plan.price, now) };
    this.#keys.set(key, { at: now, until: now + work, sent, body });
    return this.#done({ did: "order", service, key }, arrival, { ...made(body), after: work });
  }

  #ofService(part: string, service: Service, arrival: Arrival): Answer {
    const now = this.#now();
    if (part === "grants" && arrival.method === "GET")
      return this.#list(this.#listed(this.grants.filter((one) => one.service === service.id)), grantJson, arrival);
    if (part === "grants") {
      const { email, permission } = objectOf(arrival) as { email: string; permission: string };
      const grant: Grant = { ...this.#new(), service: service.id, email, permission };
      this.grants.push(grant);
      return this.#done({ did: "grant", grant }, arrival, this.#answer(grantJson(grant)));
    }
    const phase = phaseOf(service, now);
    if (phase === "pending" || phase === "terminated" || now < service.provisionedAt)
      return { status: 422, body: { message: "The service is not active.", errors: {} } };
    if (part === "password") {
      const { password } = objectOf(arrival) as { password?: string };
      service.password = password ?? `pw-${this.#chance.uuid()}`;
      return this.#done({ did: "password", service }, arrival, ok({ password: service.password }));
    }
    const suspend = part === "suspend";
    const at = Math.max(service.jobs.at(-1)?.at ?? 0, now + this.#chance.whole(...this.habits.jobMs));
    service.jobs.push({ at, suspend });
    return this.#done({ did: suspend ? "suspend" : "unsuspend", service }, arrival, {
      status: 202,
      body: { message: "Queued." },
    });
  }

  /** Registers a domain. A second registration of the domain is rejected. */
  #register(arrival: Arrival): Answer {
    const { domain } = objectOf(arrival) as { domain: string };
    this.#witness({ did: "register", domain }, arrival.from);
    if (this.registrations.some((one) => one.domain === domain))
      return { status: 422, body: { message: "Taken.", errors: { domain: ["is not available"] } } };
    const registration = { id: this.nextId(), domain };
    this.registrations.push(registration);
    const invoice = invoiceJson(registration.id, registration.id, 1200, this.#now());
    return made({ id: registration.id, domain, status: "pending", invoice });
  }

  #done(deed: Deed, { from }: Arrival, answer: Answer): Answer {
    this.#witness(deed, from);
    return answer;
  }
}
