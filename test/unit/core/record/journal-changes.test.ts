// Lines that a change writes, and texts that the reader treats as the torn end of a journal.
import { describe, expect, it, test } from "vitest";
import { emptyDocument } from "../../../../src/core/record/index.ts";
import { chainLine, readChain } from "../../../../src/core/record/journal-lines.ts";
import { changesBetween, describeChanges, Revision } from "../../../../src/core/record/revise.ts";
import { resource } from "./builders.ts";

const A = "hosting_service.a";

describe("from one document to the next", () => {
  const documentOf = (id: string | undefined, marked: boolean) => {
    const { state, remainder } = emptyDocument();
    return new Revision({
      state: { ...state, resources: new Map(id === undefined ? [] : [[A, resource(A, id)]]) },
      remainder: { ...remainder, originals: new Map(marked ? [[A, {} as never]] : []) },
    });
  };

  it.each([
    ["what is gone is removed, once", documentOf("1", true), documentOf(undefined, false), [A], []],
    [
      "what another object took the place of is removed and put",
      documentOf("1", true),
      documentOf("2", false),
      [A],
      ["2"],
    ],
    ["what changed keeps what Terraform has of it", documentOf("1", true), documentOf("2", true), [], ["2"]],
    ["what is new is put", documentOf(undefined, false), documentOf("2", false), [], ["2"]],
  ])("%s", (_, from, to, removed, put) => {
    const changes = changesBetween(from, to, [A]);
    expect([changes.remove, changes.put.map(({ attributes }) => attributes.id)]).toEqual([removed, put]);
  });

  it("is described with the known ids", () => {
    const put = ["1", 2, null, undefined].map((id, index) => ({
      ...resource(`hosting_service.s${index}`, null),
      attributes: { ...(id !== undefined && { id }) },
    }));
    expect(describeChanges([{ remove: [A], put }])).toEqual([
      "hosting_service.s0 (id 1)",
      "hosting_service.s1 (id 2)",
      "hosting_service.s2",
      "hosting_service.s3",
      `the removal of ${A}`,
    ]);
  });
});

describe("the last line of a journal", () => {
  const first = chainLine("", "first");
  const last = chainLine(first.sum, "the last line").line;
  const cut = last.slice(0, -1);
  const hole = last.replace("last", "\0\0\0\0");

  test.each<[string, string, "whole" | "torn" | "damaged"]>([
    ["as it was written", last, "whole"],
    ["that is not there", "", "whole"],
    ["without its line break", cut, "torn"],
    ["without its end", last.slice(0, 30), "torn"],
    ["whose line break is something else", `${cut}x`, "torn"],
    ["that is longer than it was", `${cut}xx`, "damaged"],
    ["that was changed", last.replace("last", "lost"), "damaged"],
    ["with a hole", hole, "torn"],
    ["with a hole, and longer than it was", hole.replace("line", "liiine"), "damaged"],
    ["with a hole, before another", `${hole}more`, "damaged"],
    ["with a hole, before another that is whole", hole + last, "damaged"],
    ["with a hole, before an empty one", `${hole}\n`, "damaged"],
  ])("%s: %s", (_, text, expected) => {
    const { payloads, torn, damagedLine } = readChain(first.line + text);
    const found = damagedLine !== undefined ? "damaged" : torn === "" ? "whole" : "torn";
    expect([found, damagedLine]).toEqual([expected, expected === "damaged" ? 2 : undefined]);
    expect(payloads).toEqual(text === last ? ["first", "the last line"] : ["first"]);
  });
});
