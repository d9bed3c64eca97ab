import { describe, expect, test } from "vitest";
import { PROFILE_SWITCHES, type Profile } from "../../../src/sandbox/index.ts";
import { type Answer, activeService, ORDER, start } from "./harness.ts";

/** What a body is, by its Content-Type and its text. */
function formOf({ text, body, headers }: Answer): string {
  const type = headers.get("content-type");
  if (text === "" && type === null) return "empty";
  if (type === "application/json" && typeof body?.message === "string") return "json";
  if (type?.startsWith("text/html") && /^<!DOCTYPE html>.*<title>\d{3} .*<\/title>/s.test(text)) return "html";
  if (type?.startsWith("text/plain") && body === undefined) return "text";
  return `${type}: ${text}`;
}

describe("error_bodies and too_many (§7: not specified beyond status)", () => {
  test.each(PROFILE_SWITCHES.error_bodies)(
    "%s: all but those that are specified, 403 and 422",
    async (error_bodies) => {
      const running = await start({ profile: { error_bodies } });
      const { send, sandbox } = running;
      const id = activeService(running);
      sandbox.control.addFault({ path: "/invoices", phase: "before" });
      sandbox.control.addFault({ path: "/accounts", phase: "before", status: 503 });
      const answers = {
        400: await send("POST", "/services", { body: ORDER }),
        401: await send("GET", "/plans", { token: "nobody" }),
        403: await send("GET", "/webhooks", { token: sandbox.tokens.viewer }),
        404: await send("GET", "/services/999"),
        405: await send("PUT", "/plans"),
        422: await send("POST", `/services/${id}/password`, { body: {} }),
        500: await send("GET", "/invoices"),
        503: await send("GET", "/accounts"),
      };
      for (const [status, answer] of Object.entries(answers)) {
        const form = status === "403" || status === "422" ? "json" : error_bodies;
        expect([answer.status, formOf(answer)]).toEqual([Number(status), form]);
      }
      expect(answers[405].headers.get("allow")).toBe("GET");
      expect(answers[422].body).toEqual({ message: expect.any(String), errors: { password: [expect.any(String)] } });
    },
  );

  test("a fault that says what to answer is taken at its word", async () => {
    const { send, sandbox } = await start({ profile: { error_bodies: "html" } });
    sandbox.control.addFault({ path: "/plans", phase: "before", status: 500, body: { error: "down" } });
    expect(await send("GET", "/plans")).toMatchObject({ status: 500, body: { error: "down" } });
    sandbox.control.addFault({ path: "/services/:id", phase: "after", status: 200, body: { id: 1 } });
    const replaced = await send("GET", "/services/999");
    expect([replaced.body, replaced.headers.get("content-type")]).toEqual([{ id: 1 }, "application/json"]);
  });
});

describe("Idempotency-Key", () => {
  const day: Partial<Profile> = { key_retention: "day" };
  test.each([
    ["a day", { profile: day }, 86_400],
    ["ten minutes", { profile: { key_retention: "ten_minutes" } as const }, 600],
    ["as the option says, whatever the profile", { profile: day, idempotencyRetentionSeconds: 30 }, 30],
  ])("is remembered for %s", async (_, options, seconds) => {
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
