import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Project, type Ran, startProject } from "../support/project.ts";

const ONE = { project: "one", services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } } };

/** A project that has been applied, with one more thing declared that a command would make. */
async function applied(): Promise<{ project: Project; state: string | undefined }> {
  const project = await startProject({ declare: ONE });
  await project.apply();
  await project.declare({ ...ONE, webhooks: { one: { url: "https://hooks.acme.example", events: ["invoice.paid"] } } });
  project.sent();
  return { project, state: await project.stateText() };
}

/** A person can act on it: exit 1, words, no stack, no token, and nothing happened. */
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

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that answers everything with the same page. */
async function page(status: number, body: string, type = "text/html"): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status, { "content-type": type }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("hostform apply", () => {
  const run = (project: Project) => project.run("apply", "--auto-approve");

  it("explains a wrong token", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_TOKEN = "sandbox-nobody-token-0123456789";
    await expectRefused(project, state, await run(project), [/401/, /token/i]);
  });

  it("explains a token that is not there", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_TOKEN = undefined;
    await expectRefused(project, state, await run(project), [/HOSTING_TOKEN is not set/, /export HOSTING_TOKEN/]);
    expect(project.sent()).toEqual([]);
  });

  it("explains a base URL that is not there", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_BASE_URL = undefined;
    await expectRefused(project, state, await run(project), [/No base URL/, /HOSTING_BASE_URL/]);
  });

  it("refuses to send a token over plain http", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_BASE_URL = "http://api.acme.example";
    await expectRefused(project, state, await run(project), [/https/]);
  });

  it("explains a token that may only look, naming the ability", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_TOKEN = project.sandbox.tokens.viewer;
    await expectRefused(project, state, await run(project), [/403/, /technical/]);
  });

  it("explains a server that cannot be reached", async () => {
    const { project, state } = await applied();
    const address = await page(200, "");
    closing.splice(0).forEach((close) => void close());
    project.env.HOSTING_BASE_URL = address;
    await expectRefused(project, state, await run(project), [/could not be reached/, new RegExp(address)]);
  });

  it("explains a server that answers HTML", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_BASE_URL = await page(200, "<!doctype html><title>Welcome</title>");
    await expectRefused(project, state, await run(project), [/HTML/, /base URL/i]);
  });

  it("explains a server that redirects", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_BASE_URL = await page(302, "");
    await expectRefused(project, state, await run(project), [/redirect/]);
  });

  it("explains a server that fails", async () => {
    const { project, state } = await applied();
    project.env.HOSTING_BASE_URL = await page(503, "<html>maintenance</html>");
    await expectRefused(project, state, await run(project), [/503/]);
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
  it("plans what it may see", async () => {
    const project = await startProject({ declare: ONE, token: "viewer" });
    const plan = await project.plan();
    expect(plan.changes.map(({ actions }) => actions[0])).toEqual(["create"]);
  });

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
