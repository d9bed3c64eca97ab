/**
 * One simulated project with one server. Declares, plans, applies, applies again at once, pays, changes, interrupts,
 * imports and destroys. The user follows the messages: runs a command again, waits, maps a status word, and checks the
 * dashboard. The outcome is fine, refused, or a violation.
 */

import type { Declared, DeclaredService, Settings } from "./declared.ts";
import { documentOf } from "./declared.ts";
import { Draw } from "./draw.ts";
import { type Deviation, deviationText } from "./drawn.ts";
import { Host, type Ran } from "./host.ts";
import { doubles, objectionsToRun, servicesOf, suspensions, undone } from "./judge.ts";

export interface Verdict {
  readonly outcome: "fine" | "refused" | "violation";
  /** Chapter in which the life ended. */
  readonly chapter: string;
  /** Violated rules, or the message that refused to continue. */
  readonly what: readonly string[];
  /** Actions of the user that the default server does not require. */
  readonly asked: readonly string[];
  /** Commands with their exit codes. */
  readonly log: readonly string[];
}

/** Error that ends a life. */
class Ended extends Error {
  readonly verdict: Pick<Verdict, "outcome" | "what">;

  constructor(outcome: Verdict["outcome"], what: readonly string[]) {
    super(outcome);
    this.verdict = { outcome, what };
  }
}

/** Maximum number of runs of one command. After this number, the command is considered stuck. */
const MOST_RUNS = 9;
const DAY = 86_400_000;

/**
 * Runs one life.
 * @param seed Decides the declaration, the changes and the interruptions. Does not affect the server.
 */
export async function live(deviations: readonly Deviation[], seed: string): Promise<Verdict> {
  await using host = await Host.start(deviations, seed);
  const life = new Life(host, deviations, new Draw(`life:${seed}`));
  let chapter = "";
  const end = (verdict: Pick<Verdict, "outcome" | "what">): Verdict => ({
    ...verdict,
    chapter,
    asked: life.asked,
    log: host.ran.map(
      ({ command, code, writes }) => `${command} → ${code}${writes.length > 0 ? `: ${writes.join(", ")}` : ""}`,
    ),
  });
  try {
    for (chapter of CHAPTERS) await life[chapter as (typeof CHAPTERS)[number]]();
    return end({ outcome: "fine", what: [] });
  } catch (error) {
    if (error instanceof Ended) return end(error.verdict);
    throw error;
  }
}

const CHAPTERS = ["cap", "order", "again", "pay", "change", "restore", "end", "lose", "adopt", "destroy"] as const;

class Life {
  readonly asked: string[] = [];
  readonly #host: Host;
  readonly #draw: Draw;
  /** Meanings of the server's status words. */
  readonly #meanings: ReadonlyMap<string, string>;
  #declared: Declared;
  readonly #declarations: Declared[] = [];
  /** True after the user confirmed that a registration created nothing, so that it may be sent again. */
  #absent = false;
  #settings: Settings = { statusWords: {} };

  constructor(host: Host, deviations: readonly Deviation[], draw: Draw) {
    this.#host = host;
    this.#draw = draw;
    this.#meanings = meaningsOf(deviations);
    this.#declared = firstDeclaration(draw);
  }

  /** Checks that a limit below every price stops each order. */
  async cap(): Promise<void> {
    this.#declare(this.#declared, { ...this.#settings, maxSpend: 1 });
    const ran = await this.#run("apply", "--auto-approve");
    if (
      ran.code === 0 ||
      ran.writes.some((line) => line.startsWith("POST /services ") || line.startsWith("POST /domains "))
    ) {
      throw new Ended("violation", [`max_spend of 1 let through: ${ran.writes.join(", ")}`]);
    }
  }

  async order(): Promise<void> {
    this.#declare(this.#declared, { statusWords: this.#settings.statusWords });
    const plan = await this.#run("plan", "--detailed-exitcode");
    if (plan.code === 0) throw new Ended("violation", ["the plan of an empty account has no changes"]);
    if (this.#draw.once(0.4)) {
      const [method, path] = this.#draw.oneOf(ENDS);
      await this.#judge(await this.#host.die(method, path, 1, "apply", "--auto-approve"));
      this.#host.clock.advance(this.#draw.oneOf([1, 10, 40, 300, 4000]) * 1000);
    }
    await this.#insist("apply", "--auto-approve");
  }

