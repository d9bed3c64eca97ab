import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type Control, PROFILE_SWITCHES, type SandboxOptions } from "../../../src/sandbox/index.ts";
import fc, { runs } from "../../support/fc.ts";
import { quickFolder } from "../../support/folder.ts";
import { START, start } from "./harness.ts";
import { history, live } from "./history.ts";

const quiet: SandboxOptions = { deliverTo: "nowhere", rateLimit: 20 };

describe("a snapshot", () => {
  test("is restored byte by byte, in another place and at another time, and the simulation continues identically", async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        history,
        fc.constantFrom(...PROFILE_SWITCHES.rate),
        fc.constantFrom(...PROFILE_SWITCHES.weather),
        async (before, after, rate, faults) => {
          const profile = { rate, weather: faults, retry_after: "none" } as const;
          const first = await start({ ...quiet, profile });
          const snapshot = await live(first, before);
          const other = await start({ ...quiet, profile, seed: "other", clock: { now: () => START + 1e9 } });
          await live(other, after);
          other.sandbox.control.restore(snapshot);
          expect(other.sandbox.control.snapshot()).toBe(snapshot);
          first.sandbox.control.restore(snapshot);
          expect(first.sandbox.control.snapshot()).toBe(snapshot);
          expect(other.sandbox.tokens).toEqual(first.sandbox.tokens);
          expect(await live(other, after)).toBe(await live(first, after));
          await Promise.all([first.sandbox.close(), other.sandbox.close()]);
        },
      ),
      { numRuns: runs(20) },
    );
  });

  test("has its fields in order, one line for each record, and a final line break", async () => {
    const { sandbox } = await start();
    const snapshot = sandbox.control.snapshot();
    expect(snapshot.split("\n").slice(0, 3)).toEqual([
      "{",
      '"clock": {"frozen":false,"now":"2026-11-21T10:00:00.000Z"},',
      '"collections": {',
    ]);
    expect(snapshot.endsWith("}\n")).toBe(true);
    const { collections, ...head } = JSON.parse(snapshot);
    expect(head).toMatchObject({ format: "hosting-sandbox-snapshot", version: 1, seed: "hostform" });
    for (const keys of [Object.keys(head), Object.keys(collections), Object.keys(collections.services[0])]) {
      expect(keys).toEqual(keys.toSorted());
    }
  });

  test("accepts the line ends of another system", async () => {
    const { sandbox } = await start();
    const snapshot = sandbox.control.snapshot();
    sandbox.control.payInvoice(5001);
    sandbox.control.restore(snapshot.replaceAll("\n", "\r\n"));
    expect(sandbox.control.snapshot()).toBe(snapshot);
  });

  test("is sent over HTTP in both directions, whatever its size", async () => {
    const { sandbox } = await start();
    sandbox.control.seedServices({ count: 3000 });
    const address = `${sandbox.controlUrl}/snapshot`;
    const snapshot = await (await fetch(address)).text();
    expect(snapshot.length).toBeGreaterThan(1_048_576);
    sandbox.control.reset();
    expect((await fetch(address, { method: "PUT", body: snapshot })).status).toBe(204);
    expect(sandbox.control.snapshot()).toBe(snapshot);
    expect((await fetch(address, { method: "PUT", body: "{}" })).status).toBe(422);
  });

  test("excludes the log of requests, and keeps the profile of the restoring sandbox", async () => {
    const { sandbox, send } = await start({ profile: { status: "upper_snake" } });
    const other = await start();
    await send("GET", "/plans");
    sandbox.control.restore(other.sandbox.control.snapshot());
    expect(sandbox.control.requests()).toEqual([]);
    const { body } = await send("GET", "/services", { token: sandbox.tokens.customer });
    expect(body.data[0].status).toBe("ACTIVE");
  });
});

