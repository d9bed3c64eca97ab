/**
 * Questions to the user after kills. The built program is killed (`kill -9`) while it creates objects of every kind,
 * in a project with ten objects of each kind that lists contain. After the kill, an unrelated object of the kind
 * appears: a person or another project of the same machine and token created it. Then the same command runs until it
 * has no change. The command must create nothing twice, adopt only its own objects, and rarely ask.
 * `npm test` takes one of the 114 kills, `npm run test:long questions` all of them.
 */
import { cp, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { isPendingCreate } from "../../src/core/lifecycle/index.ts";
import type { Project } from "../support/project.ts";
import { registration } from "../support/registration.ts";
import { POINT_KINDS } from "./support/kill-points.ts";
import { announce, LONG } from "./support/long.ts";
import { type Place, startPlace } from "./support/place.ts";
import { type KillPoint, type Program, reliabilityProgram } from "./support/program.ts";

const KILLS = 114;
const SAMPLE = 1;
/** Maximum number of questions after all kills. */
const MOST_QUESTIONS = 5;
const APPLY = ["apply", "--auto-approve", "--parallelism", "1"];

const ten = <T>(make: (name: string) => T) =>
  Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`n${at}`, make(`n${at}`)]));
const site = (name: string) => ({ plan_id: 11, currency: "USD", domain: `${name}.acme.example` });
const hook = (name: string) => ({ url: `https://${name}.hooks.example/in`, events: ["invoice.paid" as const] });
const migration = (name: string) => ({
  domain: `${name}.moves.example`,
  questions: { source: "cpanel" },
  deletion_policy: "forget",
});
const grants = (...names: string[]) => Object.fromEntries(names.map((name) => [`${name}@acme.example`, "view"]));

const BEFORE = {
  project: "agency",
  services: {
    ...ten(site),
    n0: { ...site("n0"), grants: grants(...Object.keys(ten(String))) },
  },
  webhooks: ten(hook),
  client_accounts: ten((name) => ({ name: `Client ${name}` })),
  migration_requests: ten(migration),
};

/**
 * 16 creates of all kinds. One is a server that only its key identifies, and one is a registration that no list
 * contains.
 */
const AFTER = {
  ...BEFORE,
  services: {
    ...BEFORE.services,
    n0: { ...site("n0"), grants: grants(...Object.keys(ten(String)), "alpha", "beta", "gamma") },
    alpha: site("alpha"),
    beta: site("beta"),
    gamma: site("gamma"),
    box: { plan_id: 31, currency: "USD" },
  },
  webhooks: { ...BEFORE.webhooks, alpha: hook("alpha"), beta: hook("beta"), gamma: hook("gamma") },
  client_accounts: {
    ...BEFORE.client_accounts,
    alpha: { name: "Alpha" },
    beta: { name: "Beta" },
    gamma: { name: "Gamma" },
  },
  migration_requests: { ...BEFORE.migration_requests, alpha: migration("alpha"), beta: migration("beta") },
  domains: { shop: registration("shop.example") },
};

const OTHER = {
  hosting_service: { services: { omega: site("omega") } },
  hosting_webhook: { webhooks: { omega: hook("omega") } },
  hosting_client_account: { client_accounts: { omega: { name: "Omega" } } },
  hosting_migration_request: { migration_requests: { omega: migration("omega") } },
} as const;

interface Course {
  /** The declaration contains the host's retention of Idempotency-Keys. */
  readonly isDeclared: boolean;
  /** Another project creates the unrelated object. */
  readonly isShared: boolean;
}

const declared = (document: object, { isDeclared }: Course) => ({
  ...document,
  ...(isDeclared && { providers: { default: { idempotency_key_retention: "24h" } } }),
});

/** Returns the identifying attributes of each object in the account, sorted. */
function account({ control }: Project): string[] {
  return [
    ...control
      .list("services")
      .filter(({ customer_id }) => customer_id === 1)
      .map(({ plan_id, domain }) => `service ${plan_id} ${domain}`),
    ...control.list("grants").map(({ email }) => `grant ${email}`),
    ...control.list("webhooks").map(({ url }) => `webhook ${url}`),
    ...control.list("accounts").map(({ name }) => `client_account ${name}`),
    ...control.list("migration_requests").map(({ domain }) => `migration_request ${domain}`),
    ...control.list("domains").map(({ domain }) => `domain ${domain}`),
  ].sort();
}

