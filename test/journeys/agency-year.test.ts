/**
 * A year of an agency on the sandbox's clock. Each morning, `hostform status` equals the sandbox's data, and each
 * notification arrives once.
 */
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { AccountReport } from "../../src/report/index.ts";
import { addMonths } from "../../src/sandbox/clock.ts";
import { verifySignature } from "../../src/webhooks/index.ts";
import { LONG } from "../reliability/support/long.ts";
import { Project, startProject } from "../support/project.ts";

const DAY_MS = 86_400_000;
const [DAYS, ADOPTED, RUNS] = LONG ? [365, 60, 40] : [36, 8, 10];
const SECRET = "whsec-of-the-agency-year-0123456789";
/** Exact amounts, in cents. */
const pinned = { plan: ["plan_id", "id"], money: ["minor"] } as const;

/** Returns a generator of numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const sumOf = (amounts: readonly number[]) => amounts.reduce((sum, one) => sum + one, 0);
const site = (name: string) => ({ plan_id: 11, currency: "USD", domain: `${name}.example`, deletion_policy: "forget" });

interface News {
  readonly event: string;
  readonly address?: string;
  readonly kind?: string;
}

/**
 * Receives notifications on this machine. Returns its URL, and a function that returns the news since its last call.
 */
async function receiver() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    expect(verifySignature(body, request.headers["x-service-signature"], SECRET)).toBe(true);
    bodies.push(body.toString());
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const news = () => bodies.splice(0).flatMap((body): News[] => JSON.parse(body).data.news);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, news };
}

/** A colleague with an own folder, and the expected facts about the colleague's sites. */
class Colleague {
  readonly project: Project;
  readonly name: string;
  /** Address by id of each site in the state that is still declared. */
  sites = new Map<number, string>();
  readonly ordered: string[] = [];
  /** First command that reported each offline site, in minutes of the clock, by id. */
  readonly offline = new Map<number, string>();

  constructor(project: Project, name: string) {
    this.project = project;
    this.name = name;
  }

  declare(): Promise<void> {
    const services = Object.fromEntries(this.ordered.map((name) => [name, site(name)]));
    return this.project.declare(this.name === "ann" ? { services } : { project: this.name, services }, this.#file);
  }

  get #file() {
    return this.name === "ann" ? "new.hosting.yaml" : "hosting.yaml";
  }

  async read(): Promise<void> {
    const { resources } = await this.project.state();
    this.sites = new Map([...resources].map(([address, { attributes }]) => [Number(attributes.id), address]));
  }
}

class Agency {
  readonly log: string[] = [];
  readonly colleagues: readonly Colleague[];
  readonly random: () => number;
  readonly #project: Project;
  /** Ids of services whose clients do not pay. */
  readonly #late = new Set<number>();
  #ordered = 0;

  constructor(project: Project, other: Project, seed: number) {
    this.#project = project;
    this.colleagues = [new Colleague(project, "ann"), new Colleague(other, "bob")];
    this.random = randomOf(seed);
  }

  /** Services that exist in the account. */
  get services() {
    return this.#project.control
      .list("services")
      .filter((one) => one.customer_id === 1 && ["pending", "active", "suspended"].includes(one.status));
  }

  get unpaid() {
    return this.#project.control
      .list("invoices")
      .filter(({ status, customer_id }) => status === "unpaid" && customer_id === 1);
  }

  get invoices(): number {
    return this.#project.control.list("invoices").filter(({ customer_id }) => customer_id === 1).length;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.random() * from.length)];
  }

