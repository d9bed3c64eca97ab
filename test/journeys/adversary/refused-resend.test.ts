/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };

it("a re-sent order that is refused names the way out: correcting the declaration, as it advises, changes nothing", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SITE } } });
  p.control.addFault({ method: "POST", path: "/services", phase: "before", drop: true, times: 99 });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  p.control.addFault({
    method: "POST",
    path: "/services",
    phase: "before",
    status: 422,
    body: { message: "no", errors: { plan_id: ["The selected plan id is invalid."] } },
    times: 99,
  });
  await p.declare({ project: "x", services: { a: { ...SITE, plan_id: 12 } } });
  p.clock.advance(3_600_000);
  expect((await p.run("apply", "--auto-approve")).text).toContain("resolve");
  expect((await p.run("resolve")).text).toContain("--absent");
});
