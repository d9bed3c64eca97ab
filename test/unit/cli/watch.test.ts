import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { project, runIn } from "./harness.ts";

const DECLARED = `project: test
services:
  www: {plan_id: 11, currency: USD, domain: www.acme.example, deletion_policy: forget}
`;
/** Time of a check, which differs between runs. */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/gm;
const steady = (text: string) => text.replace(STAMP, "AT").replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT");

describe("the output of watch", () => {
  it("contains changes on standard output, and each check on standard error", async () => {
    const made = await project(DECLARED);
    const { code, stdout, stderr } = await made.run(["watch", "--max-runs", "1", "--interval", "90s"]);
    expect(code).toBe(0);
    expect(steady(stdout)).toBe(
      [
        "AT Plan: 1 to add, 0 to change, 0 to destroy.",
        "  + hosting_service.www will be ordered: declared: not in the state",
        "Orders: 1 service, list price 500 (USD, API's unit), billed 450 (USD, API's unit) after discount, then 450 (USD, API's unit) a month",
        "Amounts are in the unit of the API, which may be cents. To show them in the currency, set `money_scale` in the settings of the provider.",
        "",
      ].join("\n"),
    );
    expect(steady(stderr)).toBe(
      [
        "Checking every 1 min 30 s: differences are reported, not applied. Press Ctrl-C to stop.",
        "Stopped after 1 check.",
        "",
      ].join("\n"),
    );
    await expect(made.read("hosting.tfstate")).rejects.toThrow();
  });

  it("is empty with --quiet if nothing changed", async () => {
    const made = await project("project: test\n");
    expect(await made.run(["watch", "--max-runs", "1", "--quiet"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  it("contains the URL of the event receiver, and no secret", async () => {
    const made = await project("project: test\n");
    const env = {
      HOSTING_BASE_URL: made.sandbox.url,
      HOSTING_TOKEN: made.sandbox.tokens.agency,
      HOOK: "whsec-0123456789abcdef",
    };
    const args = ["watch", "--max-runs", "1", "--listen", "0", "--secret-env", "HOOK"];
    const { code, stdout, stderr } = await made.run(args, { env });
    expect(code).toBe(0);
    expect(steady(stderr)).toContain("Receiving events at http://127.0.0.1:PORT. Press Ctrl-C to stop.");
    expect(stdout + stderr).not.toContain(env.HOOK);
  });
});

describe("watch does not start", () => {
  it.each([
    ["without a declaration", [], /config\.missing/],
    ["with an interval that uses up the requests", ["--interval", "9s"], /from 10s to 24h/],
    ["with an interval longer than a day", ["--interval", "25h"], /from 10s to 24h/],
    ["for no look at all", ["--max-runs", "0"], /whole number from 1/],
    ["at an address that is none", ["--listen", "http://x"], /HOST:PORT/],
    ["listening without a secret", ["--listen", "0"], /webhooks\.secret/],
    ["with a secret that is not there", ["--listen", "0", "--secret-env", "NONE"], /NONE/],
    ["with a secret and nothing to listen at", ["--secret-env", "X"], /Add --listen/],
    ["in a way that could order twice", ["--reorder", "hosting_service.www"], /Unknown option/],
  ])("%s", async (_, args, message) => {
    const { code, stdout, stderr } = await runIn(temporaryFolder(), ["watch", "--max-runs", "1", ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("with a rejected token, or without a server", async () => {
    const made = await project(DECLARED);
    const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: "wrong-token-0123456789" };
    const { code, stderr } = await made.run(["watch"], { env });
    expect(code).toBe(5);
    expect(stderr).toMatch(/api\.unauthenticated/);
  });

  it("at a port that is in use, and the fix names the option", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const made = await project(DECLARED);
    const env = {
      HOSTING_BASE_URL: made.sandbox.url,
      HOSTING_TOKEN: made.sandbox.tokens.agency,
      HOOK: "whsec-0123456789",
    };
    const { code, stderr } = await made.run(["watch", "--listen", `${port}`, "--secret-env", "HOOK"], { env });
    server.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/in use[\s\S]*--listen \[HOST:\]PORT/);
  });
});
