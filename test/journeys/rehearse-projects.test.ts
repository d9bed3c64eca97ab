/** Rehearsals of projects with a state key, a history, several accounts and secrets, by the library. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadOptions, Progress } from "../../src/project/library.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startSandbox } from "../support/sandbox.ts";
import { shipped } from "../support/shipped.ts";

const { loadProject } = await shipped("library.js");

const DAY = 86_400_000;

const site = (name: string, more = "") =>
  `  ${name}: { plan_id: 11, currency: USD, domain: ${name}.example, deletion_policy: forget${more} }\n`;

async function projectWith(text: string, more: Readonly<Record<string, string>> = {}) {
  const host = await startSandbox({ clock: "2026-12-01T09:00:00Z", rateLimit: 0, autoPay: true, profile: {} });
  const directory = temporaryFolder();
  const declare = (changed: string) => writeFileSync(path.join(directory, "hosting.yaml"), changed);
  declare(text);
  const { agency, customer } = host.tokens;
  const tokens = { HOSTING_TOKEN: agency, OTHER_TOKEN: customer };
  const env = { ...tokens, HOSTING_BASE_URL: host.url, HOSTING_MONEY_SCALE: "2", HOME: directory, ...more };
  const load = (options: LoadOptions = {}) => loadProject({ directory, env, ...options });
  return { ...host, directory, declare, load };
}

describe("a rehearsal", () => {
  it("copies an encrypted state with its history, and counts the orders of the month", async () => {
    const guards = "project: acme\nguards: { max_orders_day: 2 }\nservices:\n";
    const { load, declare, directory } = await projectWith(`${guards}${site("a")}`, {
      HOSTFORM_STATE_PASSPHRASE: "correct horse battery staple",
    });
    const project = await load();
    await project.apply(await project.plan());
    const state = readFileSync(path.join(directory, "hosting.tfstate"), "utf8");
    declare(`${guards}${site("a")}${site("b")}`);
    expect((await (await load()).rehearse({ months: 1 })).report).toMatchObject({ passed: true, left: [] });
    declare(`${guards}${site("a")}${site("b")}${site("c")}`);
    const { report } = await (await load()).rehearse({ months: 1 });
    expect(report.stops.map(({ code }) => code)).toContain("guard.month");
    expect(readFileSync(path.join(directory, "hosting.tfstate"), "utf8")).toBe(state);
  });

  it.each([28, 29, 30, 31])("lasts whole calendar months from day %i", async (day) => {
    const end = new Date(Date.UTC(2027, 2, day - 1));
    const { load, control } = await projectWith(`project: acme
services:
  a: { plan_id: 11, currency: USD, domain: a.example, deletion_policy: forget, grants: {
    in@acme.example: { permission: view, expires_at: "${end.toISOString()}" },
    out@acme.example: { permission: view, expires_at: "${new Date(end.getTime() + DAY).toISOString()}" } } }
`);
    control.advanceClock({ days: day - 1 });
    const { report } = await (await load()).rehearse({ months: 3 });
    expect(report.ends).toEqual([
      { on: end.toISOString().slice(0, 10), text: "The access of in@acme.example to a.example expires.", site: null },
    ]);
  });

  it("rehearses with a token that only views, as in a pull request", async () => {
    const { load, control, url } = await projectWith(`project: acme\nservices:\n${site("a")}`);
    const { value: HOSTING_TOKEN } = control.create("tokens", { name: "reader", abilities: ["view"] });
    const env = { HOSTING_TOKEN, HOSTING_BASE_URL: url };
    const { report } = await (await load({ env })).rehearse({ months: 1 });
    expect(report).toMatchObject({ passed: true, stops: [], orders: [{ site: "a.example" }] });
    expect(report.assumptions).toContain("This token cannot apply. The token of the apply has all abilities.");
  });

  it("has a sandbox for each account of the project", async () => {
    const { load, control } = await projectWith(`project: acme
providers:
  default: {}
  other: { token_env: OTHER_TOKEN }
services:
${site("a")}${site("b", ", provider: other")}`);
    control.clearRequests();
    const { report, text } = await (await load()).rehearse({ months: 2, faults: true });
    expect(report).toMatchObject({ passed: true, faults: { problems: [] } });
    expect(report.orders.map(({ provider, site: name }) => [provider, name])).toEqual([
      ["default", "a.example"],
      ["other", "b.example"],
    ]);
    expect(text()).toMatch(/2027-01 +other /);
    expect(control.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("reads no password, writes no secret, and prints no token", async () => {
    const { load, directory, tokens } = await projectWith(`project: acme
services:
${site("a", ", password: { env: NOT_SET }, password_version: 1")}webhooks:
  in: { url: "https://hooks.example/in", events: [invoice.paid], secret_output: { command: [touch, ran] } }
`);
    const lines: Progress[] = [];
    const { report, text, markdown, html } = await (await load()).rehearse({
      months: 1,
      onProgress: (line) => void lines.push(line),
    });
    expect(report).toMatchObject({ passed: true, stops: [] });
    expect(existsSync(path.join(directory, "ran"))).toBe(false);
    const all = [JSON.stringify([report, lines]), text(), markdown(), html()].join("\n");
    for (const secret of [tokens.agency, "Rehearsal-only", "whsec_"]) expect(all).not.toContain(secret);
  });

  it("ends at once when its signal is aborted", async () => {
    const stop = new AbortController();
    const { load } = await projectWith(`project: acme\nservices:\n${site("a")}`);
    const project = await load();
    const onProgress = (one: Progress) => one.type === "note" && stop.abort();
    const rehearsed = project.rehearse({ faults: true, signal: stop.signal, onProgress });
    await expect(rehearsed).rejects.toMatchObject({ diagnostics: [{ code: "interrupted" }] });
  });

  it.each([0, 37, 1.5, Number.NaN])("refuses %j months", async (months) => {
    const { load } = await projectWith("project: acme\n");
    await expect((await load()).rehearse({ months })).rejects.toThrow("whole number from 1 to 36");
  });

  it("refuses an untrusted declaration", async () => {
    const { load } = await projectWith("project: acme\n");
    await expect((await load({ untrusted: true })).rehearse()).rejects.toThrow("not allowed");
  });
});
