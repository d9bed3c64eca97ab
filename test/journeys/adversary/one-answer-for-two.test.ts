/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const SERVER = { plan_id: 31, currency: "USD" };

it("two orders side by side that are answered with one service are not both recorded as it", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  p.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 99 });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  // The pending order is renamed, and its old name is given to a new server.
  await p.run("state", "mv", "hosting_service.a", "hosting_service.b");
  await p.declare({ project: "x", services: { a: SERVER, b: SERVER } });
  const ran = await p.run("apply", "--auto-approve");
  const id = async (name: string) => (await p.recorded(`hosting_service.${name}`))?.attributes.id;
  expect(ran.code, ran.text).toBe(1);
  expect(await id("a")).not.toBe(await id("b"));
});
