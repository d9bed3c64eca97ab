/** Commands on a runner with HOSTFORM_APPROVERS. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { decodeReceipt } from "../../src/project/mandate/document.ts";
import { mandateFor, newKey } from "../support/mandates.ts";
import { startProject } from "../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "suspend" };
const DECLARED = { project: "acme", services: { www: SITE } };

/** A project with an applied service, then a runner that trusts an approver. */
async function guarded() {
  const project = await startProject({ declare: DECLARED });
  project.env.NEW_PASSWORD = "correct-Horse-7-battery";
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
  const applied = await project.run("apply", "--auto-approve");
  expect(applied.code, applied.text).toBe(0);
  await project.declare({
    ...DECLARED,
    services: { ...DECLARED.services, shop: { ...SITE, domain: "shop.acme.example" } },
  });
  const { key, trusted } = newKey();
  project.env.HOSTFORM_APPROVERS = `ana=${trusted}`;
  const from = project.control.requests().length;
  const changes = () =>
    project.control
      .requests()
      .slice(from)
      .filter(({ method }) => method !== "GET");
  return { project, key, changes };
}

describe("a runner that trusts approvers", () => {
  it.each([
    ["apply", "--auto-approve"],
    ["destroy", "--auto-approve"],
    ["watch", "--auto-approve", "--max-runs", "1"],
    ["password", "www.acme.example", "--password-env", "NEW_PASSWORD"],
    ["sso", "www.acme.example"],
    ["webhooks", "listen", "--register", "https://hooks.example/in"],
  ])("refuses %s %s without a mandate, and changes nothing", async (...words) => {
    const { project, changes } = await guarded();
    project.answer = () => "yes";
    const { code, text } = await project.run(...words);
    expect(code, text).not.toBe(0);
    expect(text).toContain("[mandate.required]");
    expect(changes()).toEqual([]);
  });

  it.each([["plan"], ["status"], ["resolve"], ["validate"], ["watch", "--max-runs", "1"]])(
    "reads with %s",
    async (...words) => {
      const { project, changes } = await guarded();
      const { text } = await project.run(...words);
      expect(text).not.toContain("[mandate.required]");
      expect(changes()).toEqual([]);
    },
  );

  it("refuses watch --auto-approve at its start, also without a difference", async () => {
    const { project } = await guarded();
    await project.declare(DECLARED);
    const { code, text } = await project.run("watch", "--auto-approve", "--max-runs", "1");
    expect([code, text]).toEqual([1, expect.stringContaining("`watch --auto-approve` needs a mandate")]);
    expect(text).not.toContain("Watching");
  });

  it("applies the saved plan of a mandate once, prints what is left, and writes the receipt", async () => {
    const { project, key } = await guarded();
    await project.run("plan", "--out", "a.plan");
    const file = (name: string) => path.join(project.dir, name);
    writeFileSync(file("a.mandate"), mandateFor(readFileSync(file("a.plan"), "utf8"), key, project.clock.now()));
    const words = ["apply", "a.plan", "--mandate", "a.mandate"];
    const { code, text } = await project.run(...words, "--receipt", "a.receipt");
    expect(code, text).toBe(0);
    expect(text).toContain("Mandate 0f1e2d3c, use 1. Left: 0 uses");
    const receipt = decodeReceipt(readFileSync(file("a.receipt"), "utf8"), "a.receipt");
    expect(receipt).toMatchObject({ complete: true, orders: [{ address: "hosting_service.shop" }] });
    const again = await project.run(...words);
    expect([again.code, again.text]).toEqual([1, expect.stringContaining("[plan.saved]")]);
  });

  it("prints the use and the remaining part in the JSON of an apply", async () => {
    const { project, key } = await guarded();
    await project.run("plan", "--out", "a.plan");
    const file = (name: string) => path.join(project.dir, name);
    writeFileSync(file("a.mandate"), mandateFor(readFileSync(file("a.plan"), "utf8"), key, project.clock.now()));
    const { out } = await project.run("apply", "a.plan", "--mandate", "a.mandate", "--json");
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.findLast(({ type }) => type === "change_summary").hostform.mandate).toMatchObject({
      id: "0f1e2d3c",
      use: 1,
      left: { uses: 0, orders: 2 },
    });
  });

  it("refuses a receipt without a mandate", async () => {
    const { project } = await guarded();
    expect((await project.run("apply", "--auto-approve", "--receipt", "r")).text).toContain(
      "--receipt requires --mandate",
    );
  });
});
