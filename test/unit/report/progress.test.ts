import { describe, expect, it } from "vitest";
import type { ApplyEvent, ProgressVerb } from "../../../src/core/model/index.ts";
import { advanceStatus, progressLine, remainingSeconds, renderStatus, startStatus } from "../../../src/report/index.ts";
import { change, diagnostic, invoice, outcome, plan } from "./builders.ts";

const address = "hosting_service.acme";
const start = (at = address, action: ProgressVerb = "create"): ApplyEvent => ({ type: "start", address: at, action });
const complete = (at = address, over = {}): ApplyEvent => ({
  type: "complete",
  address: at,
  action: "create",
  seconds: 1.4,
  id: "1001",
  outcome: outcome(at, over),
});
const errored = (at = address): ApplyEvent => ({
  type: "errored",
  address: at,
  action: "create",
  seconds: 3,
  outcome: outcome(at, {
    result: "failed",
    diagnostics: [diagnostic({ summary: "The API rejected the values (422)" })],
  }),
});

describe("progressLine, in Terraform's words", () => {
  const lines: readonly (readonly [ApplyEvent, string])[] = [
    [start(), "hosting_service.acme: Creating..."],
    [{ ...start(), action: "update", id: "1001" } as ApplyEvent, "hosting_service.acme: Modifying... [id=1001]"],
    [start(address, "forget"), "hosting_service.acme: Removing from the state..."],
    [{ ...start(address, "suspend"), id: "7" } as ApplyEvent, "hosting_service.acme: Suspending... [id=7]"],
    [
      { ...complete(address, { awaiting: "job" }), action: "suspend" } as ApplyEvent,
      "hosting_service.acme: Suspension requested after 1s [id=1001]; waits for its queued job",
    ],
    [
      { type: "progress", address, action: "create", seconds: 10 },
      "hosting_service.acme: Still creating... [10s elapsed]",
    ],
    [complete(), "hosting_service.acme: Creation complete after 1s [id=1001]"],
    [
      complete(address, { awaiting: "payment", invoice: invoice() }),
      "hosting_service.acme: Creation complete after 1s [id=1001]; waits for payment of invoice INV-2026-000123",
    ],
    [
      complete(address, { awaiting: "provisioning" }),
      "hosting_service.acme: Creation complete after 1s [id=1001]; waits to be provisioned",
    ],
    [errored(), "hosting_service.acme: Creation errored after 3s: The API rejected the values (422)"],
    [
      { type: "waiting", addresses: ["a.a", "a.b", "a.c", "a.d", "a.e"], seconds: 65 },
      "Still waiting for 5 queued jobs: a.a, a.b, a.c and 2 more [1m5s elapsed]",
    ],
  ];
  it.each(lines)("%j", (event, line) => expect(progressLine(event, { color: false })).toBe(line));
});

describe("the status area", () => {
  const changes = ["a", "b", "c", "d"].map((name) =>
    change({ address: `hosting_service.${name}`, actions: ["create"], requests: 10 }),
  );
  const planned = plan([...changes, change({ address: "hosting_service.same" })], {
    requests: { read: 1, apply: 40, seconds: 40 },
  });
  const run = (events: readonly (readonly [ApplyEvent, number])[]) =>
    events.reduce((status, [event, now]) => advanceStatus(status, event, now), startStatus(planned, 0));

  it("counts what is to do, without what stays as it is", () => {
    expect(renderStatus(startStatus(planned, 0), 0, { color: false })).toBe(
      "0 of 4 done, 0s elapsed, about 40 seconds left",
    );
  });

  it("shows what runs, for how long, what failed and about how long the rest takes", () => {
    const status = run([
      [start("hosting_service.a"), 0],
      [start("hosting_service.b"), 2000],
      [start("hosting_service.c", "update"), 5000],
      [complete("hosting_service.a"), 9000],
      [errored("hosting_service.b"), 10_000],
    ]);
    expect(renderStatus(status, 12_000, { color: false })).toBe(
      "  hosting_service.c: Modifying... [7s]\n1 of 4 done, 1 failed, 12s elapsed, about 20 seconds left",
    );
  });

  it("goes by the pace so far once the estimate proves too short", () => {
    const status = run([[complete("hosting_service.a"), 60_000]]);
    expect(remainingSeconds(status, 20_000)).toBe(30);
    expect(remainingSeconds(status, 60_000)).toBe(180);
  });

  it("has nothing left to estimate at the end", () => {
    const status = run(changes.map(({ address: at }) => [complete(at), 40_000]));
    expect(renderStatus(status, 41_000, { color: false })).toBe("4 of 4 done, 41s elapsed");
  });

  it("names queued jobs until they end", () => {
    const waiting: ApplyEvent = { type: "waiting", addresses: ["hosting_service.a", "hosting_service.b"], seconds: 3 };
    const status = run([[waiting, 1000]]);
    expect(renderStatus(status, 1000, { color: false })).toContain(
      "waiting for queued jobs: hosting_service.a, hosting_service.b",
    );
    const after = advanceStatus(status, complete("hosting_service.a"), 2000);
    expect(renderStatus(after, 2000, { color: false })).toContain("waiting for queued jobs: hosting_service.b\n");
  });

  it("keeps the start of what it joins in the middle", () => {
    const status = run([[{ type: "progress", address: "hosting_service.a", action: "create", seconds: 10 }, 12_000]]);
    expect(renderStatus(status, 13_000, { color: false })).toContain("hosting_service.a: Creating... [11s]");
  });

  it("never takes more lines or columns than it was given, or it could not be erased", () => {
    const names = Array.from({ length: 9 }, (_, at) => `hosting_service.${at}-with-a-very-long-name-that-does-not-fit`);
    const status = run(names.map((name) => [start(name), 0]));
    const lines = renderStatus(status, 1000, { color: false, width: 30 }).split("\n");
    expect(lines).toHaveLength(8);
    expect(lines[0]).toBe("  hosting_service.0-with-a-v…");
    expect(lines.slice(-2)).toEqual(["  and 3 more", "0 of 4 done, 1s elapsed"]);
  });
});
