// Host that accepts one change at a time: after its first such rejection, the client sends changes one after another.
import { describe, expect, it } from "vitest";
import { WriteQueue } from "../../../../src/core/api/write-queue.ts";
import fc from "../../../support/fc.ts";
import { api, FakeClock, failureOf, service, setUp, useNock } from "./support.ts";

useNock();

describe("the queue of changes", () => {
  it("sends changes concurrently until the host is busy, and then one after another, in order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 8 }), async (before, after) => {
        const queue = new WriteQueue(new FakeClock());
        for (let at = 0; at < before; at++) expect(await queue.begin()).toBe(true);
        queue.serialize();
        const begun: number[] = [];
        const all = Array.from({ length: after }, async (_, at) => {
          expect(await queue.begin()).toBe(true);
          begun.push(at);
        });
        for (let at = 0; at < before; at++) {
          await new Promise(setImmediate);
          expect(begun).toEqual([]);
          queue.end();
        }
        for (let at = 0; at < after; at++) {
          await new Promise(setImmediate);
          expect(begun).toEqual(Array.from({ length: at + 1 }, (_, one) => one));
          queue.end();
        }
        await Promise.all(all);
        expect(await queue.begin()).toBe(true);
      }),
    );
  });

  it("ends the wait for a change after its time limit or at a stop, and continues with the next change", async () => {
    const queue = new WriteQueue(new FakeClock());
    await queue.begin();
    queue.serialize();
    const stop = new AbortController();
    const [late, stopped, last] = [
      queue.begin({ withinMs: 5_000 }),
      queue.begin({ signal: stop.signal }),
      queue.begin(),
    ];
    stop.abort();
    expect(await Promise.all([late, stopped])).toEqual([false, false]);
    expect(await queue.begin({ signal: stop.signal })).toBe(false);
    queue.end();
    expect(await last).toBe(true);
  });
});

const BUSY = { message: "Another request is in progress." };

describe("a rejection because of another change", () => {
  it.each([
    [423, BUSY, {}, true],
    [423, { message: "Locked" }, {}, true],
    [423, "<html></html>", {}, false],
    [423, "", {}, false],
    [503, { message: "Down" }, { "retry-after": "2" }, true],
    [503, "", {}, false],
    [409, BUSY, {}, true],
    [409, { message: "It exists." }, {}, false],
    [409, { message: "It exists." }, { "retry-after": "2" }, true],
    [500, BUSY, {}, false],
    [422, BUSY, {}, false],
  ] as const)("with %i and %j, %j: %s", async (status, body, headers, isBusy) => {
    api().post("/webhooks").reply(status, body, headers);
    const error = await failureOf(setUp().client.webhooks.create({}));
    expect(error.isBusy).toBe(isBusy);
    // Only the API's own rejection proves that the host did not execute the change.
    if (isBusy) expect(error.reached).toBe("maybe");
  });

  it("makes the client send its changes one after another, and its reads as before", async () => {
    const { client } = setUp();
    api().post("/services/7/suspend").reply(423, BUSY);
    await failureOf(client.services.suspend("7"));
    let underWay = 0;
    let most = 0;
    const answer = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return [202, {}] as [number, object];
    };
    for (const id of ["1", "2", "3"]) api().post(`/services/${id}/suspend`).reply(answer);
    api().get("/services/7").reply(200, { data: service() });
    await Promise.all([...["1", "2", "3"].map((id) => client.services.suspend(id)), client.services.get("7")]);
    expect(most).toBe(1);
  });

  it("of a read is repeated like any failure, and does not affect changes", async () => {
    api().get("/services/7").reply(503, BUSY).get("/services/7").reply(200, { data: service() });
    expect((await setUp().client.services.get("7")).id).toBe("7");
  });
});
