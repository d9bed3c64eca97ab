import { afterEach, describe, expect, it, vi } from "vitest";
import { showProgress } from "../../../src/cli/apply.ts";
import * as cliParts from "../../../src/cli/parts.ts";
import { problem } from "../../../src/core/messages/index.ts";
import type { ApplyEvent, ChangeOutcome } from "../../../src/core/model/index.ts";
import { testClock } from "../../support/clock.ts";
import { fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";
import { order, plan } from "../report/builders.ts";

/** Creates the terminal of an apply, and its recorded output. */
function made(parts: { terminal: boolean; quiet?: boolean; env?: Record<string, string> }) {
  const { terminal: isTerminal, quiet = false, env = {} } = parts;
  const io = fakeIo({ terminal: isTerminal, columns: 80, clock: testClock(), env });
  return { io, terminal: openedOn(cliParts, io, { quiet }).terminal };
}

/** Returns the lines that a terminal shows after this text: `ESC[nA` moves up n lines, and `ESC[J` clears the rest. */
function screen(text: string): string[] {
  const lines: string[] = [""];
  const esc = String.fromCharCode(27);
  for (const part of text.split(new RegExp(`(\r${esc}\\[\\d+A${esc}\\[J|\n)`))) {
    const up = new RegExp(`^\r${esc}\\[(\\d+)A`).exec(part);
    if (up !== null) lines.splice(lines.length - 1 - Number(up[1]), lines.length, "");
    else if (part === "\n") lines.push("");
    else lines[lines.length - 1] += part;
  }
  return lines;
}

const ADDRESS = "hosting_service.acme";
const start: ApplyEvent = { type: "start", address: ADDRESS, action: "create" };
const outcome: ChangeOutcome = { address: ADDRESS, result: "done", diagnostics: [] };
const complete: ApplyEvent = { type: "complete", address: ADDRESS, action: "create", seconds: 1, id: "1", outcome };
const one = plan([order({ address: ADDRESS })]);

describe("progress", () => {
  it("on a terminal keeps its lines above the status area, and removes the status area at the end", async () => {
    const { io, terminal } = made({ terminal: true });
    await showProgress(terminal, one, new AbortController().signal, async (onEvent) => {
      onEvent(start);
      expect(screen(io.stderr()).join("\n")).toMatch(/Creating\.\.\.\n.*Creating\.\.\. \[0s\]\n0 of 1 done/);
      onEvent(complete);
    });
    expect(screen(io.stderr())).toEqual([
      expect.stringContaining(`${ADDRESS}: Creating...`),
      expect.stringContaining(`${ADDRESS}: Creation complete after 1s [id=1]`),
      "",
    ]);
  });

  it("keeps the effect of Ctrl-C on the screen while it is repainted", async () => {
    const { io, terminal } = made({ terminal: true });
    const stop = new AbortController();
    await showProgress(terminal, one, stop.signal, async (onEvent) => {
      onEvent(start);
      stop.abort();
      onEvent({ type: "waiting", addresses: [ADDRESS], seconds: 1 });
      onEvent(complete);
    });
    expect(screen(io.stderr()).join("\n")).toContain("Interrupted. hostform sends no more requests");
  });

  it.each([
    ["no terminal", { terminal: false }],
    ["CI", { terminal: true, env: { CI: "true" } }],
  ])("is plain lines with %s", async (_, parts) => {
    const { io, terminal } = made(parts);
    await showProgress(terminal, one, new AbortController().signal, async (onEvent) => {
      onEvent(start);
      onEvent(complete);
    });
    expect(io.stderr().split("\n")).toHaveLength(3);
    expect(io.stderr()).not.toContain("\u001b");
  });
});

describe("the progress of a long read", () => {
  afterEach(() => void vi.useRealTimers());

  /** Reads 303 listings for a minute, then prints a plan. */
  function read(parts: Parameters<typeof made>[0] & { verbose?: boolean; json?: boolean }) {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const clock = testClock();
    const { terminal: isTerminal, env = {}, ...print } = parts;
    const io = fakeIo({ terminal: isTerminal, columns: 80, clock, env });
    const { terminal, project } = openedOn(cliParts, io, print);
    const seen: string[][] = [];
    const pass = (ms: number) => {
      clock.advance(ms);
      vi.advanceTimersByTime(ms);
      seen.push(screen(io.stderr()));
    };
    const request = { endpoint: "listGrants", method: "GET", path: "/services/7/grants", attempt: 1 } as const;
    project.log.reading(303);
    for (let open = 302; open >= 243; open -= 1) {
      project.log.request({ ...request, status: 200, ms: 5, waitedMs: 0, left: open - 243 }, 60);
      project.log.reading(open);
    }
    const why = { cause: "budget", limit: 60, own: 60, others: 0, elsewhere: 0 } as const;
    project.log.wait({ ...why, ms: 58_000, request: "GET /services/8/grants" });
    pass(20_000);
    project.log.say("Something else.");
    pass(15_000);
    project.log.reading(0);
    terminal.out("The plan.\n");
    return { seen, stderr: io.stderr(), last: screen(io.stderr()), stdout: io.stdout() };
  }
  const waiting = (seconds: number) =>
    expect.stringMatching(`^Reading 60 of 303, budget 0 of 60, next in ${seconds} s, about \\d minutes left$`);

  it("is one line at the bottom of a terminal, below the other output, and is removed at the end", () => {
    const { seen, last, stdout } = read({ terminal: true });
    expect(seen).toEqual([
      [waiting(38), ""],
      ["Something else.", waiting(23), ""],
    ]);
    expect(last).toEqual(["Something else.", ""]);
    expect(stdout).toBe("The plan.\n");
  });

  it.each([
    ["no terminal", { terminal: false }],
    ["CI", { terminal: true, env: { CI: "true" } }],
  ])("is a plain line every 15 seconds with %s", (_, parts) => {
    const { last, stderr } = read(parts);
    expect(last).toEqual([waiting(38), "Something else.", waiting(23), ""]);
    expect(stderr).not.toContain("\u001b");
  });

  it.each([
    ["--quiet", { terminal: true, quiet: true }, ""],
    ["--json where standard error may be the same file", { terminal: false, json: true }, "Something else.\n"],
  ])("is nothing with %s", (_, parts, expected) => expect(read(parts).stderr).toBe(expected));

  it("with --quiet shows no warning about a wait, and all other warnings", () => {
    const io = fakeIo();
    const { log } = openedOn(cliParts, io, { quiet: true }).project;
    log.warn(problem("store.waiting/lists", { seconds: 80 }));
    expect(io.stderr()).toBe("");
    log.warn(problem("store.waiting/lists", { seconds: 80 }), problem("store.damaged", { place: "a.store" }));
    expect(io.stderr()).toMatch(/^Warning: a\.store is corrupted/);
  });

  it("with --verbose names the waiting request and the reason", () => {
    expect(read({ terminal: true, verbose: true }).stderr).toContain(
      "Waiting 58 s to send GET /services/8/grants: the budget of 60 requests a minute\nis used up; sent in the last minute: 60 by this run\n",
    );
  });
});
