import { expect, it } from "vitest";
import type { Io } from "../../../src/cli/terminal.ts";
import { looksOf } from "../../../src/cli/terminal.ts";

it.each([
  ["a terminal", {}, true, true],
  ["a pipe", {}, false, false],
  ["FORCE_COLOR=0 in a terminal", { FORCE_COLOR: "0" }, true, false],
  ["FORCE_COLOR=false in a terminal", { FORCE_COLOR: "false" }, true, false],
  ["FORCE_COLOR=1 in a pipe", { FORCE_COLOR: "1" }, false, true],
  ["FORCE_COLOR without a value in a pipe", { FORCE_COLOR: "" }, false, true],
  ["NO_COLOR against FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
])("%s: %j on a stream that is a terminal: %j, coloured: %j", (_, env, terminal, coloured) => {
  const io = { env, columns: undefined, outIsTerminal: terminal, errIsTerminal: terminal } as unknown as Io;
  const { outLook, errLook } = looksOf(io, true);
  expect([outLook.color, errLook.color]).toEqual([coloured, coloured]);
  expect(looksOf(io, false).outLook.color, "with --no-color").toBe(false);
});
