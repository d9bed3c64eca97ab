// A host that keeps listing objects that ended in the dashboard, and a host that disables webhooks.
import { expect, it } from "vitest";
import { START } from "../support/clock.ts";
import { startProject } from "../support/project.ts";

const DECLARED = {
  project: "acme",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": "manage" } },
  },
  webhooks: { billing: { url: "https://hooks.acme.example/", events: ["invoice.paid"] } },
};
const past = new Date(START - 3_600_000).toISOString();
const flat = (text: string) => text.replace(/\s+/g, " ");

/** An applied project whose host keeps rows, with a webhook and a grant that ended in the dashboard. */
async function ended(mark: Readonly<Record<string, string | boolean>>) {
  const kinds = { webhook: { ended: mark }, grant: { ended: mark } };
  const project = await startProject({ declare: DECLARED, sandbox: { rendering: { kinds } } });
  expect((await project.run("apply", "--auto-approve")).code).toBe(0);
  project.clock.advance(300_000);
  const { control } = project.sandbox;
  for (const { id } of control.list("webhooks")) control.remove("webhooks", id);
  for (const { id } of control.list("grants")) control.remove("grants", id);
  return { project, control };
}

it.each<Readonly<Record<string, string | boolean>>>([{ deleted_at: past }])(
  "what ended in the dashboard and is listed with %j is created again, and destroyed at the end",
  async (mark) => {
    const { project, control } = await ended(mark);
    const plan = await project.run("plan", "--detailed-exitcode");
    expect(plan.code, plan.text).toBe(2);
    expect(flat(plan.out)).toMatch(
      /webhook \S+ (?:was deleted on 2026-11-21|is "revoked"|is listed with is_deleted true)/,
    );
    const applied = await project.run("apply", "--auto-approve");
    expect(applied.code, applied.text).toBe(0);
    expect([control.list("webhooks").length, control.list("grants").length]).toEqual([1, 1]);
    await project.expectNoChanges();
    for (const { id } of control.list("webhooks")) control.remove("webhooks", id);
    const destroyed = await project.run("destroy", "--auto-approve");
    expect(destroyed.code, destroyed.text).toBe(0);
    expect([control.list("webhooks").length, control.list("grants").length]).toEqual([0, 0]);
  },
);

it("what ended in the dashboard and is listed as before is destroyed, with a warning", async () => {
  const { project } = await ended({});
  const destroyed = await project.run("destroy", "--auto-approve");
  expect(destroyed.code, destroyed.text).toBe(0);
  expect(flat(destroyed.text)).toMatch(/webhook \S+ is treated as deleted: the API lists it, but returns 404 for it/);
  expect(flat(destroyed.text)).toMatch(/grant \S+ is treated as deleted: the API lists it, but returns 404 for it/);
  expect([...(await project.state()).resources.keys()]).toEqual(["hosting_service.www"]);
  project.clock.advance(300_000);
  const planned = await project.run("plan");
  expect(planned.text, "the row blocks a create in a later run").toContain("webhook 201 [plan.exists]");
});

it("an import of a row that has ended never advises to forget what is recorded", async () => {
  const { project } = await ended({ deleted_at: past });
  const id = String((await project.state()).resources.get("hosting_webhook.billing")?.attributes.id);
  const same = await project.run("import", "hosting_webhook.billing", id);
  await project.run("apply", "--auto-approve");
  const other = await project.run("import", "hosting_webhook.billing", id);
  for (const { code, text } of [same, other]) {
    expect(code).toBe(1);
    expect(flat(text)).toContain(`Nothing was imported: webhook ${id} was deleted on 2026-11-21`);
    expect(text).not.toMatch(/state rm|No action is needed/);
  }
  const live = String((await project.state()).resources.get("hosting_webhook.billing")?.attributes.id);
  expect((await project.run("import", "hosting_webhook.billing", live)).text).toContain("No action is needed.");
});

it.each([
  ["webhooks", { deleted_at: past }],
  ["grants", { is_deleted: true }],
] as const)(
  "%s lists a row with %j as ended, in the table and in JSON, and live rows without a note",
  async (name, mark) => {
    const { project } = await ended(mark);
    const words = name === "grants" ? [name, "hosting_service.www"] : [name];
    const listed = await project.run(...words);
    expect(listed.out).toMatch(/ NOTE\n/);
    expect(listed.out).toMatch(/ended: (?:was deleted on 2026-11-21|is listed with is_deleted true)\n/);
    await project.run("apply", "--auto-approve");
    const rows = JSON.parse((await project.run(...words, "--json")).out) as { life?: string }[];
    expect(rows.map(({ life }) => life?.slice(0, 6)).sort()).toEqual(["ended:", undefined]);
  },
);

it("a webhook that the host has switched off stays as it is, and the plan says what to do", async () => {
  const kinds = { webhook: { more: { is_active: false } } };
  const project = await startProject({ declare: DECLARED, sandbox: { rendering: { kinds } } });
  expect((await project.run("apply", "--auto-approve")).code).toBe(0);
  project.clock.advance(300_000);
  const plan = await project.run("plan", "--detailed-exitcode");
  expect(plan.code, plan.text).toBe(0);
  expect(flat(plan.out)).toMatch(
    /Needs attention: ! hosting_webhook\.billing: the host has disabled webhook \S+ \(https:\/\/hooks\.acme\.example\/\): is_active is false/,
  );
  expect(plan.out).toContain("1 object is disabled.");
  expect((await project.run("webhooks")).out).toContain("disabled: is_active is false");
  await project.run("state", "rm", "hosting_webhook.billing");
  await project.declare({ project: "acme" });
  expect(flat((await project.run("adopt", "--dry-run")).text)).toMatch(
    /webhook \S+ is disabled: is_active is false\. The adoption/,
  );
});
