/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const SERVER = { plan_id: 31, currency: "USD" };

it("a server that is declared, only not targeted, is not taken for leaving", async () => {
  const project = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  await project.apply();
  await project.declare({ project: "x", services: { a: SERVER, b: SERVER } });
  const { text, code } = await project.run("plan", "--target", "hosting_service.b");
  expect(text).not.toContain("no longer declared");
  expect(code, text).toBe(0);
});
