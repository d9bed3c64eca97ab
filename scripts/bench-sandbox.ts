// `npm run bench:sandbox`: how long the sandbox takes for a month, for a year of 100 services with every event delivered, for a
// snapshot. Figures, not a test; that the events are the right ones is tested in test/unit/sandbox/billing.test.ts.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EVENTS, type Sandbox, startSandbox } from "../src/sandbox/index.ts";

const SERVICES = 100;
const RUNS = 5;

let received = 0;
const receiver = createServer((request, response) => {
  request.resume().on("end", () => {
    received += 1;
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

async function started(): Promise<Sandbox> {
  const sandbox = await startSandbox({ clock: "2026-11-21T10:00:00Z" });
  sandbox.control.create("webhooks", { url, events: [...EVENTS] });
  sandbox.control.seedServices({ count: SERVICES });
  return sandbox;
}

/** Pays every open invoice of the agency, except those of the third of services that stop paying. */
function pay({ control }: Sandbox): void {
  for (const { id, order_id, status, customer_id } of control.list("invoices")) {
    if (customer_id === 1 && status === "unpaid" && order_id % 3 !== 0) control.payInvoice(id);
  }
}

async function measure(what: string, work: (sandbox: Sandbox) => Promise<void> | void): Promise<void> {
  const times: number[] = [];
  received = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const sandbox = await started();
    const begun = performance.now();
    await work(sandbox);
    times.push(performance.now() - begun);
    await sandbox.close();
  }
  const [least = 0, most = 0] = [Math.min(...times), Math.max(...times)].map(Math.round);
  console.log(`${what.padEnd(62)} ${least} to ${most} ms, ${received / RUNS} events`);
}

await measure("a month in one step", ({ control }) => {
  control.advanceClock({ months: 1 });
});
await measure("the same, every event delivered", async ({ control }) => {
  control.advanceClock({ months: 1 });
  await control.settled();
});
await measure("a year day by day, two thirds pay, every event delivered", async (sandbox) => {
  for (let day = 0; day < 365; day += 1) {
    sandbox.control.advanceClock({ days: 1 });
    pay(sandbox);
  }
  await sandbox.control.settled();
});
await measure("snapshot and restore", ({ control }) => control.restore(control.snapshot()));
receiver.close();
