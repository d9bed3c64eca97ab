import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Project, type Ran, startProject } from "../support/project.ts";

const ONE = { project: "one", services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } } };

/** An applied project with one more declared webhook, which a command would create. */
async function applied(): Promise<{ project: Project; state: string | undefined }> {
  const project = await startProject({ declare: ONE });
  await project.apply();
  await project.declare({ ...ONE, webhooks: { one: { url: "https://hooks.acme.example", events: ["invoice.paid"] } } });
  project.sent();
  return { project, state: await project.stateText() };
}

/** Fails unless the run exits with 1 and a helpful message, prints no stack trace and no token, and changes nothing. */
async function expectRefused(project: Project, state: string | undefined, run: Ran, words: readonly RegExp[]) {
  expect(run.code).toBe(1);
  for (const word of words) expect(run.err).toMatch(word);
  expect(run.text).not.toMatch(/^\s+at .*[(:]\d+/m);
  expect(run.text).not.toMatch(/Internal error|undefined|\[object/);
  for (const token of Object.values(project.sandbox.tokens)) expect(run.text).not.toContain(token);
  expect(run.text).not.toContain(String(project.env.HOSTING_TOKEN));
  expect(project.changesSent()).toEqual([]);
  expect(await project.stateText()).toBe(state);
}

/**
 * Replaces the host by a server with one response for every request.
 * @param status 0: the server is closed.
 */
const answeredBy =
  (status: number, body = "") =>
  async (env: Project["env"]): Promise<void> => {
    const server = createServer((_, response) => response.writeHead(status, { "content-type": "text/html" }).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    env.HOSTING_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const close = () => {
      server.closeAllConnections();
      server.close();
    };
    if (status === 0) close();
    else onTestFinished(close);
  };

describe("hostform apply", () => {
  const run = (project: Project) => project.run("apply", "--auto-approve");

  it.each<[what: string, happen: (env: Project["env"]) => unknown, words: readonly RegExp[]]>([
    [
      "a wrong token",
      (env) => Object.assign(env, { HOSTING_TOKEN: "sandbox-nobody-token-0123456789" }),
      [/401/, /token/i],
    ],
    ["a base URL that is not there", (env) => delete env.HOSTING_BASE_URL, [/No base URL/, /HOSTING_BASE_URL/]],
    ["a base URL without TLS", (env) => Object.assign(env, { HOSTING_BASE_URL: "http://api.acme.example" }), [/https/]],
    ["a server that cannot be reached", answeredBy(0), [/could not be reached/, /http:\/\/127\.0\.0\.1:\d+/]],
    ["a server that answers HTML", answeredBy(200, "<!doctype html><title>Welcome</title>"), [/HTML/, /base URL/i]],
    ["a server that redirects", answeredBy(302), [/redirect/]],
    ["a server that fails", answeredBy(503, "<html>maintenance</html>"), [/503/]],
  ])("explains %s", async (_, happen, words) => {
    const { project, state } = await applied();
    await happen(project.env);
    await expectRefused(project, state, await run(project), words);
  });

  it("explains a token that is not there", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_TOKEN = undefined;
    await expectRefused(project, state, await run(project), [/HOSTING_TOKEN is not set/, /export HOSTING_TOKEN/]);
    expect(project.sent()).toEqual([]);
  });

  it("explains a token that may only look, naming the ability", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_TOKEN = project.sandbox.tokens.viewer;
    await expectRefused(project, state, await run(project), [/403/, /technical/]);
  });

  it("explains a damaged state and leaves it as it is", async () => {
    const { project } = await applied();
    await project.restoreState("{ not json");
    await expectRefused(project, "{ not json", await run(project), [/hosting\.tfstate/]);
    expect(project.sent()).toEqual([]);
  });

  it("reports ten errors of a declaration in one run, each at its place", async () => {
    const { project, state } = await applied();
    await project.declare(TEN_MISTAKES);
    const ran = await run(project);
    await expectRefused(project, state, ran, [/did you mean/i]);
    for (const line of MISTAKEN_LINES)
      expect(ran.err, `line ${line}`).toMatch(new RegExp(`hosting\\.yaml:${line}:\\d+`));
    expect(project.sent()).toEqual([]);
  });
});

const TEN_MISTAKES = `project: one
services:
  www:
    plan: 11
    currency: DOLLAR
    domain: not a domain
    term: 5
    grants:
      nobody: view
      dev@acme.example: own
  other:
    plan_id: eleven
    currency: USD
webhooks:
  one:
    url: hooks.acme.example
    events: [invoice.payed]
migration_requests:
  m:
    domain: old.acme.example
    order_id: \${hosting_service.wwww.id}
`;
const MISTAKEN_LINES = [4, 5, 6, 7, 9, 10, 12, 16, 17, 21];

describe("a view-only token", () => {
  it("orders nothing, and the failure of the order says what it lacks", async () => {
    const project = await startProject({ declare: ONE, token: "viewer" });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toMatch(/technical/);
    expect(await project.recorded("hosting_service.www")).toBeUndefined();
  });
});

describe("an approval", () => {
  it.each([
    ["no", /Not approved. Nothing was changed/],
    ["y", /Not approved. Nothing was changed/],
    [undefined, /Cannot ask for approval.*--auto-approve/s],
  ])("that is %j changes nothing", async (answer, words) => {
    const { project, state } = await applied();
    project.answer = () => answer;
    await expectRefused(project, state, await project.run("apply"), [words]);
  });
});

describe.each(["free", "kept"] as const)(
  "an order that was refused, at a host whose Idempotency-Keys are then %s (§4)",
  (refused_key) => {
    const order = (more: object) => ({ project: "one", services: { www: { plan_id: 11, currency: "USD", ...more } } });
    const BAD = order({ domain: "www.acme.example", coupon_code: "NONE" });
    const start = () => startProject({ declare: BAD, sandbox: { profile: { refused_key } } });

    it("is ordered once it is corrected, or once it is no longer refused, and only once", async () => {
      const project = await start();
      for (const _ of [1, 2]) expect(await project.run("apply", "--auto-approve")).toMatchObject({ code: 1 });
      await project.declare(order({ domain: "www.acme.example" }));
      const run = await project.run("apply", "--auto-approve");
      expect(run.code, run.text).toBe(0);
      expect(await project.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
      expect(project.control.list("services").filter(({ customer_id }) => customer_id === 1)).toHaveLength(1);
    });

    it("is forgotten once it is no longer declared, and blocks nothing", async () => {
      const vps = (name: string, more: object = {}) => ({
        project: "one",
        services: { [name]: { plan_id: 31, currency: "USD", ...more } },
      });
      const project = await start();
      await project.declare(vps("old", { coupon_code: "NONE" }));
      expect(await project.run("apply", "--auto-approve")).toMatchObject({ code: 1 });
      await project.declare(vps("new"));
      const run = await project.run("apply", "--auto-approve");
      expect(run.code, run.text).toBe(0);
      expect((await project.run("state", "list")).out.trim()).toBe("hosting_service.new");
    });
  },
);
