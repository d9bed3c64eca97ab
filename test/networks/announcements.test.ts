/** Headers that announce the end of the API (§9.3; RFC 9745, RFC 8594), and a pause longer than any run waits. */
import { describe, expect, it } from "vitest";
import { itWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startTerraform } from "../support/terraform.ts";
import { answering, builtClient, failureOf, headersFront, jsonAnswer, PLANS, project, workplace } from "./support.ts";

const HEADERS = {
  deprecation: "@1798761600",
  sunset: "Wed, 30 Jun 2027 23:59:59 GMT",
  link: [
    '<https://api.example/openapi>; rel="service-desc"',
    '<https://host.example/v1-ends>; rel="deprecation sunset"',
  ],
};
const SUMMARY =
  /The API announces that GET \/api\/v1\/[\w/{}-]+ is deprecated from 2027-01-01 on and ends on 2027-06-30/g;

/** Number of warnings in a text. */
const count = (text: string) => text.match(SUMMARY)?.length ?? 0;

async function announcing() {
  const sandbox = await startSandbox({ rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
  return { sandbox, url: await headersFront(sandbox, HEADERS), [Symbol.asyncDispose]: () => sandbox.close() };
}

describe("an announced end of the API causes one warning in a run", () => {
  it("of the command line", { timeout: 60_000 }, async () => {
    await using host = await announcing();
    const { runHere: run } = project(host.sandbox.tokens.agency, { HOSTING_BASE_URL: host.url });
    const applied = await run(["apply", "--auto-approve"]);
    expect(applied.code, applied.text).toBe(0);
    expect(count(applied.text), applied.text).toBe(1);
    expect(applied.text).toContain("The host explains it at https://host.example/v1-ends.");
    const planned = await run(["plan", "--json"]);
    const { hostform } = JSON.parse(planned.out);
    expect(hostform.diagnostics).toMatchObject([{ severity: "warning", code: "api.deprecated" }]);
    expect([count(planned.out), count(planned.err)]).toEqual([1, 0]);
    const quiet: [name: string, ...args: string[]][] = [["plan"], ["services"], ["apply", "--auto-approve"]];
    for (const args of quiet) expect(count((await run([...args, "--quiet"])).text), args[0]).toBe(1);
    await run(["state", "rm", "hosting_webhook.hook"]);
    const again = await run(["apply", "--auto-approve", "--quiet"]);
    expect(count(again.text), again.text).toBe(1);
    const listed = await run(["services", "--json"]);
    expect(JSON.parse(listed.out)).toBeTruthy();
    expect([count(listed.out), count(listed.err)]).toEqual([0, 1]);
  });

  itWith(TERRAFORM)("of the Terraform provider", { timeout: 60_000 }, async () => {
    const terraform = await startTerraform({ install: "running" });
    terraform.env.HOSTING_BASE_URL = await headersFront(terraform.sandbox, HEADERS);
    await terraform.write(`data "hosting_plans" "all" {}\ndata "hosting_services" "all" {}\n`);
    const planned = await terraform.plan();
    const warnings = planned.warnings.filter(({ summary }) => count(summary) > 0);
    expect(warnings.length, planned.text).toBe(1);
  });

  const announced: [why: string, headers: readonly string[], says: string | undefined][] = [
    ["a date", ["deprecation: @1798761600"], "is deprecated from 2027-01-01 on"],
    ["true, as in drafts of RFC 9745", ["Deprecation: true"], "GET /api/v1/plans is deprecated"],
    ["an HTTP date, as in drafts", ["deprecation: Fri, 01 Jan 2027 00:00:00 GMT"], "from 2027-01-01 on"],
    ["Sunset alone", ["sunset: Wed, 30 Jun 2027 23:59:59 GMT"], "GET /api/v1/plans ends on 2027-06-30"],
    ["false", ["deprecation: false"], undefined],
    ["no date", ["sunset: soon", "deprecation: @999999999999999"], undefined],
    ["a date that no calendar has", ["deprecation: @999999999999"], "is deprecated from"],
  ];
  it.each(announced)("of the client library: %s", async (_, headers, says) => {
    const { port } = await answering(jsonAnswer(PLANS, "HTTP/1.1 200 OK", ...headers));
    const warnings: { code: string; summary: string }[] = [];
    const client = await builtClient({ baseUrl: `http://127.0.0.1:${port}`, onWarning: (one) => warnings.push(one) });
    for (let run = 0; run < 3; run++) await client.plans.list().all();
    expect(warnings.map(({ code }) => code)).toEqual(says === undefined ? [] : ["api.deprecated"]);
    if (says !== undefined) expect(warnings[0]?.summary).toContain(says);
  });

  it("omits an invalid URL and control characters", async () => {
    const links = ["link: <javascript:alert(1)>; rel=deprecation", "link: <https://x.example/\u0007>; rel=sunset"];
    const { port } = await answering(jsonAnswer(PLANS, "HTTP/1.1 200 OK", "deprecation: true", links[0] ?? ""));
    const { text, code } = await workplace({ HOSTING_BASE_URL: `http://127.0.0.1:${port}` }).runHere(["plans"]);
    expect(code, text).toBe(0);
    expect(text).toContain("is deprecated");
    expect(text).not.toContain("javascript");
  });
});

describe("hostform reports a pause of 24 hours in full and does not wait", () => {
  const inDays = (days: number) => new Date(Date.parse("2026-11-28T10:00:00Z") + days * 86_400_000).toUTCString();
  const date = `date: ${inDays(0)}`;
  it.each([
    ["Retry-After: 86400", "429 Too Many Requests", ["retry-after: 86400"], "a pause of 24 hours"],
    ["an HTTP date", "429 Too Many Requests", [date, `retry-after: ${inDays(1)}`], "a pause of 24 hours"],
    ["a week", "429 Too Many Requests", ["retry-after: 604800"], "a pause of 168 hours"],
    ["503", "503 Service Unavailable", ["retry-after: 86400"], "The API asks for a pause of 24 hours, until 20"],
    ["503 with a date", "503 Service Unavailable", [date, `retry-after: ${inDays(1)}`], "a pause of 24 hours"],
  ])("%s", async (_, status, headers, says) => {
    const { port, asked } = await answering(jsonAnswer({ message: "Later." }, `HTTP/1.1 ${status}`, ...headers));
    const client = await builtClient({ baseUrl: `http://127.0.0.1:${port}` });
    const { text } = await failureOf(client.services.get("7"));
    expect(text).toContain(says);
    expect(asked.length).toBe(1);
  });

  it("also in a later run that sends no request", async () => {
    const { port, asked } = await answering(jsonAnswer({}, "HTTP/1.1 429 Too Many Requests", "retry-after: 86400"));
    const { runHere: run } = workplace({ HOSTING_BASE_URL: `http://127.0.0.1:${port}` });
    for (const _ of [1, 2]) {
      const { code, text } = await run(["plans"]);
      expect(code).toBe(1);
      expect(text).toContain("The API asks for a pause of 24 hours");
    }
    expect(asked.length).toBe(1);
  });
});