  /** Plays one day's actions of the host and the clients. */
  outside(): void {
    const { control } = this.#project;
    for (const { id, order_id } of this.unpaid)
      if (!this.#late.has(order_id) && this.random() < 0.4) control.payInvoice(id);
    const service = this.pick(this.services);
    const chance = this.random();
    const note = (what: string) => this.log.push(`  ${service?.id}: ${what}`);
    if (service === undefined) return;
    const { id, status, price } = service;
    if (chance < 0.15) {
      if (!this.#late.delete(id)) this.#late.add(id);
      note(`pays ${this.#late.has(id) ? "no longer" : "again"}`);
    } else if (chance < 0.35 && status === "active") {
      control.suspendService(id);
      note("is suspended by the host");
    } else if (chance < 0.4 && status !== "pending") {
      control.acceptTransfer(control.offerTransfer(id, { to: "customer" }).id);
      note("is transferred");
    } else if (chance < 0.55) {
      control.change("services", id, { price: price + 50 });
      note("costs more");
    } else if (chance < 0.6) {
      const plan = control.get("plans", 11);
      control.change("plans", 11, { prices: { ...plan.prices, USD: (plan.prices.USD ?? 0) + 7 } });
      this.log.push("  the hosting plan costs more");
    } else if (chance < 0.63) {
      control.terminateService(id);
      note("is terminated");
    } else if (chance < 0.85) {
      for (const one of this.services) if (one.suspended_for === "request") control.unsuspendService(one.id);
      this.log.push("  the host restores what it suspended");
    }
  }

  async order(colleague: Colleague): Promise<void> {
    this.#ordered += 1;
    colleague.ordered.push(`new${this.#ordered}`);
    this.log.push(`  ${colleague.name} orders new${this.#ordered}`);
    await colleague.declare();
  }

  /** Removes the sites that no longer exist from the declaration. */
  async tidy(colleague: Colleague): Promise<void> {
    const ids = new Set(this.services.map(({ id }) => id));
    for (const [id, address] of colleague.sites) {
      if (ids.has(id)) continue;
      const at = colleague.ordered.indexOf(address.replace("hosting_service.", ""));
      if (at >= 0) {
        colleague.ordered.splice(at, 1);
        await colleague.declare();
      } else {
        const ran = await colleague.project.run("edit", "remove", address);
        expect(ran.code, this.story(ran.text)).toBe(0);
      }
      colleague.sites.delete(id);
      this.log.push(`  ${colleague.name} removes ${address}`);
    }
  }

  async apply(colleague: Colleague): Promise<string> {
    const ran = await colleague.project.run("apply", "--auto-approve", "--allow-removals", "--allow-missing");
    expect(ran.code, this.story(ran.text)).toBe(0);
    await colleague.read();
    this.see(colleague);
    return ran.out;
  }

  /** Records which sites this colleague's last command found offline for the first time. */
  see({ sites, offline }: Colleague): void {
    const down = new Set(
      this.services.flatMap(({ id, status }) => (status === "suspended" && sites.has(id) ? id : [])),
    );
    const minute = new Date(this.#project.clock.now()).toISOString().slice(0, 16);
    for (const id of offline.keys()) if (!down.has(id)) offline.delete(id);
    for (const id of down) if (!offline.has(id)) offline.set(id, minute);
  }

  /** Returns the addresses of a colleague's sites that are offline, unpaid or no longer in this account. */
  troubled({ sites }: Colleague): string[] {
    const found = new Map(this.services.map((one) => [one.id, one.status]));
    const owing = new Set(this.unpaid.map(({ order_id }) => order_id));
    const isWell = (id: number) => found.get(id) === "active" && !owing.has(id);
    return [...sites].flatMap(([id, address]) => (isWell(id) ? [] : address)).toSorted();
  }

  /** Returns the number of services in each state, as a colleague's report counts them. */
  states({ sites, ordered, offline }: Colleague) {
    const found = new Set(this.services.map(({ id }) => id));
    const lost = [...sites.keys()].filter((id) => !found.has(id));
    const moved = lost.filter((id) => this.#project.control.get("services", id).customer_id !== 1);
    const known = new Set(sites.values());
    const count = (status: string, isWanted = (_id: number) => true) =>
      this.services.filter((one) => one.status === status && isWanted(one.id)).length;
    return {
      ...{ live: count("active"), offline: offline.size, suspended: 0, waiting: count("pending"), unknown_status: 0 },
      suspended_undeclared: count("suspended", (id) => !sites.has(id)),
      ...{ gone: lost.length - moved.length, handed_over: moved.length, outside: 0, not_listed: 0 },
      not_ordered: ordered.filter((name) => !known.has(`hosting_service.${name}`)).length,
    };
  }

  async status(colleague: Colleague): Promise<AccountReport> {
    const ran = await colleague.project.run("status", "--json");
    expect(ran.code, this.story(ran.text)).toBe(0);
    this.see(colleague);
    return JSON.parse(ran.out);
  }

  story(text: string): string {
    return `${this.log.join("\n")}\n${text.slice(0, 6_000)}`;
  }

  /** Fails unless a report equals the sandbox's data. */
  compare(report: AccountReport, colleague: Colleague): void {
    const { services, unpaid } = this;
    const now = this.#project.clock.now();
    const today = dayOf(now);
    const billed = services.filter(({ status }) => status !== "pending");
    // Each day of the next 30 on which the host will raise an invoice, if all invoices are paid in time.
    const last = dayOf(Date.parse(today) + 30 * DAY_MS);
    const renewing = billed.flatMap(({ id, next_due_date, price }) => {
      const own = unpaid.filter(({ order_id }) => order_id === id);
      if (own.some(({ due_date }) => due_date < today)) return [];
      const days = Array.from({ length: 14 }, (_, nth) => dayOf(addMonths(Date.parse(next_due_date), nth)));
      const isRaised = (day: string) => day === next_due_date && own.some(({ due_date }) => due_date >= day);
      return days.filter((day) => day >= today && day <= last && !isRaised(day)).map(() => price);
    });
    const { overview, money, attention } = report;
    const isGone = (name: string) => name === "gone" || name === "handed_over";
    const shown = report.services.filter(({ id, conditions }) => id !== null && !conditions.some(isGone));
    const owed = sumOf(unpaid.map(({ total }) => total));
    const since = [...colleague.offline.values()].toSorted()[0] ?? null;
    const [owing] = overview.unpaid;
    expect(
      {
        minute: report.timestamp.slice(0, 16),
        count: overview.services,
        states: overview.states,
        offline_since: overview.offline_since?.slice(0, 16) ?? null,
        since: Object.fromEntries(
          attention.flatMap(({ condition, address, since }) =>
            condition === "offline" ? [[address, since?.slice(0, 16)]] : [],
          ),
        ),
        unpaid: [owing?.count ?? 0, owing?.total ?? 0, owing?.due_date ?? null, overview.unpaid.length],
        due: sumOf(money.due.map(({ total }) => total)),
        overdue: money.invoices.filter((one) => one.is_overdue).length,
        rate: sumOf(money.run_rate.map(({ total }) => total)),
        renewals: sumOf(money.renewals.map((one) => one.next_30_days ?? 0)),
        troubled: [...new Set(attention.map(({ address }) => address))].toSorted(),
        services: shown
          .map(({ id, state, next_due_date, price }) => `${id} ${state === "live"} ${next_due_date} ${price}`)
          .toSorted(),
        money: [money.unread !== null, report.unread],
      },
      this.story(JSON.stringify({ overview, attention }, null, 1)),
    ).toEqual({
      minute: new Date(now).toISOString().slice(0, 16),
      count: services.length,
      states: this.states(colleague),
      offline_since: since,
      since: Object.fromEntries([...colleague.offline].map(([id, minute]) => [colleague.sites.get(id), minute])),
      unpaid: [
        unpaid.length,
        owed,
        unpaid.map(({ due_date }) => due_date).toSorted()[0] ?? null,
        unpaid.length > 0 ? 1 : 0,
      ],
      due: owed,
      overdue: unpaid.filter(({ due_date }) => due_date < today).length,
      rate: sumOf(billed.map(({ price, term }) => Math.ceil(price / term))),
      renewals: sumOf(renewing),
      troubled: this.troubled(colleague),
      services: services
        .map(({ id, status, next_due_date, price }) => `${id} ${status === "active"} ${next_due_date} ${price}`)
        .toSorted(),
      // A status reads ten pages of invoices. It reports that more pages exist.
      money: [this.invoices > 1_000, []],
    });
  }
}

describe("the year of an agency", () => {
  it("is in each morning's status as in the books, and each notification arrives once", {
    timeout: 600_000,
  }, async () => {
    const hook = await receiver();
    const project = await startProject({ sandbox: { autoPay: false, provisioningSeconds: 0, jobSeconds: 0 }, pinned });
    const { control, clock } = project;
    Object.assign(project.env, {
      HOSTFORM_STATE_HOME: path.join(project.dir, "home"),
      HOSTING_MONEY_SCALE: "2",
      HOSTFORM_NOTIFY: hook.url,
      HOSTFORM_NOTIFY_SECRET: SECRET,
    });
    control.seedServices({ count: ADOPTED });
    const adopted = await project.run("adopt", "--auto-approve", "--project", "ann");
    expect(adopted.code, adopted.text).toBe(0);
    const other = await project.beside({ project: "bob" });
    other.env.HOSTFORM_NOTIFY = hook.url;
    const agency = new Agency(project, other, Number(process.env.HOSTFORM_SEED ?? 1));
    const open = new Map(agency.colleagues.map(({ name }) => [name, new Set<string>()]));
    const events = new Set<string>();
    for (const one of agency.colleagues) await one.read();
    for (let day = 1; day <= DAYS; day++) {
      agency.log.push(`day ${day}, ${dayOf(clock.now())}`);
      const colleague = agency.colleagues[day % 3 === 0 ? 1 : 0] as Colleague;
      agency.outside();
      if (day % 4 === 1) agency.outside();
      if (agency.random() < 0.3) await agency.order(colleague);
      if (day % 7 === 0) for (const one of agency.colleagues) await agency.tidy(one);
      if (day % 5 === 0) agency.compare(await agency.status(colleague), colleague);
      // Advance to six o'clock of the next day, plus 0 to 19 minutes.
      const six = Math.floor((clock.now() - 6 * 3_600_000) / DAY_MS + 1) * DAY_MS + 6 * 3_600_000;
      clock.advance(six - clock.now() + Math.floor(agency.random() * 20) * 60_000);
      hook.news();
      const out = await agency.apply(colleague);
      const known = open.get(colleague.name) as Set<string>;
      const news = hook.news();
      for (const { event, address, kind } of news) {
        const cause = `${address}: ${kind}`;
        events.add(event);
        if (event === "condition_began") {
          expect(known, agency.story(cause)).not.toContain(cause);
          known.add(cause);
        } else if (event === "condition_ended") expect(known.delete(cause), agency.story(cause)).toBe(true);
      }
      // The apply reports an order that waits for its payment, so no condition begins for the order.
      const fresh = [...colleague.sites.values()].filter((address) => out.includes(`# ${address} will be ordered`));
      const isChanged = /Apply complete! (?!0 added, 0 changed, 0 destroyed\.)/.test(out);
      expect(news.filter(({ event }) => event === "applied").length, agency.story(out)).toBe(isChanged ? 1 : 0);
      const causes = [...known].map((cause) => cause.split(":")[0] ?? "");
      const troubled = agency.troubled(colleague).filter((address) => !fresh.includes(address));
      expect([...new Set(causes)].toSorted(), agency.story(out)).toEqual(troubled);
      agency.compare(await agency.status(colleague), colleague);
    }
    expect(events).toEqual(new Set(["applied", "condition_began", "condition_ended"]));
  });
});

/** Price of an order of this account, in cents. */
const COST = 450;
const CAP = 10 * COST;

describe("the cap of a month", () => {
  it(`holds over ${RUNS} runs, of which four at a time are concurrent`, { timeout: 600_000 }, async () => {
    const project = await startProject({ pinned });
    const { control, clock, sandbox, env, profile } = project;
    env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
    const random = randomOf(Number(process.env.HOSTFORM_SEED ?? 1));
    const folders = await Promise.all(
      ["one", "two", "three", "four"].map(async (name) => {
        const dir = path.join(project.dir, name);
        await mkdir(dir);
        return new Project(dir, sandbox, clock, env, profile);
      }),
    );
    const monthNow = () => new Date(clock.now()).toISOString().slice(0, 7);
    /** Returns the sum of this month's orders in the sandbox. */
    const spent = () => {
      const ids = new Set(
        control
          .list("services")
          .flatMap((one) => (one.customer_id === 1 && one.created_at.startsWith(monthNow()) ? one.id : [])),
      );
      return sumOf(control.list("invoices").flatMap(({ order_id, total }) => (ids.has(order_id) ? total : [])));
    };
    let ordered = 0;
    const log: string[] = [];
    const results = { refused: 0, done: 0 };
    /** Declares new sites beside the existing ones, and applies. Returns the number of new sites. */
    const run = async (folder: Project, count = 1 + Math.floor(random() * 3)) => {
      const known = [...(await folder.state()).resources.keys()].map((address) =>
        address.replace("hosting_service.", ""),
      );
      const fresh = Array.from({ length: count }, () => `s${ordered++}`);
      const services = Object.fromEntries([...known, ...fresh].map((name) => [name, site(name)]));
      await folder.declare({ project: "cap", guards: { max_spend_month: { USD: CAP } }, services });
      const ran = await folder.run("apply", "--auto-approve", "--no-wait");
      const isRefused = ran.text.includes("guard.month");
      log.push(`${path.basename(folder.dir)}: ${fresh.length} orders, code ${ran.code}${isRefused ? ", refused" : ""}`);
      results[isRefused ? "refused" : "done"] += 1;
      return { ...ran, isRefused, count };
    };
    for (let done = 0; done < RUNS; done += 5) {
      log.push(`${monthNow()}: ${spent()} of ${CAP}`);
      const [first, ...others] = folders as [Project, ...Project[]];
      const before = spent();
      // The first order of some rounds loses its response for good. A later run finds its service.
      const isLost = done % 15 === 0;
      if (isLost) control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 99 });
      const single = await run(first, isLost ? 1 : undefined);
      control.clearFaults();
      const story = `${log.join("\n")}\n${single.text}`;
      expect(single.isRefused, story).toBe(before + single.count * COST > CAP);
      expect(spent(), story).toBe(single.isRefused ? before : before + single.count * COST);
      clock.advance(3_600_000);
      const all = await Promise.all([...others, first].map((folder) => run(folder)));
      expect(spent(), log.join("\n")).toBeLessThanOrEqual(CAP);
      // The cap refuses only orders that exceed it. Until a run has found the lost order, its service counts twice.
      for (const { isRefused, count } of all)
        if (isRefused && !isLost) expect(spent() + count * COST, log.join("\n")).toBeGreaterThan(CAP);
      clock.advance(9 * DAY_MS);
    }
    expect(Math.min(results.refused, results.done), log.join("\n")).toBeGreaterThan(0);
  });
});
