/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { type Project, startProject } from "../../support/project.ts";

const SERVER = { plan_id: 31, currency: "USD" };
const mine = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);

it("an order that was recognised as that of a service that is gone is not placed by a plain apply once the API forgets the key", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  await p.apply();
  await p.loseState();
  p.control.change("services", Number(mine(p)[0]?.id), { status: "terminated" });
  const ran = await p.run("apply", "--auto-approve");
  expect(ran.text).toContain("--reorder");
  // The same nightly job runs two days later, without --reorder.
  p.clock.advance(2 * 86_400_000);
  p.control.advanceClock({ days: 2 });
  p.sent();
  await p.run("apply", "--auto-approve");
  expect(p.changesSent()).toEqual([]);
  expect(mine(p)).toHaveLength(1);
});
