/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { type Project, startProject } from "../../support/project.ts";
import { itemsOf } from "../reading.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const SERVER = { plan_id: 31, currency: "USD" };
const orders = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);
async function call(p: Project, method: string, path: string, body?: object, key = "by-hand") {
  const headers = {
    authorization: `Bearer ${p.sandbox.tokens.agency}`,
    "content-type": "application/json",
    accept: "application/json",
    "idempotency-key": key,
  };
  return (
    await fetch(`${p.sandbox.url}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  ).json() as Promise<object>;
}

it("one pending sibling does not explain away more than one unknown server", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  p.control.addFault({ method: "POST", path: "/services", phase: "before", drop: true, times: 99 });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  for (const key of ["one", "two"]) await call(p, "POST", "/services", SERVER, key);
  await p.declare({ project: "x", services: { a: SERVER, b: SERVER } });
  p.sent();
  const ran = await p.run("apply", "--auto-approve");
  // hostform may send a again with its own key. It cannot send b, because one of the two services may be b's.
  expect(ran.text).toContain("[plan.lookalike]");
  expect(p.changesSent().length).toBeLessThan(2);
});

it("lost state, key forgotten, the host shows the plan under a name that is in no catalogue: the server is not ordered again", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  await p.apply();
  await p.loseState();
  p.control.advanceClock({ days: 2 });
  const body = await call(p, "GET", "/services");
  for (const one of itemsOf(body)) one.plan = "VPS One (2025)";
  p.control.addFault({ method: "GET", path: "/services", phase: "after", status: 200, body, times: 99 });
  await p.run("apply", "--auto-approve");
  expect(orders(p)).toHaveLength(1);
});

it("a host that shows the domain of a service only when it is provisioned: a lost order is not sent again when the key is old", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SITE } } });
  p.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 99 });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  p.clock.advance(2 * 86_400_000);
  p.control.advanceClock({ days: 2 });
  const body = await call(p, "GET", "/services");
  for (const one of itemsOf(body)) Object.assign(one, { domain: null, status: "pending" });
  p.control.addFault({ method: "GET", path: "/services", phase: "after", status: 200, body, times: 99 });
  await p.run("apply", "--auto-approve");
  expect(orders(p)).toHaveLength(1);
});

it("a clock that steps back does not take away the pause before a lost create is sent again", async () => {
  const p = await startProject({
    declare: { project: "x", webhooks: { a: { url: "https://h.example", events: ["invoice.paid"] } } },
  });
  p.onDelay = () => p.clock.advance(-1500);
  p.control.addFault({ method: "POST", path: "/webhooks", phase: "before", drop: true, delayMs: 1 });
  const before = p.clock.slept;
  p.sent();
  await p.apply();
  expect(p.changesSent()).toEqual(["POST /webhooks", "POST /webhooks"]);
  expect(p.clock.slept - before).toBeGreaterThanOrEqual(80_000);
});

it("a replayed answer without created_at, of a service that is gone, is not recorded as new", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SERVER } } });
  const body = {
    data: { service: { id: 4711, plan: "VPS 1", status: "active" }, invoice: { id: 1, total: 100, currency: "USD" } },
  };
  p.control.addFault({ method: "POST", path: "/services", phase: "before", status: 201, body });
  const ran = await p.run("apply", "--auto-approve");
  expect(ran.code, ran.text).toBe(1);
});
