/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const SERVER = { plan_id: 31, currency: "USD" };

it("a saved plan that orders a second server of a plan can be applied", async () => {
  const project = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  await project.apply();
  await project.declare({ project: "x", services: { a: SERVER, b: SERVER } });
  expect((await project.run("plan", "--out", "p")).code).toBe(0);
  const ran = await project.run("apply", "p");
  expect(ran.code, ran.text).toBe(0);
});
