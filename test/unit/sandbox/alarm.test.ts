import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../support/sandbox.ts";

test("the system's clock makes due events happen and sends them, without any request", async () => {
  const receiver = createServer((_request, response) => void response.end());
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const sandbox = await startSandbox({ provisioningSeconds: 1 });
  onTestFinished(async () => {
    await sandbox.close();
    receiver.close();
  });
  const { control } = sandbox;
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  control.create("webhooks", { url, events: ["service.provisioned"] });
  const headers = { authorization: `Bearer ${sandbox.tokens.agency}`, "idempotency-key": "k" };
  const body = JSON.stringify({ plan_id: 11, currency: "USD", domain: "acme.example" });
  const ordered = await fetch(`${sandbox.url}/api/v1/services`, { method: "POST", headers, body });
  const delivered = once(receiver, "request");
  control.payInvoice(JSON.parse(await ordered.text()).data.invoice.id);
  await delivered;
  expect(control.list("services").at(-1)).toMatchObject({ status: "active", provisioning_status: "provisioned" });
});
