/** hostform never deletes another client's webhook to replace its own lost secret. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid" as const] };
const declare = { project: "x", webhooks: { billing: HOOK } };

it("a webhook made long after our lost request is not ours and is not deleted", async () => {
  const project = await startProject({ declare });
  project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", drop: true, times: 2 });
  await project.run("apply", "--auto-approve");
  project.clock.advance(2 * 86_400_000);
  const theirs = project.control.create("webhooks", HOOK);
  await project.run("apply", "--auto-approve");
  expect(project.control.list("webhooks").map(({ id }) => id)).toContain(theirs.id);
});

it("a webhook made by somebody while the approval was awaited is neither doubled nor deleted", async () => {
  for (const lost of [false, true]) {
    const project = await startProject({ declare });
    if (lost) project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", drop: true });
    project.answer = () => {
      project.clock.advance(120_000);
      project.control.create("webhooks", HOOK);
      return "yes";
    };
    const ran = await project.run("apply");
    expect(ran.code, ran.text).toBe(1);
    expect(project.control.list("webhooks").map(({ id }) => id)).toEqual([201]);
  }
});
