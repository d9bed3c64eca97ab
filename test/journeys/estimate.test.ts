/**
 * The estimate of a plan equals the duration and the requests of its apply. The clock moves only while the process is
 * idle, and responses take time as at a real host.
 */
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sampled } from "../reliability/support/long.ts";
import { calmClock } from "../support/calm-clock.ts";
import { type Project, type ProjectOptions, startProject } from "../support/project.ts";

const LATENCY_MS = 150;

type Seeded = ReturnType<Project["control"]["seedServices"]>;

interface Case {
  /** Number of services that already exist in the account. */
  readonly seeded?: number;
  readonly pinned?: ProjectOptions["pinned"];
  readonly declare?: object;
  /** Requests a minute that the host accepts. */
  readonly rateLimit?: number;
  /** The user must approve the apply. */
  readonly asked?: boolean;
  /** Runs before the plan. */
  before?(project: Project, seeded: Seeded): Promise<void>;
}

const each = <T>(count: number, name: string, make: (at: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}-${at}`, make(at)]));

const orders = (count: number, more: object = {}) => ({
  project: "agency",
  services: each(count, "new", (at) => ({ plan_id: 11, currency: "USD", domain: `new-${at}.example`, ...more })),
});

/** Adopts these services, and then declares them as suspended. */
async function suspend(project: Project, services: Seeded): Promise<void> {
  const declared = (more: (id: string) => object) => ({
    project: "agency",
    services: each(services.length, "site", (at) => {
      const { id, domain } = services[at] ?? {};
      return { plan_id: 11, currency: "USD", domain, ...more(String(id)) };
    }),
  });
  await project.declare(declared((id) => ({ import: id })));
  await project.apply();
  await project.declare(declared(() => ({ suspended: true })));
  project.clock.advance(120_000);
}

const shares = { "dev@acme.example": "manage", "boss@acme.example": "view" };
const hook = (at: number) => ({ url: `https://hooks.example/${at}`, events: ["invoice.paid"] });
const SILENT: ProjectOptions["pinned"] = { rate_headers: ["none"] };

const CASES: Readonly<Record<string, Case>> = {
  "1 order in an account of 400 services": { seeded: 400, declare: orders(1) },
  "1 order in an account of 400 services where no page says how many there are": {
    seeded: 400,
    declare: orders(1),
    pinned: { envelope: ["named_has_more"] },
  },
  "100 orders": { declare: orders(100) },
  "70 orders, one after the other": { declare: { ...orders(70), guards: { max_spend: { USD: 1_000_000 } } } },
  "100 suspensions": { seeded: 100, before: suspend },
  "services with grants, and webhooks, in an account of 250 services": {
    seeded: 250,
    declare: { ...orders(30, { grants: shares }), webhooks: each(5, "hook", hook) },
  },
  "grants of services that are there, orders and webhooks, after somebody was asked": {
    seeded: 250,
    asked: true,
    async before(project, seeded) {
      await suspend(project, seeded.slice(0, 20));
      await project.declare({
        project: "agency",
        services: {
          ...each(20, "site", (at) => ({
            plan_id: 11,
            currency: "USD",
            domain: seeded[at]?.domain,
            grants: shares,
          })),
          ...orders(10).services,
        },
        webhooks: each(5, "hook", hook),
      });
    },
  },
  "30 orders while another process has booked 40 requests of the minute": {
    declare: orders(30),
    before: (project) => others(project, 40),
  },
  "a host that reports a limit of 30": { declare: orders(70), rateLimit: 30 },
  "a host whose refusals have taught a limit of 30": {
    declare: orders(70),
    rateLimit: 30,
    pinned: SILENT,
    before: (project) => others(project, 65),
  },
};

/** Sends requests from another process of this machine with the same token. */
async function others(project: Project, count: number): Promise<void> {
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "state-home");
  const other = await project.beside({ project: "other" });
  for (let at = 0; at < count; at++) expect(await other.run("services")).toMatchObject({ code: 0 });
}

/** True if the estimate is within 10 % of the actual value, or within 2. */
const isNear = (estimate: number, actual: number) => Math.abs(estimate - actual) <= Math.max(2, actual / 10);

describe("the estimate of a plan is what happens:", () => {
  it.each(sampled(Object.entries(CASES), 2))(
    "%s",
    async (_, { seeded = 0, pinned = {}, declare, asked = false, before, ...host }) => {
      const clock = calmClock();
      onTestFinished(() => clock.close());
      const { rateLimit = 60 } = host;
      const project = await startProject({ clock, pinned, sandbox: { rateLimit, jobSeconds: 1, sleep: clock.delay } });
      const services = seeded > 0 ? project.control.seedServices({ count: seeded }) : [];
      await before?.(project, services);
      if (declare !== undefined) await project.declare(declare);
      project.control.addFault({ path: "/*", phase: "before", delayMs: LATENCY_MS, times: Number.MAX_SAFE_INTEGER });
      const { plan, result } = await project.planned(asked);
      expect(result.outcomes.filter((outcome) => outcome.result !== "done")).toEqual([]);
      const [planned, happened] = [plan.requests, result];
      const said = `planned ${planned.apply} requests in ${planned.seconds} s, happened: ${happened.requests} in ${happened.seconds} s`;
      expect(isNear(planned.apply, happened.requests) && isNear(planned.seconds, happened.seconds), said).toBe(true);
    },
  );
});
