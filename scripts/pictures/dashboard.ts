// The dashboard of a sandbox in the middle of an agency's work. The same each time, but for the port.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startSandbox } from "../../src/sandbox/index.ts";
import type { Picture } from "./pictures.ts";

const START = Date.parse("2026-11-21T10:00:00Z");

/** The pages with what the browser loads for them. The sandbox runs until `close`. */
export async function dashboardPictures(): Promise<{ pictures: Picture[]; close(): Promise<void> }> {
  let now = START;
  const sandbox = await startSandbox({ clock: { now: () => now }, provisioningSeconds: 90 });
  const { control } = sandbox;
  const receiver = createServer(async (request, answer) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    answer.writeHead(body.includes("invoice.paid") ? 503 : 200).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const ask = async (method: string, path: string, body?: object, key?: string) => {
    const answer = await fetch(`${sandbox.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${sandbox.tokens.agency}`,
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
  };
  const wait = async (seconds: number) => {
    now += seconds * 1000;
    await control.settled();
  };
  control.create("webhooks", {
    url: `http://127.0.0.1:${port}/hooks/hosting`,
    events: ["service.provisioned", "invoice.paid", "invoice.created", "service.suspended"],
  });
  control.seedServices({ count: 5, plan_id: 12, domain_prefix: "client" });
  for (let pages = 0; pages < 9; pages += 1) {
    await ask("GET", pages % 3 === 0 ? "/plans?per_page=100" : "/services?per_page=100");
    await wait(1);
  }
  for (const [at, domain] of ["www.acme.example", "shop.acme.example", "blog.acme.example"].entries()) {
    await ask("POST", "/services", { plan_id: [11, 21, 12][at], currency: "USD", domain }, `hf1-acme-${domain}`);
    await wait(4);
  }
  await ask("GET", "/services/9999");
  for (let polls = 0; polls < 8; polls += 1) {
    await wait(2);
    for (let twice = 0; twice < 1 + (polls % 3); twice += 1) await ask("GET", "/services?per_page=100");
  }
  control.payInvoice(control.list("invoices").at(-1)?.id ?? 0);
  await wait(2);
  await ask("GET", "/invoices?per_page=100");
  const service = control.list("services").at(-1)?.id;
  const wanted = [
    { name: "dashboard-overview.webp", path: "/", dark: false, width: 1100, height: 800 },
    { name: "dashboard-service.webp", path: `/dashboard/services/${service}`, dark: true, width: 1100, height: 650 },
    { name: "dashboard-narrow.webp", path: "/dashboard/webhooks", dark: false, width: 390, height: 760 },
  ];
  const textOf = async (path: string) => {
    const answer = await fetch(`${sandbox.controlUrl}${path}`, { headers: { accept: "text/html" } });
    return (await answer.text()).replaceAll(String(port), "4000");
  };
  const style = await textOf("/dashboard/style.css");
  const pictures = wanted.map(async ({ path, ...shape }) => ({
    ...shape,
    url: `${sandbox.controlUrl}${path}`,
    source: `${await textOf(path)}${style}`,
  }));
  return {
    pictures: await Promise.all(pictures),
    close: async () => {
      receiver.close();
      await sandbox.close();
    },
  };
}
