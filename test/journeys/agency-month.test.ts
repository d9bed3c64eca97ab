/**
 * An agency's month on the sandbox's clock. Each morning, the nightly command exits with 0 exactly when the sandbox
 * has every declared site live, paid and as declared.
 */
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const DAY_MS = 86_400_000;
const DAYS = 45;
const SEEDS = [Number(process.env.HOSTFORM_SEED ?? 1)];
const NIGHTLY = ["plan", "--detailed-exitcode", "--fail-on", "offline,gone,unpaid,unread"];

interface Site {
  suspended?: boolean;
}

/** Returns a generator of numbers from 0 to below 1 (mulberry32). Equal seeds give equal numbers. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

class Agency {
  readonly project: Project;
  readonly sites = new Map<string, Site>();
  readonly log: string[] = [];
  readonly #random: () => number;
  #ordered = 0;

  constructor(project: Project, seed: number) {
    this.project = project;
    this.#random = randomOf(seed);
  }

  async declare(): Promise<void> {
    const services = Object.fromEntries(
      [...this.sites].map(([name, own]) => [
        name,
        { plan_id: 11, currency: "USD", domain: `${name}.example`, deletion_policy: "forget", ...own },
      ]),
    );
    await this.project.declare({ project: "month", services });
  }

  async apply(): Promise<void> {
    await this.declare();
    const { code } = await this.project.run("apply", "--auto-approve", "--max-orders", "20");
    this.log.push(`  apply: ${code}`);
    this.project.clock.advance(60_000);
  }

  /** Returns the service of a site in the sandbox, or undefined if it has ended or belongs to another account. */
  #service(name: string) {
    return this.project.control
      .list("services")
      .find(
        ({ domain, status }) => domain === `${name}.example` && ["pending", "active", "suspended"].includes(status),
      );
  }

  #unpaid(id: number) {
    return this.project.control
      .list("invoices")
      .filter(({ order_id, status }) => order_id === id && status === "unpaid");
  }

  /** Returns what is wrong with each declared site in the sandbox. */
  wrong(): string[] {
    return [...this.sites].flatMap(([name, { suspended = false }]) => {
      const service = this.#service(name);
      if (service === undefined) return [`${name} does not exist`];
      const wanted = suspended ? "suspended" : "active";
      return [
        ...(service.status === wanted ? [] : [`${name} is ${service.status}`]),
        ...(service.provisioning_status === "provisioned" ? [] : [`${name} is not provisioned`]),
        ...(this.#unpaid(service.id).length === 0 ? [] : [`${name} is unpaid`]),
      ];
    });
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  /** Plays one random event: of the host, of a client, or of the agency. */
  async act(): Promise<void> {
    const { control } = this.project;
    const name = this.#pick([...this.sites.keys()]) ?? "";
    const service = this.#service(name);
    const site = this.sites.get(name);
    const chance = this.#random();
    const note = (what: string) => this.log.push(`  ${name}: ${what}`);
    if (chance < 0.3) {
      for (const invoice of service ? this.#unpaid(service.id) : []) control.payInvoice(invoice.id);
      note("pays");
    } else if (chance < 0.4 && service?.status === "active") {
      control.suspendService(service.id);
      note("is suspended by the host");
    } else if (chance < 0.5 && service?.status === "suspended") {
      control.unsuspendService(service.id);
      note("is restored by the host");
    } else if (chance < 0.53 && service !== undefined && this.sites.size > 3) {
      control.terminateService(service.id);
      note("is terminated by the host");
    } else if (chance < 0.68 && site !== undefined) {
      const next = this.#pick([true, false, undefined]);
      if (next === undefined) delete site.suspended;
      else site.suspended = next;
      note(`is declared with suspended: ${next}`);
      await this.declare();
    } else if (chance < 0.73) {
      await this.order();
    } else if (chance < 0.8 && service === undefined) {
      this.sites.delete(name);
      note("is no longer declared");
      await this.apply();
    } else if (chance < 0.95) await this.apply();
    else {
      for (const { id, status } of control.list("invoices")) if (status === "unpaid") control.payInvoice(id);
      this.log.push("  all pay");
    }
  }

  /** Pays all invoices, restores the sites, and removes ended sites from the declaration. */
  async tidy(): Promise<void> {
    const { control } = this.project;
    for (const { id, status } of control.list("invoices")) if (status === "unpaid") control.payInvoice(id);
    for (const [name, { suspended }] of this.sites) {
      const service = this.#service(name);
      if (service === undefined) this.sites.delete(name);
      else if (service.status === "suspended" && suspended === undefined) control.unsuspendService(service.id);
    }
    this.log.push("  all is put right");
    await this.apply();
  }

  async order(): Promise<void> {
    this.#ordered += 1;
    this.sites.set(`site${this.#ordered}`, {});
    this.log.push(`  site${this.#ordered}: is ordered`);
    await this.apply();
  }

  /** Advances the clock to six o'clock of the next day. */
  sleep(): void {
    const now = this.project.clock.now();
    const six = Math.floor((now - 6 * 3_600_000) / DAY_MS + 1) * DAY_MS + 6 * 3_600_000;
    this.project.clock.advance(six - now);
  }
}

describe("the nightly command of an agency", () => {
  it.each(SEEDS)("is 0 exactly on the mornings on which all is well (seed %i)", async (seed) => {
    const project = await startProject({ sandbox: { autoPay: false, provisioningSeconds: 7_200 } });
    const agency = new Agency(project, seed);
    for (let n = 0; n < 5; n++) await agency.order();
    for (const { id } of project.control.list("invoices")) project.control.payInvoice(id);
    const codes = new Set<number>();
    for (let day = 1; day <= DAYS; day++) {
      agency.log.push(`day ${day}`);
      if (day % 7 === 0) await agency.tidy();
      else await agency.act();
      if (day % 3 === 0 && day % 7 !== 0) await agency.act();
      agency.sleep();
      const ran = await project.run(...NIGHTLY);
      const wrong = agency.wrong();
      const story = `${agency.log.join("\n")}\nwrong: ${wrong.join(", ")}\n${ran.text}`;
      expect(ran.code === 0, story).toBe(wrong.length === 0);
      codes.add(ran.code);
    }
    // The month must contain a good morning and a bad morning. Otherwise it proves nothing.
    expect([codes.has(0), codes.has(4)]).toEqual([true, true]);
  });
});
