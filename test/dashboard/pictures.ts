/** The pictures of docs/dashboard.md: taken again by `UPDATE_DOCS=1 npm test -- test/dashboard`. */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Browser } from "puppeteer-core";
import { openPage } from "../support/browser.ts";
import { ask, START, site } from "./site.ts";

const FOLDER = path.resolve(import.meta.dirname, "../../docs/images");

/** An agency in the middle of its work: the page, its picture, and whether it is night. */
export async function takePictures(browser: Browser): Promise<void> {
  let now = START;
  const sandbox = await site({ clock: { now: () => now }, provisioningSeconds: 90 });
  const { control } = sandbox;
  let received = 0;
  const receiver = createServer((request, answer) => {
    request.resume();
    received += 1;
    answer.writeHead(received % 5 === 4 ? 503 : 200).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hooks/hosting`;
  control.create("webhooks", {
    url,
    events: ["service.provisioned", "invoice.paid", "invoice.created", "service.suspended"],
  });
  control.seedServices({ count: 5, plan_id: 12, domain_prefix: "client" });
  const wait = async (seconds: number): Promise<void> => {
    now += seconds * 1000;
    await control.settled();
  };
  for (let pages = 0; pages < 9; pages += 1) {
    await ask(sandbox, "GET", pages % 3 === 0 ? "/plans?per_page=100" : "/services?per_page=100");
    await wait(1);
  }
  for (const [at, domain] of ["www.acme.example", "shop.acme.example", "blog.acme.example"].entries()) {
    const order = { plan_id: [11, 21, 12][at], currency: "USD", domain };
    await ask(sandbox, "POST", "/services", order, `hf1-acme-${domain}`);
    await wait(4);
  }
  await ask(sandbox, "GET", "/services/9999");
  for (let polls = 0; polls < 8; polls += 1) {
    await wait(2);
    for (let twice = 0; twice < 1 + (polls % 3); twice += 1) await ask(sandbox, "GET", "/services?per_page=100");
  }
  const third = control.list("invoices").at(-1)?.id ?? 0;
  control.payInvoice(third);
  await wait(2);
  await ask(sandbox, "GET", "/invoices?per_page=100");
  await mkdir(FOLDER, { recursive: true });
  const wanted = [
    { name: "dashboard-overview", at: "/", dark: false, width: 1100, height: 900 },
    {
      name: "dashboard-service",
      at: `/dashboard/services/${control.list("services").at(-1)?.id}`,
      dark: true,
      width: 1100,
      height: 650,
    },
    { name: "dashboard-narrow", at: "/dashboard/webhooks", dark: false, width: 390, height: 760 },
  ];
  for (const { name, at, dark, width, height } of wanted) {
    const { page } = await openPage(browser, { width, height, dark });
    await page.goto(sandbox.controlUrl + at);
    await page.screenshot({ path: path.join(FOLDER, `${name}.png`) as `${string}.png` });
    await page.close();
  }
  receiver.close();
}
