/** An agent applies over MCP, only with the mandate of a person, on a sandbox. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { signMandate } from "../../src/project/mandate/document.ts";
import { fillAgency } from "../support/agency.ts";
import { temporaryFolder } from "../support/folder.ts";
import { mandateOf, newKey } from "../support/mandates.ts";
import {
  type Called,
  call,
  httpServer,
  type Place,
  runProgram,
  startPlace,
  stdioClient,
} from "../support/mcp-client.ts";

const service = (domain: string, more: object = {}) => ({ plan_id: 11, currency: "USD", domain, ...more });
const one = { project: "acme", services: { www: service("www.acme.example") } };

const { key, pem, trusted } = newKey();

/** A place whose runner trusts the approver. */
async function approvedPlace(...given: Parameters<typeof startPlace>): Promise<Place> {
  const place = await startPlace(...given);
  place.env.HOSTFORM_APPROVERS = `nino=${trusted}`;
  return place;
}

/** Signs a mandate for the plan, as the approver does. */
function signed({ data }: Called, over: object = {}): string {
  const { origin } = JSON.parse(readFileSync(data.path, "utf8"));
  const { lineage, serial, identities } = origin;
  const [issued, expires] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString()) as [string, string];
  return signMandate(
    mandateOf({
      id: "flow",
      accounts: identities,
      plan: { digest: data.digest, lineage, serial },
      ...{
        kinds: null,
        max_orders: null,
        max_spend: null,
        max_removals: null,
        targets: [],
        no_offline: false,
        uses: 1,
      },
      ...{ issued, expires, ...over },
    }),
    key,
  );
}

const domainsOf = ({ sandbox }: Place) => sandbox.control.list("services").map(({ domain }) => domain);
const codesOf = ({ data }: Called) => data.diagnostics.map((each: { code: string }) => each.code);

const newIn = (place: Place) => domainsOf(place).filter((domain) => domain?.endsWith(".acme.example"));

/** A place with two orders. The host needs three seconds for a response to an order. */
async function leavingPlace(): Promise<Place> {
  const place = await approvedPlace({ ...one, services: { ...one.services, shop: service("shop.acme.example") } });
  place.sandbox.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 3_000, times: 9 });
  return place;
}

/** Checks that the state has the order that was in progress, and that the other order was not sent. */
async function expectOneOrder(place: Place): Promise<void> {
  // The plan gets the lock of the state after the end of the apply.
  const { out } = await runProgram(place, ["plan", "--lock", "--lock-timeout", "40s", "--json"]);
  const { resource_changes } = JSON.parse(out) as { resource_changes: { change: { actions: string[] } }[] };
  expect(resource_changes.map(({ change }) => change.actions).sort()).toEqual([["create"], ["no-op"]]);
  expect(newIn(place)).toHaveLength(1);
}

