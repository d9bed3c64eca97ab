import { describe, expect, test } from "vitest";
import type { Profile } from "../../../src/sandbox/index.ts";
import { ORDER, start } from "./harness.ts";

test("a fault with its own body keeps this body, whatever error_bodies is", async () => {
  const { send, sandbox } = await start({ profile: { error_bodies: "html" } });
  sandbox.control.addFault({ path: "/plans", phase: "before", status: 500, body: { error: "down" } });
  expect(await send("GET", "/plans")).toMatchObject({ status: 500, body: { error: "down" } });
  sandbox.control.addFault({ path: "/services/:id", phase: "after", status: 200, body: { id: 1 } });
  const replaced = await send("GET", "/services/999");
  expect([replaced.body, replaced.headers.get("content-type")]).toEqual([{ id: 1 }, "application/json"]);
});

describe("Idempotency-Key", () => {
  const day: Partial<Profile> = { key_retention: "day" };
  test.each([
    ["a day", { profile: day }, 86_400],
    ["ten minutes", { profile: { key_retention: "ten_minutes" } as const }, 600],
    ["as the option says, whatever the profile", { profile: day, idempotencyRetentionSeconds: 30 }, 30],
  ])("is stored for %s", async (_, options, seconds) => {
    const { send, sandbox } = await start(options);
    const order = async (): Promise<number> =>
      (await send("POST", "/services", { key: "k", body: ORDER })).body.data.id;
    const first = await order();
    sandbox.control.advanceClock({ seconds: seconds - 1 });
    expect(await order()).toBe(first);
    sandbox.control.advanceClock({ seconds: 1 });
    expect(await order()).not.toBe(first);
  });
});
