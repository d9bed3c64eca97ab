/**
 * `kill -9` and Ctrl-C at every operation by which `project split` and `project join` leave traces. After each, no plan removes an
 * object, and the same command completes the move: the files are the ones of a move without an interruption.
 *
 * `npm test` takes a sample of the points; `npm run test:long` all of them.
 */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { HttpBackend } from "../support/http-backend.ts";
import { Project } from "../support/project.ts";
import type { Tally } from "./support/kill-points.ts";
import { announce, sampled } from "./support/long.ts";
import { type Place, startPlace } from "./support/place.ts";
import { type KillPoint, type Program, reliabilityProgram } from "./support/program.ts";

const MAIN = `project: agency

templates:
  site: { plan_id: 11, currency: USD, grants: { dev@agency.example: view } }

# Sites of the agency.
services:
  acme: { template: site, domain: acme.example, client: acme }
  # Pays late.
  bakery: { template: site, domain: bakery.example, client: bakery }
`;
const CLIENT = `# The shop of the bakery.

services:
  # Sells bread.
  bread: { template: site, domain: bread.example, client: bakery }

outputs:
  ids: \${hosting_service.bakery.id} \${hosting_service.bread.id}
`;
/** Moves with the commands before, and the services of both projects afterwards. */
const MOVES = {
  split: { before: [], args: ["split", "client:bakery", "other"], here: ["acme"], there: ["bakery", "bread"] },
  join: {
    before: [["project", "split", "client:bakery", "other"]],
    args: ["join", "other"],
    here: ["acme", "bakery", "bread"],
    there: [],
  },
  "split with a state at http": {
    before: [["state", "migrate"]],
    args: ["split", "client:bakery", "other"],
    here: ["acme"],
    there: ["bakery", "bread"],
  },
} as const;

let program: Program;
beforeAll(async () => {
  program = await reliabilityProgram();
});

/** Returns the declarations of both projects, by path. */
function declarations({ dir }: Place): Record<string, string> {
  const files = globSync(["*.yaml", "other/*.yaml"], { cwd: dir }).sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(path.join(dir, file), "utf8")]));
}

/** Returns the project in `other`, with the same account. */
const otherOf = ({ dir, sandbox, clock, env }: Place) =>
  new Project(path.join(dir, "other"), sandbox, clock, env as Record<string, string>);

const servicesIn = async (project: Project) =>
  existsSync(project.dir)
    ? (await project.run("state", "list")).out
        .split("\n")
        .filter((one) => one.startsWith("hosting_service."))
        .toSorted()
    : [];

/** Copies a folder with the modes of its files. */
const copyFolder = (from: string, to: string) => void execFileSync("cp", ["-a", from, to]);

interface Folder {
  readonly project: Place;
  /** Restores the folder as `ready` returned it. */
  restore(): void;
}

async function ready(before: readonly (readonly string[])[], isRemote: boolean): Promise<Folder> {
  const server = await HttpBackend.start();
  onTestFinished(() => server.close());
  const project = await startPlace({});
  onTestFinished(() => project.close());
  project.env.XDG_STATE_HOME = path.join(project.dir, ".state-home");
  await project.declare(MAIN);
  await project.declare(CLIENT, "bakery.hosting.yaml");
  await project.apply();
  if (isRemote) await project.declare(`${MAIN}\nbackend: { http: ${JSON.stringify(server.settings)} }\n`);
  for (const args of before) {
    const { code, text } = await project.run(...args);
    expect(code, text).toBe(0);
  }
  const copy = `${project.dir}-copy`;
  copyFolder(project.dir, copy);
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const { state } = server;
  const restore = () => {
    Object.assign(server, { state, lock: undefined });
    rmSync(project.dir, { recursive: true, force: true });
    copyFolder(copy, project.dir);
  };
  project.changesSent();
  return { project, restore };
}

/** Fails if a plan removes an object, or if an object is in no state. */
async function expectNothingLost(project: Place, all: readonly string[]): Promise<void> {
  const held = new Set<string>();
  for (const one of [project, otherOf(project)]) {
    for (const address of await servicesIn(one)) held.add(address);
    if (!existsSync(path.join(one.dir, "hosting.yaml"))) continue;
    const { changes } = await one.plan();
    expect(changes.filter(({ actions }) => actions.includes("delete") || actions.includes("create"))).toEqual([]);
  }
  expect([...held].toSorted()).toEqual(all);
}

type Move = (typeof MOVES)[keyof typeof MOVES];

/** Fails unless the move is complete. */
async function expectComplete(project: Place, { here, there }: Move, wanted: Record<string, string>): Promise<void> {
  const addressed = (names: readonly string[]) => names.map((name) => `hosting_service.${name}`);
  expect(declarations(project)).toEqual(wanted);
  expect(await servicesIn(project)).toEqual(addressed(here));
  expect(await servicesIn(otherOf(project))).toEqual(addressed(there));
  const folders = there.length > 0 ? [".", "other"] : ["."];
  for (const folder of folders) {
    const { code, text } = await project.run("-C", folder, "plan");
    expect([code, text]).toEqual([0, expect.stringContaining("No changes")]);
  }
  expect(project.changesSent()).toEqual([]);
}

const pointsOf = (tally: Tally): KillPoint[] =>
  (["open", "write", "sync", "rename", "remove", "send", "receive"] as const).flatMap((kind) =>
    tally[kind].flatMap((_, at) => (["before", "after"] as const).map((moment) => ({ kind, nth: at + 1, moment }))),
  );

describe.each(Object.entries(MOVES))("project %s", { timeout: 3_600_000 }, (name, move) => {
  it.each(["kill -9", "Ctrl-C"] as const)("is completed by the same command after %s at any write", async (how) => {
    const { project, restore } = await ready(move.before, name.includes("http"));
    const start = { cwd: project.dir, env: project.env, args: ["project", ...move.args] };
    const { ended, tally } = await program.count(start);
    expect(ended.code, ended.err).toBe(0);
    const wanted = declarations(project);
    const points = pointsOf(tally);
    const chosen = sampled(points, how === "kill -9" ? 17 : 41);
    const failures: string[] = [];
    let [killed, stopped] = [0, 0];
    for (const point of chosen) {
      restore();
      try {
        const { code, signal } = await program.run({
          ...start,
          kill: point,
          ...(how === "Ctrl-C" && { signal: "SIGINT" }),
        });
        if (signal === "SIGKILL") killed += 1;
        if (code === 1) stopped += 1;
        project.catchUp();
        await expectNothingLost(
          project,
          ["acme", "bakery", "bread"].map((one) => `hosting_service.${one}`),
        );
        const again = await project.run("project", ...move.args);
        if (again.code !== 0)
          expect(again.text).toContain("If an earlier run was interrupted: the move is complete if");
        await expectComplete(project, move, wanted);
      } catch (error) {
        failures.push(`${point.moment} ${point.kind} ${point.nth}: ${error instanceof Error ? error.message : error}`);
      }
    }
    announce(`${how} of project ${name}: ${chosen.length} of ${points.length} points; ${failures.length} failures`);
    expect(failures).toEqual([]);
    // Ctrl-C ends a wait for a lock. Afterwards, the move goes to its end.
    expect([killed, stopped]).toEqual(how === "kill -9" ? [chosen.length, 0] : [0, expect.any(Number)]);
  });
});