/** Returns the identifying attributes of each recorded object, sorted. */
async function recorded(project: Project): Promise<string[]> {
  return [...(await project.state()).resources.values()]
    .map(({ address, attributes: { plan_id, domain, email, url, name } }) => {
      const type = address.slice("hosting_".length).split(".", 1)[0];
      return type === "service" ? `service ${plan_id} ${domain}` : `${type} ${email ?? url ?? name ?? domain}`;
    })
    .sort();
}

async function pendingOnes(project: Project): Promise<string[]> {
  return [...(await project.state()).resources.values()].filter(isPendingCreate).map(({ address }) => address);
}

/**
 * Creates an object of a kind as another client.
 * @returns the object's identifying attributes.
 */
function byHand({ control }: Project, type: string): string {
  switch (type) {
    case "hosting_webhook":
      return `webhook ${control.create("webhooks", hook("omega")).url}`;
    case "hosting_grant": {
      const service_id = control.list("services").find(({ domain }) => domain === "n0.acme.example")?.id ?? 0;
      const made = control.create("grants", { service_id, email: "omega@other.example", permission: "view" });
      return `grant ${made.email}`;
    }
    case "hosting_migration_request":
      return `migration_request ${control.create("migration_requests", { domain: "omega.moves.example", source: "cpanel" }).domain}`;
    case "hosting_service": {
      const [made] = control.seedServices({ domain_prefix: "omega" });
      return `service 11 ${made?.domain}`;
    }
    default:
      return `client_account ${control.create("accounts", { name: "Omega" }).name}`;
  }
}

let program: Program;
beforeAll(async () => {
  program = await reliabilityProgram();
});

/** A project with its ten objects of each kind, restored before each kill. */
class Ground {
  readonly project: Place;
  readonly #course: Course;
  readonly #snapshot: string;
  readonly #copy: string;

  private constructor(project: Place, course: Course, copy: string) {
    this.project = project;
    this.#course = course;
    this.#copy = copy;
    this.#snapshot = project.control.snapshot();
  }

  static async start(course: Course): Promise<Ground> {
    const project = await startPlace(declared(BEFORE, course));
    project.env.XDG_STATE_HOME = path.join(project.dir, ".state-home");
    await project.apply();
    // The second apply records that the lists contain each object.
    await project.apply();
    await project.declare(declared(AFTER, course));
    const copy = `${project.dir}-copy`;
    await cp(project.dir, copy, { recursive: true });
    return new Ground(project, course, copy);
  }

