import { describe, expect, test } from "vitest";
import { excuseViolations } from "../../support/sandbox.ts";
import { ORDER, start } from "./harness.ts";

/** Creates a sleep that lasts until the test ends it. */
function gate(): { sleep: () => Promise<void>; entered: Promise<void>; open: () => void } {
  const entry = Promise.withResolvers<void>();
  const exit = Promise.withResolvers<void>();
  const sleep = (): Promise<void> => {
    entry.resolve();
    return exit.promise;
  };
  return { sleep, entered: entry.promise, open: exit.resolve };
}

describe("Idempotency-Key (§4, §7)", () => {
  test.each([
    ["missing", undefined],
    ["blank", "   "],
    ["too long", "k".repeat(256)],
  ])("returns 400 if it is %s, before the body is checked", async (_, key) => {
    const { send, sandbox } = await start();
    const answer = await send("POST", "/services", { body: {}, ...(key === undefined ? {} : { key }) });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain("Idempotency-Key");
    expect(sandbox.control.list("services")).toHaveLength(2);
  });

  test("a repeated request gets the original status and bytes, and creates no second service", async () => {
    const { send, sandbox } = await start();
    const first = await send("POST", "/services", { key: "k", body: ORDER });
    sandbox.control.payInvoice(first.body.data.invoice.id);
    sandbox.control.advanceClock({ hours: 1 });
    const again = await send("POST", "/services", { key: "k", body: ORDER });
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect((await send("GET", "/services")).body.meta.total).toBe(1);
  });

  test("a repeated request with another body, valid or not, gets the original response: the specification does not compare", async () => {
    const { send, sandbox } = await start();
    excuseViolations(sandbox, "the first answer is given to a body that the document does not allow");
    const first = await send("POST", "/services", { key: "k", body: ORDER });
    for (const sending of [{ body: { ...ORDER, domain: "other.example" } }, { body: {} }, { raw: "{" }]) {
      expect((await send("POST", "/services", { key: "k", ...sending })).text).toBe(first.text);
    }
  });

  test("a service that was deleted in the meantime is still in the repeated response", async () => {
    const { send, sandbox } = await start();
    const first = await send("POST", "/services", { key: "k", body: ORDER });
    sandbox.control.remove("services", first.body.data.id);
    const again = await send("POST", "/services", { key: "k", body: ORDER });
    expect(again.text).toBe(first.text);
    expect((await send("GET", `/services/${first.body.data.id}`)).status).toBe(404);
  });

  test("keys belong to the account: its tokens share them, and other accounts do not", async () => {
    const { send, sandbox } = await start();
    const abilities = ["technical" as const];
    const second = sandbox.control.create("tokens", { name: "second", abilities }).value;
    const first = await send("POST", "/services", { key: "k", body: ORDER });
    expect((await send("POST", "/services", { key: "k", body: ORDER, token: second })).text).toBe(first.text);
    const other = await send("POST", "/services", { key: "k", body: ORDER, token: sandbox.tokens.customer });
    expect(other.status).toBe(201);
    expect(other.body.data.id).not.toBe(first.body.data.id);
  });

  test("a second request gets 409 while the first is in progress; other keys work; then the response is replayed", async () => {
    const { sleep, entered, open } = gate();
    const { send } = await start({ processingMs: 5000, sleep });
    const first = send("POST", "/services", { key: "k", body: ORDER });
    await entered;
    const concurrent = await send("POST", "/services", { key: "k", body: ORDER });
    expect(concurrent).toMatchObject({ status: 409, body: { message: expect.any(String) } });
    const other = send("POST", "/services", { key: "other", body: ORDER });
    open();
    expect((await first).status).toBe(201);
    expect((await other).status).toBe(201);
    expect((await send("POST", "/services", { key: "k", body: ORDER })).text).toBe((await first).text);
  });

  test("without processingMs, no request waits", async () => {
    const sleep = (): Promise<void> => Promise.reject(new Error("waited"));
    const { send } = await start({ sleep });
    expect((await send("POST", "/services", { key: "k", body: ORDER })).status).toBe(201);
  });

  test("20 simultaneous requests with one key create one service", async () => {
    const { send, sandbox } = await start();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send("POST", "/services", { key: "k", body: ORDER })),
    );
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1);
    expect(sandbox.control.list("services").filter((one) => one.customer_id === 1)).toHaveLength(1);
  });
});
