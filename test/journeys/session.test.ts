/** What the CLI did to a sandbox, done again without the CLI: the sandbox answers as it did. */
import { expect, it } from "vitest";
import { replaySession } from "../../src/sandbox/index.ts";
import { startProject } from "../support/project.ts";
import { phaseOfStatus } from "./reading.ts";

const PASSWORD = "correct horse battery";
const DECLARED = {
  project: "acme",
  services: {
    www: {
      plan_id: 11,
      currency: "USD",
      domain: "www.acme.example",
      suspended: false,
      deletion_policy: "suspend",
      password: { env: "WWW_PASSWORD" },
      password_version: 1,
      grants: { "dev@acme.example": { permission: "manage" } },
    },
  },
  webhooks: { hook: { url: "http://127.0.0.1:9/hook", events: ["invoice.paid"] } },
};

/** What a status is and was, in a reported difference. */
const phasesOf = (text: string) => /status is "([^"]+)", not "([^"]+)"/.exec(text)?.slice(1).map(phaseOfStatus);

it("a session recorded from apply, payment, drift, a month and destroy is repeated without a difference", async () => {
  const project = await startProject({
    declare: DECLARED,
    env: { WWW_PASSWORD: PASSWORD },
    sandbox: { record: true, autoPay: false, provisioningSeconds: 60, rateLimit: 60 },
  });
  const { control } = project;
  await project.apply();
  for (const { id, status } of control.list("invoices")) if (status === "unpaid") control.payInvoice(id);
  project.clock.advance(61_000);
  await project.apply();
  control.change("services", 1003, { status: "suspended" });
  await project.apply();
  control.advanceClock({ months: 1 });
  expect((await project.run("invoices")).code).toBe(0);
  // An answer that is lost: the client asks again, or looks.
  control.addFault({ operation: "removeWebhook", phase: "after", drop: true });
  expect((await project.run("destroy", "--auto-approve")).code).toBe(0);

  const session = control.session();
  const text = JSON.stringify(session);
  expect(text).not.toContain(PASSWORD);
  for (const token of Object.values(project.sandbox.tokens)) expect(text).not.toContain(token);
  const hook = project.idOf("webhooks", 201);
  const said = session.steps.map((step) => (step.kind === "control" ? step.name : `${step.method} ${step.path}`));
  expect(said).toEqual(
    expect.arrayContaining([
      "POST /api/v1/services",
      "payInvoice",
      "POST /api/v1/services/1003/password",
      "POST /api/v1/services/1003/unsuspend",
      "advanceClock",
      `DELETE /api/v1/webhooks/${hook}`,
      "POST /api/v1/services/1003/suspend",
    ]),
  );
  expect(await replaySession(text)).toEqual([]);

  // Other rules are noticed, with the step and the field.
  const order = said.indexOf("POST /api/v1/services") + 1;
  const status = project.profile.status === "upper_snake" ? "lower" : "upper_snake";
  const word = status === "lower" ? "pending" : "PENDING_PAYMENT";
  const [other = ""] = await replaySession(text, { profile: { ...project.profile, status } });
  expect(other).toMatch(
    new RegExp(`^Step ${order}, POST /api/v1/services: answer\\.body.*\\.status is "${word}", not "`),
  );
  expect(phasesOf(other)).toEqual(["pending", "pending"]);
  expect(await replaySession(text, { seed: "another" })).toEqual([
    expect.stringMatching(/^Step \d+, POST \/api\/v1\/webhooks: answer\.body\.(data\.)?(signing_)?secret is "whsec_/),
  ]);
  const slower = await replaySession(text, { provisioningSeconds: 120 });
  expect(slower.map(phasesOf)).toContainEqual(["pending", "active"]);
});
