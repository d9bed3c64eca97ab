/** `project split` and `project join` with states in files, at an `http` backend, and in PostgreSQL. */
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { applied, SITES, text } from "../support/edited-sites.ts";
import { HttpBackend } from "../support/http-backend.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES } from "../support/programs.ts";
import type { Project } from "../support/project.ts";

let postgres: Postgres | undefined;
beforeAll(async () => {
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

type Place = "file" | "http" | "pg";

/** Returns the section `backend` of a new state at a place. */
async function backendAt(place: Place, workspace: string): Promise<{ yaml: string; server?: HttpBackend }> {
  if (place === "file") return { yaml: "" };
  if (place === "pg") return { yaml: `backend: { pg: { workspace: ${workspace} } }\n` };
  const server = await HttpBackend.start();
  onTestFinished(() => server.close());
  return { yaml: `backend: { http: ${JSON.stringify(server.settings)} }\n`, server };
}

/** Starts an applied project with its state at a place. */
async function at(place: Place) {
  const project = await applied();
  if (place === "pg" || POSTGRES.path !== undefined) project.env.PG_CONN_STR = (await postgres?.database()) ?? "";
  const { yaml, server } = await backendAt(place, "one");
  await project.declare(SITES + yaml);
  if (place !== "file") await ok(project, "state", "migrate");
  return { project, yaml, server };
}

async function ok(project: Project, ...args: string[]): Promise<string> {
  const { code, text: output } = await project.run(...args);
  expect(code, output).toBe(0);
  expect(project.changesSent()).toEqual([]);
  return output;
}

/** Declares the project in `other`, with the templates of the agency. */
async function declareOther(project: Project, yaml: string): Promise<void> {
  mkdirSync(path.join(project.dir, "other"));
  const shared = SITES.slice(SITES.indexOf("defaults:"), SITES.indexOf("services:\n  acme"));
  await project.declare(`project: other\n${shared}${yaml}`, "other/hosting.yaml");
}

const servicesIn = async (project: Project, folder: string) =>
  (await project.run("-C", folder, "state", "list")).out
    .split("\n")
    .filter((one) => one.startsWith("hosting_service."));

async function expectQuiet(project: Project, ...folders: string[]): Promise<void> {
  for (const folder of folders)
    expect(await ok(project, "-C", folder, "plan", "--detailed-exitcode")).toContain("No changes");
}

const PAIRS: readonly (readonly [Place, Place])[] = [
  ["http", "file"],
  ["file", "http"],
  ["http", "http"],
  ["pg", "file"],
  ["file", "pg"],
  ["pg", "pg"],
  ["http", "pg"],
];

for (const [from, to] of PAIRS) {
  const needs = from === "pg" || to === "pg" ? [POSTGRES] : [];
  describeWith(...needs)(`projects with states in ${from} and ${to}`, { timeout: 60_000 }, () => {
    it("move a client and its state entries, and back", async () => {
      const { project, yaml } = await at(from);
      const other = await backendAt(to, "two");
      await declareOther(project, other.yaml);
      await ok(project, "project", "split", "client:bakery", "other");
      expect(await servicesIn(project, ".")).toEqual(["hosting_service.acme", "hosting_service.cafe"]);
      expect(await servicesIn(project, "other")).toEqual(["hosting_service.bakery"]);
      expect(existsSync(path.join(project.dir, "other/hosting.tfstate"))).toBe(to === "file");
      await expectQuiet(project, ".", "other");
      await ok(project, "project", "join", "other");
      expect(await servicesIn(project, ".")).toHaveLength(3);
      expect(await servicesIn(project, "other")).toEqual([]);
      await expectQuiet(project, ".");
      expect(await text(project)).toContain(yaml);
    });
  });
}

describe("projects with a backend", () => {
  it("split to a new project, whose state is a file", async () => {
    const { project, server } = await at("http");
    const output = await ok(project, "project", "split", "client:bakery", "other");
    expect(output).toContain("The state of other is a file. For a backend, declare it there and migrate the state.");
    expect(await text(project, "other/hosting.yaml")).not.toContain("backend");
    expect(server?.state).not.toContain("bakery.example");
    await expectQuiet(project, ".", "other");
  });

  it.each([
    [
      "http",
      "backend: { http: {} }\n",
      (server: HttpBackend) => ({ TF_HTTP_ADDRESS: server.url, TF_HTTP_LOCK_ADDRESS: `${server.url}/lock` }),
    ],
    ["pg", "backend: { pg: {} }\n", () => ({ PG_CONN_STR: "postgres://u:p@127.0.0.1:9/x" })],
    ["file", "", () => ({})],
  ] as const)("that have one state are rejected before any write or request: %s", async (type, yaml, env) => {
    const project = await applied();
    const server = await HttpBackend.start();
    onTestFinished(() => server.close());
    Object.assign(project.env, env(server));
    const own = SITES + yaml;
    const flags = type === "file" ? ["--state", "other/hosting.tfstate"] : [];
    await project.declare(own);
    await declareOther(project, yaml);
    for (const args of [
      ["split", "client:bakery", "other"],
      ["join", "other"],
    ]) {
      const { code, text: output } = await project.run("project", ...args, ...flags);
      expect([code, output]).toEqual([1, expect.stringContaining("both projects have the same state")]);
    }
    expect(await text(project)).toBe(own);
    expect(server.requests).toEqual([]);
  });

  it("change nothing if another run holds one of the states", async () => {
    const { project, yaml, server } = await at("http");
    if (server) server.lock = { ID: "0b7f9f0e-0000-4000-8000-000000000000", Operation: "apply", Who: "ci@runner" };
    const { code, text: output } = await project.run("project", "split", "client:bakery", "other");
    expect([code, output]).toEqual([1, expect.stringContaining("[state.locked]")]);
    expect(await text(project)).toBe(SITES + yaml);
    expect(existsSync(path.join(project.dir, "other"))).toBe(false);
  });

  it.each([
    ["target", "no file is written"],
    ["source", "the blocks are in the target"],
  ])("complete the move with the same command after a failed write of the %s: %s", async (failing) => {
    const { project, server } = await at("http");
    const other = await backendAt("http", "two");
    await declareOther(project, other.yaml);
    const before = await text(project);
    const broken = failing === "target" ? other.server : server;
    if (broken) broken.fault = (line) => (line.startsWith("POST") ? { status: 500 } : undefined);
    const failed = await project.run("project", "split", "client:bakery", "other");
    expect([failed.code, failed.text]).toEqual([1, expect.stringContaining("[state.unwritable]")]);
    if (failing === "target") expect(await text(project)).toBe(before);
    if (broken) broken.fault = () => undefined;
    for (const folder of [".", "other"])
      expect((await project.run("-C", folder, "plan")).text).not.toContain("destroyed");
    await ok(project, "project", "split", "client:bakery", "other");
    expect(await servicesIn(project, ".")).toEqual(["hosting_service.acme", "hosting_service.cafe"]);
    expect(await servicesIn(project, "other")).toEqual(["hosting_service.bakery"]);
    expect(await text(project)).not.toContain("removed");
    await expectQuiet(project, ".", "other");
  });
});
