// Updates of Terraform: recorded values, waiting values, and the place of each secret.
import { describe, expect, it } from "vitest";
import { type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import type { Mark } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { planDeclared } from "../../../../../src/fronts/terraform/resource/plan.ts";
import { liveService, remote } from "../../../../support/subjects.ts";
import { type Asked, answering, ask, ORDER, refused } from "./apply-cases.ts";
import { asHeld, codesOf } from "./fake-scope.ts";

const PRIOR = { ...liveService, plan_id: 11, deletion_policy: "prevent" };
const MARK = { host: "here", made: "www.acme.example" };
const FORGET = { ...ORDER, deletion_policy: "forget" };

describe("a change", () => {
  it.each<[string, Asked]>([
    ["although there is no project: nothing is ordered", { session: { project: undefined } }],
    [
      "although another resource has claimed its name",
      { prepare: ({ front, kind }) => void front.claim({ label: "another" }, kind, ORDER.domain, {}) },
    ],
    [
      "although there is an entry of another state under its name",
      {
        objects: [remote(PRIOR)],
        note: { name: ORDER.domain, note: { attributes: PRIOR, place: "another folder" } },
      },
    ],
  ])("is made %s", async (_, asked) => {
    const { answer } = await ask("hosting_service", FORGET, { prior: PRIOR, mark: MARK, ...asked });
    expect(codesOf(answer.diagnostics)).toEqual([]);
    expect(answer.state).toMatchObject({ id: "1001", deletion_policy: "forget" });
  });

  it("of an imported object does not record a create", async () => {
    const { answer } = await ask("hosting_service", FORGET, { prior: PRIOR });
    expect(answer.mark).toStrictEqual({ host: "here" });
  });

  it("that fails after some steps is recorded with the completed steps and its marks", async () => {
    const prior = { ...PRIOR, password_version: 1, timeouts: { update: "1h" } };
    const config = { ...ORDER, password: "long enough", password_version: 2, suspended: true };
    const { answer, sent } = await ask("hosting_service", config, {
      prior,
      mark: MARK,
      answer: answering({ resetPassword: () => ({ password: null }), suspendService: refused }),
    });
    expect(sent).toEqual(["resetPassword", "suspendService"]);
    expect(answer.state).toMatchObject({ password_version: 2, suspended: false, timeouts: prior.timeouts });
    expect(answer.mark).toEqual(MARK);
    expect(codesOf(answer.diagnostics)).toEqual(["error api.server"]);
  });

  it("whose end the status does not show is one error, which names the word, and no wait beside it", async () => {
    const halted = remote({ ...PRIOR, status: "PARKED" }, "unknown");
    const { answer, sent } = await ask(
      "hosting_service",
      { ...ORDER, suspended: true },
      { prior: PRIOR, mark: MARK, objects: [halted], answer: () => ({}) },
    );
    expect(sent).toEqual(["suspendService"]);
    expect(answer.mark).toMatchObject({ ...MARK, waiting: ["suspended"], job: { toward: "suspended" } });
    const errors = answer.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors).toMatchObject([
      { code: "plan.unknown_status", summary: expect.stringMatching(/does not confirm the suspension.*PARKED/) },
    ]);
  });
});

describe("an attribute that waits for the live service", () => {
  const pending = { ...PRIOR, status: "pending", password_version: 1 };

  it.each<[string, JsonObject, JsonObject, Mark, readonly string[] | undefined]>([
    ["is not what is as declared", { password_version: 1 }, {}, {}, undefined],
    ["is what is not done yet", { password_version: 2 }, {}, {}, ["password_version"]],
    [
      "is named once",
      { password_version: 2, suspended: true },
      { suspended: true },
      { waiting: ["suspended"] },
      ["suspended", "password_version"],
    ],
    [
      "is named once when it is changed again",
      { password_version: 3 },
      { password_version: 2 },
      { waiting: ["password_version"] },
      ["password_version"],
    ],
    ["is not what is not declared any more", {}, { password_version: 2 }, { waiting: ["password_version"] }, undefined],
  ])("%s", async (_, config, prior, mark, waiting) => {
    const { answer, sent } = await ask(
      "hosting_service",
      { ...FORGET, ...config },
      {
        prior: { ...pending, ...prior },
        mark: { ...MARK, ...mark },
        // An attribute that only a declaration sets is planned as null without a declaration.
        planned: config.password_version === undefined ? { password_version: null } : {},
      },
    );
    expect(sent).toEqual([]);
    expect(answer.mark.waiting).toEqual(waiting);
    expect(codesOf(answer.diagnostics)).toEqual(waiting === undefined ? [] : ["warning apply.waiting"]);
  });
});

describe("a password", () => {
  const VPS = { ...PRIOR, product_type: "vps", password_version: 1 };
  const change = { ...ORDER, password_version: 2 };
  const generated: ValueObject = { generated_password: UNKNOWN, generated_password_fingerprint: UNKNOWN };

  it("that the server generates and nobody can read is an error, and the next plan does not reset it", async () => {
    const { answer, kind, front } = await ask("hosting_service", change, {
      prior: VPS,
      mark: MARK,
      planned: generated,
      answer: () => ({ password: null, names: "data.login" }),
    });
    expect(codesOf(answer.diagnostics)).toEqual(["error secret.lost"]);
    expect(answer.state).toMatchObject({ password_version: 2, generated_password: null });
    expect(answer.mark).toEqual(MARK);
    const next = await planDeclared(
      kind,
      { prior: answer.state, config: asHeld(kind, change), mark: answer.mark },
      front,
    );
    expect(next.planned).toMatchObject({ password_version: 2, generated_password: null });
    expect(codesOf(next.diagnostics)).toEqual(["warning secret.lost"]);
  });

  it("that the server generates is in the entries, beside the one that Terraform had recorded", async () => {
    const { entries } = await ask("hosting_service", change, {
      prior: { ...VPS, generated_password: "old" },
      mark: MARK,
      planned: generated,
      answer: () => ({ password: "new" }),
    });
    expect(await entries.get("hosting_service", ORDER.domain)).toMatchObject({
      attributes: { generated_password: "new", password_version: 2 },
      base: { generated_password: "old", password_version: 1 },
      place: "this folder",
      owner: "this process",
    });
  });
});
