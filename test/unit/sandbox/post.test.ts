import type { LookupFunction } from "node:net";
import { expect, test } from "vitest";
import { openPost } from "../../../src/sandbox/events/post.ts";
import type { DeliverTo } from "../../../src/sandbox/index.ts";
import { startReceiver } from "./receiver.ts";

/** Creates a name server that returns the next address for each query. */
function names(...answers: string[]): LookupFunction {
  return (_host, options, callback) => {
    const address = answers.shift() ?? "192.0.2.1";
    if (options.all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
}

async function send(url: string, allowed: DeliverTo, lookup: LookupFunction) {
  const post = openPost(allowed, 2_000, lookup);
  try {
    return await post.send(url, "{}", { "content-type": "application/json" });
  } finally {
    await post.close();
  }
}

test("the sandbox checks the address of the connection, and not the name", async () => {
  const receiver = await startReceiver();
  const url = receiver.url.replace("127.0.0.1", "hooks.example");
  expect(await send(url, "loopback", names("127.0.0.1"))).toEqual({ status: 204, error: null, blocked: false });
  expect(await send(url, "loopback", names("192.0.2.7"))).toMatchObject({ status: null, blocked: true });
});

test("the sandbox rejects a name that resolves to another address at the second delivery", async () => {
  const receiver = await startReceiver();
  const url = receiver.url.replace("127.0.0.1", "rebound.example");
  const lookup = names("127.0.0.1", "10.0.0.1");
  expect((await send(url, "loopback", lookup)).status).toBe(204);
  expect(await send(url, "loopback", lookup)).toMatchObject({
    blocked: true,
    error:
      "rebound.example (10.0.0.1) is not this machine. Start the sandbox with --deliver-to rebound.example to allow it.",
  });
});

test("the sandbox rejects a name if one of its addresses is foreign", async () => {
  const both: LookupFunction = (_host, _options, callback) =>
    callback(null, [
      { address: "127.0.0.1", family: 4 },
      { address: "192.0.2.7", family: 4 },
    ]);
  expect(await send("http://both.example:9/", "loopback", both)).toMatchObject({ blocked: true });
});

test.each([
  [["hooks.example"], false],
  ["anywhere", false],
  [["other.example"], true],
] as const)("allowed %j: blocked %s", async (allowed, blocked) => {
  const unreachable: LookupFunction = (_host, _options, callback) =>
    callback(null, [{ address: "192.0.2.7", family: 4 }]);
  const post = openPost(allowed, 50, unreachable);
  const outcome = await post.send("http://hooks.example:9/", "{}", {});
  await post.close();
  expect(outcome).toMatchObject({ status: null, blocked });
});
