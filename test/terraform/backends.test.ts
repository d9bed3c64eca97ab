/** The same backend for hostform and for the real Terraform: one state, one lock. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import {
  type BackendUnderTest,
  CREDENTIALS,
  gate,
  httpBackend,
  pgBackend,
  RemoteProject,
  s3Backend,
} from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES, type Program, perEngine, TERRAFORM } from "../support/programs.ts";
import { KEYS } from "../support/s3-server.ts";

const SITE = { services: { site: { plan_id: 11, currency: "USD", domain: "site.example" } } };
const OWN = "terraform_data.own";

let postgres: Postgres | undefined;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (TERRAFORM.path !== undefined && POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(backend: BackendUnderTest, sleep?: () => Promise<void>): Promise<RemoteProject> {
  const project = await RemoteProject.start(backend, sleep);
  ends.push(() => project.close());
  await project.declare(SITE);
  const init = await project.terraform("init", "-input=false");
  expect(init.code, init.text).toBe(0);
  return project;
}

const backends: [string, () => Promise<BackendUnderTest>, ...programs: Program[]][] = [
  ["http", () => httpBackend("plain")],
  ["http at GitLab", () => httpBackend("gitlab")],
  ["s3", s3Backend],
  ["pg", () => pgBackend(postgres as Postgres), POSTGRES],
];

for (const [name, make, ...programs] of backends) {
  describeWith(TERRAFORM, ...programs)(`the backend ${name}, shared with Terraform`, { timeout: 60_000 }, () => {
    it("is one state and one lock: each sees and keeps what the other wrote, and is refused while the other works", async () => {
      const { arrived, open, sleep } = gate();
      const project = await start(await make(), sleep);
      const asking = project.start("terraform", "apply", "-no-color");
      await asking.shows("Enter a value:");
      const refused = await project.hostform("apply", "--auto-approve");
      expect(refused.code, refused.text).toBe(1);
      expect(refused.err).toContain("[state.locked]");
      expect(refused.err).toMatch(/^Held by .*since/m);
      expect(project.services).toEqual([]);

      project.sandbox.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 1 });
      const waiting = project.start("hostform", "apply", "--auto-approve", "--lock-timeout", "50s");
      asking.child.stdin?.end("yes\n");
      const first = await asking.ended;
      expect(first.code, first.text).toBe(0);
      await arrived;
      const busy = await project.terraform("state", "rm", OWN);
      expect(busy.code, busy.text).toBe(1);
      expect(busy.text).toContain("Error acquiring the state lock");
      open();
      const applied = await waiting.ended;
      expect(applied.code, applied.text).toBe(0);
      expect(applied.text).toContain("1 object that hostform does not manage");
      expect(project.services).toHaveLength(1);

      const [ours, theirs] = [await project.hostform("state", "pull"), await project.terraform("state", "pull")];
      // Since 1.12, Terraform adds a field to each instance.
      const added = perEngine({}, { newer: { identity_schema_version: 0 } });
      const state = JSON.parse(ours.out);
      for (const { instances } of state.resources) for (const one of instances) Object.assign(one, added);
      expect(JSON.parse(theirs.out)).toEqual(state);
      const listed = await project.terraform("state", "list");
      expect(listed.out.trim().split("\n").sort()).toEqual(["hosting_service.site", OWN]);

      const removed = await project.terraform("state", "rm", OWN);
      expect(removed.code, removed.text).toBe(0);
      const again = await project.hostform("plan", "--detailed-exitcode");
      expect(again.code, again.text).toBe(0);
      expect(again.text).not.toContain("does not manage");
      const secrets = [
        CREDENTIALS.password,
        KEYS.secret,
        KEYS.token,
        KEYS.id,
        postgres?.password ?? CREDENTIALS.password,
      ];
      for (const { text } of [applied, again]) for (const secret of secrets) expect(text).not.toContain(secret);
    });
  });
}