  async #restore(): Promise<void> {
    const { dir, control } = this.project;
    await rm(dir, { recursive: true, force: true });
    await cp(this.#copy, dir, { recursive: true });
    control.restore(this.#snapshot);
  }

  async points(): Promise<KillPoint[]> {
    const { dir, env } = this.project;
    const { ended, tally } = await program.count({ cwd: dir, env, args: APPLY });
    expect(ended.code, ended.err).toBe(0);
    const all = POINT_KINDS.flatMap((kind) =>
      tally[kind].flatMap((_, at) => {
        const moments = kind === "write" ? (["before", "halfway", "after"] as const) : (["before", "after"] as const);
        return moments.map((moment) => ({ kind, nth: at + 1, moment }));
      }),
    );
    const chosen = Array.from({ length: KILLS }, (_, at) => all[Math.floor((at * all.length) / KILLS)] as KillPoint);
    return LONG ? chosen : chosen.filter((_, at) => at % Math.ceil(KILLS / SAMPLE) === 40 % Math.ceil(KILLS / SAMPLE));
  }

  /**
   * Kills a run at a point and recovers.
   * @returns the addresses in hostform's questions.
   */
  async kill(point: KillPoint): Promise<string[]> {
    await this.#restore();
    const { project } = this;
    const { signal } = await program.run({ cwd: project.dir, env: project.env, args: APPLY, kill: point });
    expect(signal, "the run is killed").toBe("SIGKILL");
    project.catchUp();
    const unrelated = await this.#unrelated(await pendingOnes(project));
    const asked: string[] = [];
    for (let run = 1; ; run++) {
      const ran = await project.run("apply", "--auto-approve");
      if (ran.code === 0) break;
      expect(ran.text, "the only reason to fail").toContain("plan.pending");
      expect(run, ran.text).toBeLessThan(4);
      for (const address of await pendingOnes(project)) {
        asked.push(address);
        await this.#answer(address);
      }
    }
    const own = await recorded(project);
    expect(account(project)).toEqual([...own, ...unrelated].sort());
    expect(new Set(own).size, "none is there twice").toBe(own.length);
    await project.expectNoChanges();
    return asked;
  }

  /** Creates an unrelated object of each pending kind. */
  async #unrelated(pending: readonly string[]): Promise<string[]> {
    const { project } = this;
    const types = new Set(pending.map((address) => address.split(".")[0] ?? ""));
    types.delete("hosting_domain");
    if (types.size === 0) types.add("hosting_client_account");
    const made: string[] = [];
    for (const type of types) {
      const other = OTHER[type as keyof typeof OTHER];
      if (!this.#course.isShared || other === undefined) {
        made.push(byHand(project, type));
        continue;
      }
      await mkdir(path.join(project.dir, "beside"), { recursive: true });
      await rm(path.join(project.dir, "beside"), { recursive: true });
      const beside = await project.beside({ project: "other", ...other });
      await beside.apply();
      made.push(...(await recorded(beside)));
    }
    return made;
  }

  /** Answers a question as a user who knows the account. */
  async #answer(address: string): Promise<void> {
    const { project } = this;
    const { resources } = await project.state();
    const { attributes } = resources.get(address) ?? {};
    const held = new Set([...resources.values()].map((one) => one.attributes.id));
    const isFree = ({ id }: { id: number }) => !held.has(String(id));
    const made = address.startsWith("hosting_domain")
      ? project.control.list("domains")[0]
      : project.control
          .list("services")
          .filter(isFree)
          .find(
            (one) => one.customer_id === 1 && one.plan_id === attributes?.plan_id && one.domain === attributes.domain,
          );
    const answer = made === undefined ? ["--absent"] : ["--adopt", String(made.id)];
    const settled = await project.run("resolve", address, ...answer);
    expect(settled.code, settled.text).toBe(0);
  }

  async close(): Promise<void> {
    await rm(this.#copy, { recursive: true, force: true });
    await this.project.close();
  }
}

const COURSES: readonly (readonly [string, Course])[] = [
  ["beside another project, with a declared retention of keys", { isDeclared: true, isShared: true }],
  ["in one project, without a declared retention of keys", { isDeclared: false, isShared: false }],
  ["in one project, with a declared retention of keys", { isDeclared: true, isShared: false }],
  ["beside another project, without a declared retention of keys", { isDeclared: false, isShared: true }],
];

describe("a run killed before an unrelated object appears", { timeout: 3_600_000 }, () => {
  it.each(LONG ? COURSES : COURSES.slice(0, 1))(
    "seldom asks a question %s, and creates nothing twice",
    async (name, course) => {
      const ground = await Ground.start(course);
      const failures: string[] = [];
      const asked: string[] = [];
      try {
        const points = await ground.points();
        for (const point of points) {
          const label = `${point.moment} ${point.kind} ${point.nth}`;
          try {
            asked.push(...(await ground.kill(point)).map((address) => `${label}: ${address}`));
          } catch (error) {
            failures.push(`${label}: ${error instanceof Error ? error.message : error}`);
            announce(`  failed ${failures.at(-1)}`);
          }
        }
        announce(`Questions ${name}: ${asked.length} after ${points.length} kills; ${failures.length} failures`);
        for (const one of asked) announce(`  ${one}`);
      } finally {
        await ground.close();
      }
      expect(failures).toEqual([]);
      expect(asked.length).toBeLessThanOrEqual(MOST_QUESTIONS);
    },
  );
});
