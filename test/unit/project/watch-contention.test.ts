import { expect, it } from "vitest";
import type { ChangeReason } from "../../../src/core/model/index.ts";
import { conclusion } from "../../../src/project/watch/memory.ts";

it.each([
  ["what was seen to change", ["drift"], true],
  ["what was removed", ["gone"], true],
  ["what the host shows otherwise than it was made", ["declared"], false],
  ["one that was changed and one that was not kept", ["drift", "declared"], false],
] as const)("of %s it is said that somebody changes it back only where that was seen", (_, reasons, isForeign) => {
  const changes = reasons.map((why) => ({ reasons: [{ why, text: "" } as ChangeReason] }));
  expect(conclusion(changes).includes("somebody changes it back")).toBe(isForeign);
});