describe("an agent with a mandate", { timeout: 120_000 }, () => {
  it("adopts, proposes two sites, rehearses, is refused without a mandate, applies with one, and is refused the second time", async () => {
    const place = await approvedPlace({ project: "acme" });
    const keyFile = path.join(temporaryFolder(), "approver.pem");
    writeFileSync(keyFile, pem, { mode: 0o600 });
    fillAgency(place.sandbox.control, { services: 2, webhooks: 1, accounts: 1 });
    expect(await runProgram(place, ["adopt", "--auto-approve"])).toMatchObject({ code: 0 });
    const before = place.sandbox.control.list("services").length;
    const client = await stdioClient(place);
    expect((await call(client, "plan")).data).toMatchObject({ digest: null, applicable: true, effects: [] });

    const services = { shop: service("shop.acme.example"), blog: service("blog.acme.example") };
    writeFileSync(path.join(place.dir, "new.hosting.yaml"), JSON.stringify({ services }));
    expect((await call(client, "validate")).data).toMatchObject({ valid: true });
    const plan = await call(client, "plan");
    expect(plan.data.effects).toMatchObject([{ kind: "order" }, { kind: "order" }]);

    const input = { plan: plan.data.digest };
    const rehearsed = await call(client, "rehearse", { ...input, months: 2, unpaid: "open" });
    expect(rehearsed).toMatchObject({ failed: false, data: { passed: true, months: 2, orders: [{}, {}] } });
    expect(rehearsed.data.markdown).toContain("shop.acme.example");
    expect(codesOf(await call(client, "apply", input))).toEqual(["mcp.mandate"]);
    expect(codesOf(await call(client, "apply", { ...input, mandate: "no mandate" }))).toEqual(["mandate.file"]);
    const signing = { HOSTFORM_MANDATE_KEY_FILE: keyFile };
    const person = { ...place, env: { ...place.env, ...signing } };
    const { out: mandate, err } = await runProgram(person, ["mandate", "create", plan.data.path]);
    expect(err).toContain("Orders: 2 services, list price 10.00 USD, billed 9.00 USD");
    const [, id = ""] = /^id: "([\w-]+)"$/m.exec(mandate) ?? [];
    const forged = mandate.replace(
      id,
      id.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    );
    expect(codesOf(await call(client, "apply", { ...input, mandate: forged }))).toEqual(["mandate.signature"]);
    expect(place.sandbox.control.list("services").length).toBe(before);

    let progress = 0;
    const applied = await call(client, "apply", { ...input, mandate: mandate.trimEnd() }, () => {
      progress += 1;
    });
    expect(applied).toMatchObject({ failed: false, data: { complete: true, pending: [] } });
    expect(applied.data.receipt).toMatchObject({ mandate: id, use: 1, complete: true });
    expect(progress).toBeGreaterThan(0);
    expect(domainsOf(place)).toEqual(expect.arrayContaining(["shop.acme.example", "blog.acme.example"]));

    const again = await call(client, "apply", { ...input, mandate });
    expect(again.failed).toBe(true);
    expect(place.sandbox.control.list("services").length).toBe(before + 2);
    expect((await call(client, "plan")).data).toMatchObject({ digest: null, effects: [] });
    const { contents } = await client.readResource({ uri: "hostform://latest/apply" });
    expect(JSON.parse((contents[0] as { text: string }).text).data).toEqual(applied.data);
  });

  it("is refused for a mandate of another plan, an edited plan, and a mandate that does not allow the orders", async () => {
    const place = await approvedPlace(one);
    const client = await stdioClient(place);
    const first = await call(client, "plan");
    const second = await call(client, "plan");
    expect(second.data.digest).not.toBe(first.data.digest);
    const other = await call(client, "apply", { plan: first.data.digest, mandate: signed(second) });
    expect(other.data.diagnostics.map(({ fix }: { fix: string }) => fix).join()).toContain(second.data.digest);
    const apply = async (plan: Called, mandate: string) =>
      codesOf(await call(client, "apply", { plan: plan.data.digest, mandate }));
    expect(await apply(first, signed(second))).not.toEqual([]);
    expect(await apply(second, signed(second, { max_orders: 0 }))).not.toEqual([]);
    expect(await apply(second, signed(second, { expires: new Date(Date.now() - 1000).toISOString() }))).not.toEqual([]);
    const mandate = signed(first);
    writeFileSync(first.data.path, readFileSync(first.data.path, "utf8").replace("www.acme", "xww.acme"));
    expect(await apply(first, mandate)).toEqual(["plan.saved"]);
    writeFileSync(first.data.path, readFileSync(second.data.path));
    expect(await apply(first, signed(second))).toEqual(["mcp.plan"]);
    expect(domainsOf(place)).not.toContain("www.acme.example");
    expect(await apply(second, signed(second))).toEqual([]);
    expect(domainsOf(place)).toContain("www.acme.example");
  });

  it("is refused if the server trusts no approver", async () => {
    const place = await startPlace(one);
    const client = await stdioClient(place);
    const plan = await call(client, "plan");
    const result = await call(client, "apply", { plan: plan.data.digest, mandate: signed(plan) });
    expect(codesOf(result)).toEqual(["mcp.mandate"]);
    expect(domainsOf(place)).not.toContain("www.acme.example");
  });

  it("runs one apply at a time, also for two clients over HTTP", async () => {
    const place = await approvedPlace(one, { jobSeconds: 3, provisioningSeconds: 3 });
    const server = await httpServer(place);
    const [a, b] = [await server.client(), await server.client()];
    const plan = await call(a, "plan");
    const input = { plan: plan.data.digest, mandate: signed(plan) };
    const results = await Promise.all([call(a, "apply", input), call(b, "apply", input)]);
    expect(results.map(({ failed }) => failed).sort()).toEqual([false, true]);
    expect(results.filter(({ failed }) => failed).map(codesOf)).toEqual([["mcp.busy"]]);
    expect(domainsOf(place).filter((domain) => domain === "www.acme.example")).toHaveLength(1);
  });

  it.each(["the standard streams", "HTTP"])(
    "that leaves during an apply over %s leaves one order in the state",
    async (way) => {
      const place = await leavingPlace();
      const server = way === "HTTP" ? await httpServer(place) : undefined;
      const client = server === undefined ? await stdioClient(place) : await server.client();
      const plan = await call(client, "plan");
      const input = { plan: plan.data.digest, mandate: signed(plan) };
      const running = call(client, "apply", input).catch(() => "left");
      await expect.poll(() => newIn(place), { timeout: 30_000, interval: 20 }).toHaveLength(1);
      await client.close();
      expect(await running).toBe("left");
      await expectOneOrder(place);
      if (server === undefined) return;
      // The result is not lost: the next client reads it.
      const { contents } = await (await server.client()).readResource({ uri: "hostform://latest/apply" });
      const { data } = JSON.parse((contents[0] as { text: string }).text);
      expect(data.receipt).toMatchObject({ mandate: "flow", complete: false, orders: [{ id: expect.any(String) }] });
    },
  );

  it("loses its connection at Ctrl-C of the server, and the apply ends in order", async () => {
    const place = await leavingPlace();
    const server = await httpServer(place);
    const client = await server.client();
    const plan = await call(client, "plan");
    const running = call(client, "apply", { plan: plan.data.digest, mandate: signed(plan) }).catch(() => "left");
    await expect.poll(() => newIn(place), { timeout: 30_000, interval: 20 }).toHaveLength(1);
    server.child.kill("SIGINT");
    const [code] = await once(server.child, "exit");
    expect(code).toBe(0);
    await client.close();
    expect(await running).toBe("left");
    await expectOneOrder(place);
  });
});