describe("an invalid snapshot is rejected, and nothing changes", () => {
  const cases: [string, (snapshot: string) => string, string][] = [
    ["no JSON", () => "snapshot", "not the snapshot of a sandbox"],
    ["a list", () => "[]", "not the snapshot of a sandbox"],
    ["null", () => "null", "not the snapshot of a sandbox"],
    ["another file", () => '{"version": 4, "serial": 1}', "not the snapshot of a sandbox"],
    [
      "a newer one",
      (text) => text.replace('"version": 1', '"version": 2'),
      "of version 2; this sandbox reads version 1",
    ],
    ["one that was changed", (text) => text.replace('"agency"', '"egency"'), "changed after it was taken"],
    ["one without its records", (text) => JSON.stringify({ ...JSON.parse(text), collections: null }), "incomplete"],
    ["one without its faults", (text) => JSON.stringify({ ...JSON.parse(text), faults: undefined }), "incomplete"],
    ["half of one", (text) => text.slice(0, text.length / 2), "not the snapshot of a sandbox"],
  ];
  test.each(cases)("%s", async (_, make, hint) => {
    const { sandbox } = await start();
    const before = sandbox.control.snapshot();
    expect(() => sandbox.control.restore(make(before))).toThrow(hint);
    expect(sandbox.control.snapshot()).toBe(before);
  });
});

describe("a snapshot as an option", () => {
  test("sets the records, the seed and the time of a sandbox", async () => {
    const first = await start({ seed: "s" });
    first.sandbox.control.advanceClock({ days: 40 });
    const snapshot = first.sandbox.control.snapshot();
    const { sandbox, send } = await start({ snapshot });
    expect(sandbox.tokens).toEqual(first.sandbox.tokens);
    expect(sandbox.control.clock().now).toBe("2026-12-31T10:00:00.000Z");
    expect((await send("GET", "/plans")).status).toBe(200);
  });

  test.each([
    [{ seed: "other" }, 'made from the seed "hostform", not "other"'],
    [{ clock: "2026-11-21T10:00:00Z" }, "at its own time"],
  ])("excludes %j", async (options, hint) => {
    const { sandbox } = await start();
    await expect(start({ snapshot: sandbox.control.snapshot(), ...options })).rejects.toThrow(hint);
  });

  test("is rejected if it is invalid or the data file contains data", async () => {
    await expect(start({ snapshot: "{}" })).rejects.toThrow("not the snapshot of a sandbox");
    const folder = mkdtempSync(quickFolder("snapshot"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const data = path.join(folder, "sandbox.sqlite");
    const { sandbox } = await start({ data });
    const snapshot = sandbox.control.snapshot();
    await sandbox.close();
    await expect(start({ data, snapshot })).rejects.toThrow("already holds data");
    const again = await start({ data });
    expect(again.sandbox.control.snapshot()).toBe(snapshot);
  });
});

describe("deliveries", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.closeAllConnections();
    for (const server of servers) server.close();
  });

  /** Starts a receiver that responds when the test calls `answer`. */
  async function receiver(): Promise<{ url: string; came: Promise<void>; answer: () => void; received: string[] }> {
    const received: string[] = [];
    const arrival = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      received.push(text);
      arrival.resolve();
      await release.promise;
      response.end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return { url, came: arrival.promise, answer: () => release.resolve(), received };
  }

  const statuses = (control: Control): string[] => control.list("deliveries").map(({ status }) => status);

  test("a waiting retry keeps its time; a delivery in progress is sent again", async () => {
    const { sandbox } = await start();
    const { control } = sandbox;
    const there = await receiver();
    control.create("webhooks", { url: there.url, events: ["invoice.paid"] });
    control.seedServices({ account: "agency" });
    control.trigger("invoice.paid");
    const snapshot = control.snapshot();
    await there.came;
    control.restore(snapshot);
    expect(statuses(control)).toEqual(["pending"]);
    there.answer();
    await control.settled();
    expect(statuses(control)).toEqual(["delivered"]);
    expect(there.received).toHaveLength(2);
    expect(control.list("deliveries")[0]?.attempts).toHaveLength(1);
  });

  test("a response that arrives after a reset is not used for a delivery after the reset", async () => {
    const { sandbox } = await start();
    const { control } = sandbox;
    const there = await receiver();
    const subscribe = (url: string): void => {
      control.create("webhooks", { url, events: ["invoice.paid"] });
      control.seedServices({ account: "agency" });
      control.trigger("invoice.paid");
    };
    subscribe(there.url);
    await there.came;
    control.reset();
    // Same id and same time, at a port without a listener.
    subscribe("http://127.0.0.1:9/");
    there.answer();
    await control.settled();
    expect(statuses(control)).toEqual(["pending"]);
    expect(control.list("deliveries")[0]?.attempts).toMatchObject([{ status: null }]);
  });
});