  /** Applies again directly after the first apply, while lists may lag. */
  async again(): Promise<void> {
    await this.#insist("apply", "--auto-approve");
  }

  async pay(): Promise<void> {
    const { control, clock } = this.#host;
    for (const { id, customer_id, status } of control.list("invoices")) {
      if (customer_id === 1 && status === "unpaid") control.payInvoice(id);
    }
    clock.advance(3_600_000);
    await this.#insist("apply", "--auto-approve");
    await this.#settled();
  }

  async change(): Promise<void> {
    const { services, webhooks } = this.#declared;
    const www = {
      ...services.www,
      suspended: true,
      grants: this.#draw.once(0.5) ? { "dev@acme.example": { permission: "view" } } : {},
    };
    const box: Record<string, DeclaredService> =
      services.box === undefined ? {} : { box: { ...services.box, passwordVersion: 2 } };
    this.#declare({
      ...this.#declared,
      services: { ...services, www: www as DeclaredService, ...box },
      webhooks: this.#draw.once(0.5)
        ? webhooks
        : { billing: { url: HOOK, events: ["service.suspended", "invoice.paid"] } },
    });
    await this.#insist("apply", "--auto-approve");
    await this.#settled();
  }

  async restore(): Promise<void> {
    const { services } = this.#declared;
    this.#declare({
      ...this.#declared,
      services: { ...services, www: { ...(services.www as DeclaredService), suspended: false } },
    });
    await this.#insist("apply", "--auto-approve");
    await this.#settled();
  }

  /** Deletes a webhook in the dashboard. The list may still contain its item. */
  async end(): Promise<void> {
    const { control } = this.#host;
    for (const { id } of control.list("webhooks")) control.remove("webhooks", id);
    await this.#insist("apply", "--auto-approve");
    await this.#settled();
  }

  /** Loses the response to one create of each run, or replaces it with a response of a proxy. */
  async lose(): Promise<void> {
    const { control, clock } = this.#host;
    const { services, accounts, migrations, webhooks } = this.#declared;
    const late: DeclaredService = {
      plan: 12,
      domain: "late.example",
      grants: { "late@acme.example": { permission: "view" } },
    };
    this.#declare({
      ...this.#declared,
      services: { ...services, late },
      webhooks: { ...webhooks, late: { url: `${HOOK}/late`, events: ["invoice.created"] } },
      accounts: { ...accounts, late: { name: "Late" } },
      migrations: { ...migrations, late: { domain: "late.example", service: "late" } },
    });
    const [method, path] = this.#draw.oneOf(ENDS.slice(0, -1));
    const lost = this.#draw.oneOf(LOSSES);
    control.addFault({ method, path, phase: "after", ...lost });
    await this.#judge(await this.#host.run("apply", "--auto-approve"));
    control.clearFaults();
    for (const { id, customer_id, status } of control.list("invoices")) {
      if (customer_id === 1 && status === "unpaid") control.payInvoice(id);
    }
    clock.advance(this.#draw.oneOf([1, 20, 90, 900]) * 1000);
    await this.#insist("apply", "--auto-approve");
    clock.advance(3_600_000);
    await this.#insist("apply", "--auto-approve");
    await this.#settled();
  }

  /** Imports objects by id after the state lost them. */
  async adopt(): Promise<void> {
    const { resources } = await this.#host.state();
    const all = ["hosting_service.www", "hosting_client_account.acme", 'hosting_grant.www["dev@acme.example"]'];
    const known = all.filter((address) => resources.has(address));
    const removed = await this.#run("state", "rm", ...known);
    if (removed.code !== 0) throw new Ended("violation", ["state rm failed", removed.text]);
    for (const address of known) {
      const { attributes } = resources.get(address) ?? { attributes: {} as Record<string, unknown> };
      await this.#insist("import", address, String(attributes.id));
    }
    await this.#insist("apply", "--auto-approve");
    await this.#settled();
  }

  async destroy(): Promise<void> {
    const { control } = this.#host;
    for (const each of ["grants", "webhooks"] as const)
      for (const { id } of control.list(each).slice(0, 1)) control.remove(each, id);
    this.#declared = { services: {}, webhooks: {}, accounts: {}, migrations: {}, domains: {} };
    await this.#insist("destroy", "--auto-approve");
    const left = [...control.list("grants"), ...control.list("webhooks")].length;
    if (left > 0) throw new Ended("violation", [`destroy ended with 0 and left ${left} grants and webhooks`]);
  }

  #declare(declared: Declared, settings = this.#settings): void {
    this.#declared = declared;
    this.#declarations.push(declared);
    this.#settings = settings;
    this.#host.declare(documentOf(declared, settings));
  }

  async #run(...args: string[]): Promise<Ran> {
    return this.#judge(await this.#host.run(...args));
  }

  /** Checks the rules for each command. */
  async #judge(ran: Ran): Promise<Ran> {
    const destroying = ran.command.startsWith("destroy");
    const found = [
      ...objectionsToRun(ran),
      ...doubles(this.#host, this.#absent),
      ...(destroying ? [] : suspensions(this.#host, this.#declarations)),
    ];
    if (ran.code === 0 && ran.command.startsWith("apply")) found.push(...(await undone(this.#host, this.#declared)));
    if (found.length > 0) throw new Ended("violation", [...found, `after: ${ran.command}`, tail(ran.text)]);
    return ran;
  }

  /** Repeats a command until it succeeds. Follows its messages between the runs. */
  async #insist(...args: string[]): Promise<void> {
    let last: Ran | undefined;
    for (let run = 0; run < MOST_RUNS; run += 1) {
      const before = last?.text;
      last = await this.#run(...args);
      if (last.code === 0) return;
      // The output is the same although time has passed, so another run changes nothing.
      if (run > 2 && last.text === before) break;
      await this.#help(last);
      this.#host.clock.advance(this.#draw.oneOf([20, 60, 300]) * 1000);
    }
    throw new Ended("refused", [tail(last?.text ?? "")]);
  }

  /** Checks that the plan is empty and stays empty. */
  async #settled(): Promise<void> {
    this.#host.clock.advance(120_000);
    let last: Ran | undefined;
    for (let run = 0; run < MOST_RUNS; run += 1) {
      last = await this.#run("plan", "--detailed-exitcode");
      if (last.code === 0) return;
      const asked = this.asked.length;
      await this.#help(last);
      if (last.code === 2) {
        if (run > 3) break;
        await this.#insist("apply", "--auto-approve");
      }
      if (asked === this.asked.length) this.#host.clock.advance(300_000);
    }
    if (last?.code === 2) throw new Ended("violation", ["the plan is never empty", tail(last.text)]);
    throw new Ended("refused", [tail(last?.text ?? "")]);
  }

  /** Follows a message like a user: maps a status word, or decides by the dashboard. */
  async #help({ text }: Ran): Promise<void> {
    const unknown = [...this.#meanings].filter(
      ([word]) => text.includes(`"${word}"`) && this.#settings.statusWords[word] === undefined,
    );
    if (unknown.length > 0 && text.includes("status_words")) {
      this.asked.push(...unknown.map(([word]) => `status_words: ${word}`));
      const statusWords = { ...this.#settings.statusWords, ...Object.fromEntries(unknown) };
      this.#declare(this.#declared, { ...this.#settings, statusWords });
    }
    const { resources } = await this.#host.state();
    for (const { address, private: mark } of resources.values()) {
      if (mark.pending === undefined || !text.includes(address)) continue;
      const found = this.#shown(address);
      this.asked.push(`resolve ${address}`);
      this.#absent ||= found === undefined && address.startsWith("hosting_domain.");
      await this.#run("resolve", address, ...(found === undefined ? ["--absent"] : ["--adopt", found]));
    }
  }

  /** Returns the id that the dashboard shows for an address, in the form of the host, or undefined. */
  #shown(address: string): string | undefined {
    const { control } = this.#host;
    const [, type = "", name = ""] = /^hosting_(\w+)\.(\w+)/.exec(address) ?? [];
    const { services, webhooks, accounts, migrations, domains } = this.#declared;
    switch (type) {
      case "domain":
        return textOf(control.list("domains").find(({ domain }) => domain === domains[name])?.id);
      case "service": {
        const [wanted, live] = [services[name], servicesOf(this.#host)];
        return textOf(live.find((one) => one.domain === (wanted?.domain ?? null) && one.plan_id === wanted?.plan)?.id);
      }
      case "webhook": {
        // The secret was in the lost response. The user deletes the webhook in the dashboard, and hostform creates a
        // new webhook.
        const wanted = webhooks[name];
        for (const { id, url, events } of control.list("webhooks")) {
          if (url === wanted?.url && events.join() === wanted.events.join()) control.remove("webhooks", id);
        }
        return undefined;
      }
      case "client_account":
        return this.#host.idOf(
          "account",
          control.list("accounts").find((one) => one.name === accounts[name]?.name)?.id,
        );
      case "migration_request": {
        const wanted = migrations[name]?.domain;
        const same = control.list("migration_requests").find(({ domain }) => domain === wanted);
        return this.#host.idOf("migration_request", same?.id);
      }
      default: {
        const [, email] = /\["(.+)"\]$/.exec(address) ?? [];
        const grant = control.list("grants").find((one) => one.email === email);
        const id = this.#host.idOf("grant", grant?.id);
        return id === undefined ? undefined : `${grant?.service_id}/${id}`;
      }
    }
  }
}

const textOf = (id: number | undefined) => (id === undefined ? undefined : String(id));

/** Failures of a request that a user cannot distinguish. */
const LOSSES = [
  { drop: true },
  { status: 500 },
  { status: 502, body: "<html><title>502 Bad Gateway</title></html>", headers: { "content-type": "text/html" } },
  { status: 403, body: "<html><title>403 Forbidden</title></html>", headers: { "content-type": "text/html" } },
  { status: 409, body: { message: "Conflict" } },
  { status: 499, body: "<html>client closed request</html>", headers: { "content-type": "text/html" } },
] as const;

const ENDS = [
  ["POST", "/services"],
  ["POST", "/webhooks"],
  ["POST", "/accounts"],
  ["POST", "/migration-requests"],
  ["POST", "/services/:id/grants"],
  ["POST", "/domains"],
] as const;

const HOOK = "https://hooks.acme.example/hosting";

function firstDeclaration(draw: Draw): Declared {
  const services: Record<string, DeclaredService> = {
    www: {
      plan: 11,
      domain: "www.acme.example",
      grants: {
        "dev@acme.example": { permission: "manage" },
        "guest@acme.example": {
          permission: "view",
          expires_at: new Date(Date.parse("2026-11-21T10:00:00Z") + 200 * DAY).toISOString(),
        },
      },
    },
  };
  if (draw.once(0.7)) services.box = { plan: 31, passwordVersion: 1, grants: {} };
  if (draw.once(0.5)) services.shop = { plan: 12, domain: "shop.acme.example", grants: {} };
  return {
    services,
    webhooks: { billing: { url: HOOK, events: ["invoice.paid", "invoice.created"] } },
    accounts: { acme: { name: "Acme" } },
    migrations: { www: { domain: "www.acme.example", service: "www" } },
    domains: { acme: "acme.example" },
  };
}

const PHASES: Readonly<Record<string, string>> = {
  pending: "pending",
  active: "live",
  suspended: "suspended",
  provisioning: "pending",
  provisioned: "live",
};

/** Returns the status words of the server with their meanings. */
function meaningsOf(deviations: readonly Deviation[]): ReadonlyMap<string, string> {
  // A word may occur in both fields, for example a number. Its meaning as a status has priority.
  const ordered = deviations.toSorted((a, b) => Number(a.path[4] === "status") - Number(b.path[4] === "status"));
  return new Map(
    ordered.flatMap(({ path, value }) => {
      const [, , kind, what, , word = ""] = path;
      const phase = PHASES[word];
      return kind === "service" && what === "words" && phase !== undefined ? [[String(value), phase] as const] : [];
    }),
  );
}

const tail = (text: string) => text.trim().split("\n").slice(-40).join("\n");

/** Returns a verdict with the data that repeats the life. */
export function verdictText(verdict: Verdict, deviations: readonly Deviation[], seed: string): string {
  const { outcome, chapter, what, asked } = verdict;
  return [
    `Seed ${seed}: ${outcome} in "${chapter}"`,
    ...what.map((line) => `  ${line.replaceAll("\n", "\n  ")}`),
    ...(asked.length > 0 ? [`  asked: ${asked.join(", ")}`] : []),
    "  The server differs from the default one in:",
    ...deviations.map((one) => `    ${one.gap}: ${deviationText(one)}`),
  ].join("\n");
}
