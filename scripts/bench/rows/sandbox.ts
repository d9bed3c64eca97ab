// How long the sandbox takes for months of an account, with every event delivered over HTTP.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EVENTS, type Sandbox, startSandbox } from "../../../src/sandbox/index.ts";
import { calibration, median } from "../process.ts";
import type { Bench, Figure, Row } from "../row.ts";

const SERVICES = 100;
const RUNS = 3;

/** Pays every open invoice of the agency, except those of the third of services that stop paying. */
function pay({ control }: Sandbox): void {
  for (const { id, order_id, status, customer_id } of control.list("invoices")) {
    if (customer_id === 1 && status === "unpaid" && order_id % 3 !== 0) control.payInvoice(id);
  }
}

const WORK: Readonly<Record<string, (sandbox: Sandbox) => Promise<void> | void>> = {
  "a month in one step, every event delivered": async ({ control }) => {
    control.advanceClock({ months: 1 });
    await control.settled();
  },
  "a year day by day, two thirds pay": async (sandbox) => {
    for (let day = 0; day < 365; day += 1) {
      sandbox.control.advanceClock({ days: 1 });
      pay(sandbox);
    }
    await sandbox.control.settled();
  },
  "snapshot and restore": ({ control }) => control.restore(control.snapshot()),
};

async function measure(bench: Bench): Promise<Figure[]> {
  let received = 0;
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => {
      received += 1;
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const timed = async (work: (typeof WORK)[string]): Promise<number> => {
    const sandbox = await startSandbox({ clock: "2026-11-21T10:00:00Z" });
    sandbox.control.create("webhooks", { url, events: [...EVENTS] });
    sandbox.control.seedServices({ count: SERVICES });
    const begun = performance.now();
    await work(sandbox);
    const took = performance.now() - begun;
    await sandbox.close();
    return took;
  };
  try {
    const figures: Figure[] = [];
    for (const [what, work] of Object.entries(WORK)) {
      const base = await calibration(bench)();
      const times: number[] = [];
      received = 0;
      for (let run = 0; run < RUNS; run += 1) times.push(await timed(work));
      const value = median(times);
      const note = received > 0 ? { note: `${received / RUNS} events` } : {};
      figures.push({ what, value, unit: "ms", ratio: { value: value / base.wallMs, to: "calibration" }, ...note });
    }
    return figures;
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}

export const sandboxRows: readonly Row[] = [
  { name: "sandbox", about: `the sandbox, ${SERVICES} services with a webhook for every event`, measure },
];
