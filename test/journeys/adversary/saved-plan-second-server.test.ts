/** Found by a review that looked for ways to a second order, a lost secret or a touched stranger. */
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
