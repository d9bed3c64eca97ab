// A text of the API can be as long as the response (megabytes). Reading it must not take quadratic time.
import { expect, it } from "vitest";
import { readAnswer } from "../../../../src/core/api/answers.ts";
import { refusal } from "../../../../src/core/api/classify.ts";
import { readRecord } from "../../../../src/core/api/decoder.ts";
import { readPage } from "../../../../src/core/api/envelope.ts";
import type { ApiReply, ApiRequest } from "../../../../src/core/api/exchange.ts";
import { decoders } from "../../../../src/core/api/records.ts";
import { ApiError } from "../../../../src/core/model/index.ts";
import { testClock } from "../../../support/clock.ts";

const request = { endpoint: "createService", method: "POST", path: "/services" } as ApiRequest;
const refused = (text: string, headers: ApiReply["headers"] = {}) =>
  refusal(request, { status: 422, headers, text } as ApiReply, { redact: (said) => said, clock: testClock() });

it.each<[string, string, (text: string) => unknown]>([
  ["a password that is given at the end", "password is ", (message) => readAnswer("resetPassword", { message })],
  ["a password after a lot of space", " ", (space) => readAnswer("resetPassword", `password is${space}x y`)],
  ["an address of e-mail", ".", (text) => readRecord(decoders.grant, { id: 1, user: `a@${text} ` })],
  ["an address of e-mail, in parts", "a.", (text) => readRecord(decoders.grant, { id: 1, user: `a@${text}@` })],
  ["a word about an Idempotency-Key", "only ", (text) => refused(JSON.stringify({ message: `idempotency ${text}` }))],
  ["the title of a page", "<title", (text) => refused(`<html>${text}`)],
])("%s searches a long text in one pass: a repeated %j", (_, piece, read) => {
  expect(() => read(piece.repeat(Math.ceil(300_000 / piece.length)))).not.toThrow();
});

it.each<[string, (count: number) => unknown]>([
  ["field errors in a list", (count) => refused(JSON.stringify({ errors: Array(count).fill("no") }))],
  [
    "fields with errors",
    (count) =>
      refused(JSON.stringify({ errors: Object.fromEntries(Array.from({ length: count }, (_, i) => [i, "no"])) })),
  ],
  [
    "fields beside an empty list",
    (count) =>
      readPage("listServices", {
        ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, "ok"])),
        data: [],
      }),
  ],
])("a repeated %s takes one pass at most, and a short part is shown", (_, read) => {
  const shown = read(60_000);
  expect(shown instanceof ApiError ? JSON.stringify(shown.diagnostics).length : 0).toBeLessThan(10_000);
});
