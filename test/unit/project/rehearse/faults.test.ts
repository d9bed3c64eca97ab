/** Checks of `rehearse --faults`, each with a client that breaks its promise. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { runCli } from "../../../../src/cli/cli.ts";
import { HostingClient, type Mutation } from "../../../../src/core/api/index.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import type { JsonObject } from "../../../../src/core/model/index.ts";
import { Stage } from "../../../../src/project/rehearse/stage.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { fakeIo } from "../../../support/io.ts";
import { startSandbox } from "../../../support/sandbox.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

type Send = (mutation: Mutation) => Promise<unknown>;

/** Replaces each request that changes an account. */
function sending(replace: (mutation: Mutation, send: Send) => Promise<unknown>) {
  const { request } = HostingClient.prototype;
  vi.spyOn(HostingClient.prototype, "request").mockImplementation(function (this: HostingClient, mutation, options) {
    let isFirst = true;
    const send: Send = (one) => {
      const given = isFirst ? options : {};
      isFirst = false;
      return request.call(this, one, given);
    };
    return replace(mutation, send) as never;
  });
}

/** Does something else after a request to an endpoint failed, also if the process has ended. */
const afterFault = (endpoint: Mutation["endpoint"], work: (mutation: Mutation, send: Send) => Promise<unknown>) =>
  sending(async (mutation, send) => {
    try {
      return await send(mutation);
    } catch (error) {
      if (mutation.endpoint !== endpoint) throw error;
      return work(mutation, send);
    }
  });

const BOX = "project: acme\nservices:\n  box: { plan_id: 31, currency: USD, deletion_policy: forget }\n";
const RESET = BOX.replace("forget }", "forget, password_version: 1, secret_output: { file: password } }");
const ORDER = "  www: { plan_id: 11, currency: USD, domain: www.example, deletion_policy: forget }\n";
const GRANT = BOX.replace("forget }", "forget, grants: { dev@acme.example: view } }");
const webhook = (output: string) =>
  `webhooks:\n  in: { url: "https://hooks.example/in", events: [invoice.paid]${output} }\n`;

/** Applies a server, and rehearses a declaration with faults. */
async function rehearse(text: string, breakIt: (interrupt: () => void) => void = () => {}) {
  let interrupt = () => {};
  const { url, tokens } = await startSandbox({ rateLimit: 0, autoPay: true, profile: {}, provisioningSeconds: 0 });
  const cwd = temporaryFolder();
  const env = { HOSTING_TOKEN: tokens.agency, HOSTING_BASE_URL: url, HOME: cwd };
  const run = async (...args: string[]) => {
    const io = fakeIo({ cwd, env });
    interrupt = io.interrupt;
    return { code: await runCli(args, io), out: io.stdout(), err: io.stderr() };
  };
  writeFileSync(path.join(cwd, "hosting.yaml"), BOX);
  expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  writeFileSync(path.join(cwd, "hosting.yaml"), text);
  breakIt(() => interrupt());
  const { code, out, err } = await run("rehearse", "--faults", "--months", "1", "--json");
  expect(err).not.toContain("Error");
  const { faults, passed, verdict } = JSON.parse(out);
  return { code, passed, verdict, ...faults };
}

test("a rehearsal names the host and the token variable of the account in its messages", async () => {
  const { url, tokens } = await startSandbox({ rateLimit: 0, profile: {} });
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, "hosting.yaml"), BOX);
  const { open } = Stage;
  vi.spyOn(Stage, "open").mockImplementation(async (...options) => {
    const stage = await open.apply(Stage, options);
    for (const { control } of stage.sandboxes.values())
      for (const { id } of control.list("tokens")) control.remove("tokens", id);
    return stage;
  });
  const io = fakeIo({ cwd, env: { HOSTING_TOKEN: tokens.agency, HOSTING_BASE_URL: url, HOME: cwd } });
  expect(await runCli(["rehearse", "--months", "1", "--json"], io)).toBe(1);
  expect(io.stdout()).toContain(`${new URL(url).host}, token from HOSTING_TOKEN`);
  expect(io.stdout()).not.toContain("HOSTFORM_REHEARSAL_TOKEN");
});

test("Ctrl-C ends the fault cases, and the report has the finished ones", async () => {
  let cases = 0;
  const press = (interrupt: () => void) => {
    const { open } = Stage;
    vi.spyOn(Stage, "open").mockImplementation(async (...options) => {
      cases += 1;
      if (cases === 4) interrupt();
      return open.apply(Stage, options);
    });
  };
  const found = await rehearse(GRANT, press);
  expect(found).toMatchObject({ is_finished: false, passed: false, code: 1, problems: [] });
  expect(found.verdict).toBe("The plan converges, but the fault cases are not finished.");
});

describe("a rehearsal with faults", () => {
  it.each([
    ["a generated password with a destination", RESET],
    ["a generated password in the state", RESET.replace(/, secret_output.*file: password }/, "")],
    ["a signing secret", `${BOX}${webhook("")}`],
    ["an order and a grant", `${GRANT}${ORDER}`],
  ])("passes with %s", async (_, text) => {
    const found = await rehearse(text);
    expect(found).toMatchObject({ problems: [], passed: true, code: 0 });
    expect(found.cases).toBeGreaterThan(4);
  });

  it.each<[string, string, () => void, string, string]>([
    [
      "a second order",
      `${BOX}${ORDER}`,
      () => {
        const { list, recheck } = Account.prototype;
        for (const [name, read] of Object.entries({ list, recheck }))
          vi.spyOn(Account.prototype, name as "list").mockImplementation(async function (this: Account, ...of) {
            const rows = await read.apply(this, of);
            return new Map([...rows].filter(([, { attributes }]) => attributes.domain !== "www.example"));
          });
        let key = 0;
        sending((mutation, send) => {
          const isOrder = mutation.endpoint === "createService";
          return send({ ...mutation, ...(isOrder && { idempotencyKey: `another-key-${++key}` }) });
        });
      },
      "crash_after POST /api/v1/services",
      "2 of 1 orders were placed.",
    ],
    [
      "a plan that never converges",
      GRANT,
      () => {
        let isBroken = false;
        sending(async (mutation, send) => {
          if (mutation.endpoint === "createGrant" && isBroken)
            return send({ ...mutation, body: { ...mutation.body, permission: "refused" } });
          return send(mutation).catch((error) => {
            isBroken = true;
            throw error;
          });
        });
      },
      "crash_before POST /api/v1/services/1003/grants",
      "It does not converge.",
    ],
    [
      "a lost signing secret",
      `${BOX}${webhook(", secret_output: { file: secret }")}`,
      () =>
        afterFault("createWebhook", async (mutation, send) => ({
          ...((await send(mutation)) as JsonObject),
          secret: "x",
        })),
      "lost_answer POST /api/v1/webhooks",
      "The signing secret of hosting_webhook.in is lost.",
    ],
    [
      "a lost password",
      RESET,
      () => afterFault("resetPassword", async () => ({ password: "not-the-password" })),
      "lost_answer POST /api/v1/services/1003/password",
      "The generated password of hosting_service.box is lost.",
    ],
  ])("fails with %s", async (_, text, breakIt, place, why) => {
    const [fault, ...words] = place.split(" ");
    const request = words.join(" ");
    const found = await rehearse(text, breakIt);
    expect(found.problems).toEqual(
      expect.arrayContaining([{ request, fault, result: "failed", why: expect.arrayContaining([why]) }]),
    );
    expect(found).toMatchObject({
      passed: false,
      code: 1,
      verdict: expect.stringMatching(/fault cases? of \d+ failed/),
    });
  });
});
