import { describe, expect, it } from "vitest";
import { showProgress } from "../../../src/cli/apply.ts";
import type { ApplyEvent, ChangeOutcome } from "../../../src/core/model/index.ts";
import { testClock } from "../../support/clock.ts";
import { fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";
import { order, plan } from "../report/builders.ts";

/** The terminal of an apply, and what it was given. */
function made(parts: { terminal: boolean; quiet?: boolean; env?: Record<string, string> }) {
  const { terminal: isTerminal, quiet = false, env = {} } = parts;
  const io = fakeIo({ terminal: isTerminal, columns: 80, clock: testClock(), env });
  return { io, terminal: openedOn(io, { quiet }).terminal };
}

/** What a terminal shows after all that: lines go up by `ESC[nA` and the rest is cleared by `ESC[J`. */
function screen(text: string): string[] {
  const lines: string[] = [""];
  const esc = String.fromCharCode(27);
  for (const part of text.split(new RegExp(`(${esc}\\[\\d+A${esc}\\[J|\n)`))) {
    const up = new RegExp(`^${esc}\\[(\\d+)A`).exec(part);
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
  it("on a terminal keeps its lines above the status area, and leaves nothing of that behind", async () => {
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

  it("says what Ctrl-C means, and no repainting takes that away", async () => {
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

  it("is nothing with --quiet", async () => {
    const { io, terminal } = made({ terminal: true, quiet: true });
    await showProgress(terminal, one, new AbortController().signal, async (onEvent) => {
      onEvent(start);
      onEvent(complete);
    });
    expect(io.stderr()).toBe("");
  });
});
