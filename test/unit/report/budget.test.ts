import { describe, expect, it } from "vitest";
import { type RequestWait, waitReasonLine } from "../../../src/report/budget.ts";
import { budgetAfterWait, progressLine, readingLine, renderStatus, startStatus } from "../../../src/report/index.ts";
import { order, plan } from "./builders.ts";

const NOW = 1_000_000;
const wait = (over: Partial<Exclude<RequestWait, { cause: "busy" }>> = {}): RequestWait => ({
  ms: 38_000,
  request: "GET /services/7/grants",
  cause: "budget",
  limit: 60,
  own: 60,
  others: 0,
  elsewhere: 0,
  ...over,
});
const reading = { done: 120, open: 183 };

it("names a busy host as the reason of a wait, with its status, and keeps the budget", () => {
  const busy: RequestWait = { cause: "busy", status: 423, ms: 8_000, request: "DELETE /webhooks/7" };
  expect(waitReasonLine(busy)).toBe("Waiting 8 s to send DELETE /webhooks/7: the host is busy (423)");
  const budget = budgetAfterWait(busy, NOW, { left: 12, of: 60, until: 0, isPause: false });
  expect(readingLine(reading, budget, NOW)).toContain("Reading 120 of 303, the host is busy (423), next in 8 s");
  expect(readingLine(reading, budget, NOW + 8_000)).toContain("budget 12 of 60");
  const event = { type: "busy", address: "hosting_webhook.a", status: 503, seconds: 4.2 } as const;
  expect(progressLine(event, { color: false })).toBe("hosting_webhook.a: The host is busy (503). Waiting 5 s");
});

describe("a long reading", () => {
  const booked = budgetAfterWait(wait(), NOW);
  const lines: readonly [why: string, line: string, expected: string][] = [
    [
      "says how far it is, what is left of the budget, and when it goes on",
      readingLine(reading, booked, NOW),
      "Reading 120 of 303, budget 0 of 60, next in 38 s, about 4 minutes left",
    ],
    [
      "counts down",
      readingLine(reading, booked, NOW + 30_000),
      "Reading 120 of 303, budget 0 of 60, next in 8 s, about 3 minutes left",
    ],
    ["fits into 80 columns", readingLine(reading, booked, NOW, 79), readingLine(reading, booked, NOW)],
    [
      "leaves out what has no room in 40 columns",
      readingLine(reading, booked, NOW, 39),
      "Reading 120 of 303, next in 38 s",
    ],
    ["says nothing of a budget that is not known", readingLine({ done: 0, open: 3 }, undefined, NOW), "Reading 0 of 3"],
    [
      "promises no time while the budget suffices",
      readingLine({ done: 12, open: 3 }, { left: 48, of: 60, until: 0, isPause: false }, NOW),
      "Reading 12 of 15, budget 48 of 60",
    ],
    [
      "names a pause of the API",
      readingLine({ done: 12, open: 3 }, budgetAfterWait(wait({ cause: "pause", own: 12 }), NOW), NOW),
      "Reading 12 of 15, paused by the API, next in 38 s, about 40 seconds left",
    ],
  ];
  it.each(lines)("%s", (_, line, expected) => expect(line).toBe(expected));
});

describe("an apply that waits for the budget", () => {
  const one = plan([order({ address: "hosting_service.acme" })]);
  const start = { type: "start", address: "hosting_service.acme", action: "create" } as const;
  it("says that it waits, and not that it creates", () => {
    expect(progressLine(start, { color: false, waits: true })).toBe(
      "hosting_service.acme: Waiting to send its requests...",
    );
    const status = {
      ...startStatus(one, NOW),
      running: new Map([["hosting_service.acme", { action: "create" as const, since: NOW }]]),
    };
    const shown = renderStatus(status, NOW, { color: false, width: 80 }, budgetAfterWait(wait(), NOW));
    expect(shown).toContain("hosting_service.acme: Waiting to send its requests...");
    expect(shown).toContain("budget 0 of 60, next in 38 s");
    expect(shown).not.toContain("Creating");
  });
});

describe("--verbose says why a request waits", () => {
  const lines: readonly [Parameters<typeof wait>[0], string | undefined][] = [
    [
      { own: 52, others: 8 },
      "Waiting 38 s to send GET /services/7/grants: the budget of 60 requests a minute is used up; sent in the last minute: 52 by this run, 8 by other processes with this token",
    ],
    [
      { cause: "turn", own: 1, others: 20, elsewhere: 2 },
      "Waiting 38 s to send GET /services/7/grants: another process with this token is next; sent in the last minute: 1 by this run, 20 by other processes with this token, 2 by other clients, according to the API",
    ],
    [{ ms: 900 }, undefined],
  ];
  it.each(lines)("%j", (over, line) => expect(waitReasonLine(wait(over))).toBe(line));
});
