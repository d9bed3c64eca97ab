import { describe, expect, it } from "vitest";
import { type ApplyResult, type ChangeOutcome, isFulfilled } from "../../../../src/core/model/index.ts";

const outcome = (over: Partial<ChangeOutcome> = {}): ChangeOutcome => ({
  address: "a.b",
  result: "done",
  diagnostics: [],
  ...over,
});
const result = (outcomes: readonly ChangeOutcome[], over: Partial<ApplyResult> = {}): ApplyResult => ({
  outcomes: [outcome({ address: "a.first" }), ...outcomes],
  diagnostics: [],
  interrupted: false,
  pending: [],
  requests: 0,
  seconds: 0,
  ...over,
});

/** Cases that decide between exit code 0 and 1. */
const table: readonly [why: string, fulfilled: boolean, result: ApplyResult][] = [
  ["everything is done", true, result([])],
  ["interrupted when everything was done", true, result([], { interrupted: true })],
  ["the order waits for its payment", true, result([outcome({ awaiting: "payment" })])],
  ["the order waits for the host", true, result([outcome({ awaiting: "provisioning" })])],
  ["a job is still queued", false, result([outcome({ awaiting: "job" })])],
  ["interrupted while a job was awaited", false, result([outcome({ awaiting: "job" })], { interrupted: true })],
  ["nobody was to wait for the job", true, result([outcome({ awaiting: "job" })], { noWait: true })],
  ["one has failed", false, result([outcome({ result: "failed" })])],
  ["one was skipped", false, result([outcome({ result: "skipped" })])],
  ["one was not started", false, result([outcome({ result: "not-started" })])],
  ["one was not started, and nobody waits", false, result([outcome({ result: "not-started" })], { noWait: true })],
  [
    "everything is done, and a cap was exceeded",
    false,
    result([], { diagnostics: [{ severity: "error", code: "guard.spend", summary: "exceeded" }] }),
  ],
  ["its status does not show what became of it", false, result([outcome({ awaiting: "status" })])],
  ["nor where nobody waits", false, result([outcome({ awaiting: "status" })], { noWait: true })],
  ["what is declared is not fulfilled, or not to be seen", false, result([], { unfulfilled: ["a.d"] })],
  ["a create of an earlier run has no known outcome", false, result([], { pending: ["a.c"] })],
];

describe("isFulfilled", () => {
  it.each(table)("%s: %s", (_, fulfilled, ended) => {
    expect(isFulfilled(ended)).toBe(fulfilled);
  });
});
