/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { HttpBackend } from "../../support/http-backend.ts";
import { startProject } from "../../support/project.ts";

it("an empty 200 in place of the state (once) does not let a new state of another lineage be written over it", async () => {
  const backend = await HttpBackend.start({ flavour: "plain" });
  const hook = (name: string) => ({ url: `https://${name}.example`, events: ["invoice.paid"] });
  const p = await startProject({
    declare: { project: "x", backend: { http: backend.settings }, webhooks: { a: hook("a") } },
  });
  await p.apply();
  const { lineage } = JSON.parse(backend.state ?? "{}");
  await p.declare({ project: "x", backend: { http: backend.settings }, webhooks: { a: hook("a"), b: hook("b") } });
  let first = true;
  backend.fault = (line) => {
    if (!line.startsWith("GET") || !first) return undefined;
    first = false;
    return { status: 200, body: "" };
  };
  await p.run("apply", "--auto-approve", "--target", "hosting_webhook.b");
  const state = JSON.parse(backend.state ?? "{}");
  expect(state.lineage).toBe(lineage);
  expect(JSON.stringify(state)).toContain("https://a.example");
});
