import { describe, expect, it } from "vitest";
import { cpuTimer } from "../../../support/cpu-time.ts";
import fc, { character, runs } from "../../../support/fc.ts";
import { declare, declareFiles } from "./fakes.ts";

/** Random texts of tokens with a meaning in YAML or in a declaration, so that many texts pass the first checks. */
const pieces = fc.constantFrom(
  ..."project: p|services:|webhooks:|providers:|provider: beta|grants:|depends_on:|import: 1|moved:|removed:|import:|from: hosting_service.a|to: hosting_service.b|destroy: true|a|b|domain|: |- |? |, |\n|\n  |\n    |\t|{|}|[|]|&a |*a|<<: |!x |!!str |'|\"|#|\\|>-|---|...|%YAML 1.1\n|~|null|0x1|1e999|.nan|${|}|$${|${env.A}|${hosting_service.a.id}|hosting_service.b|__proto__|constructor|\uFEFF|\r\n|\u0000|\u2028|😀|\ud800|é".split(
    "|",
  ),
);
const texts = fc.oneof(
  fc.string({ unit: character, maxLength: 200 }),
  fc.array(pieces, { maxLength: 60 }).map((list) => list.join("")),
);

describe("any text", () => {
  it("results in a declaration or in errors at valid positions, never in an exception", () => {
    fc.assert(
      fc.property(texts, texts, (first, second) => {
        const { desired, diagnostics } = declareFiles({ "a.hosting.yaml": first, "b.hosting.yaml": second });
        expect(desired === undefined).toBe(diagnostics.length > 0);
        for (const { range, summary, code } of diagnostics) {
          expect(summary).not.toMatch(/undefined|\[object|NaN/);
          if (range === undefined) expect(code).toBe("config.too_large");
          else {
            const lines = (range.file === "a.hosting.yaml" ? first : second).replace(/^\uFEFF/, "").split("\n");
            const line = lines[range.line - 1];
            expect(line).toBeDefined();
            expect(range.column).toBeGreaterThan(0);
            expect(range.column).toBeLessThanOrEqual((line?.length ?? 0) + 1);
            const width = range.endLine === range.line ? range.endColumn - range.column : 0;
            expect(range.endLine).toBeGreaterThanOrEqual(range.line);
            expect(width).toBeGreaterThanOrEqual(0);
          }
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it("cannot set a prototype", () => {
    declare("services:\n  a: {__proto__: {polluted: 1}, labels: {constructor: {prototype: {polluted: 1}}}}\n");
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("a text that is built to be slow", () => {
  const half = 1024 * 512;
  it.each([
    ["closing brackets", "}".repeat(half)],
    ["quotes", '"'.repeat(half)],
    ["backslashes", `a: "${"\\".repeat(half)}"`],
    ["line ends", "\n".repeat(half)],
    ["anchors", "&a ".repeat(half / 3)],
    ["a number", `a: ${"9".repeat(half)}`],
    ["directives", "%TAG ! x\n".repeat(half / 9)],
    ["references in one string", `services:\n  a: {domain: "${"${hosting_service.a.id}".repeat(half / 23)}"}`],
    ["openings in one string", `services:\n  a: {domain: "${"${".repeat(half / 2)}"}`],
    [
      "a chain of references that closes",
      `services:\n${Array.from({ length: 5000 }, (_, i) => `  s${i}: {domain: "\${hosting_service.s${(i + 1) % 5000}.id}"}`).join("\n")}`,
    ],
    [
      "references that each want a suggestion",
      `services:\n${Array.from({ length: 5000 }, (_, i) => `  s${i}: {domain: "\${hosting_service.t${i}.id}"}`).join("\n")}`,
    ],
    ["aliases", `x-a: &a [1]\nx-b: [${"*a,".repeat(half / 12)}]`],
    // Each text takes less than a second. Quadratic time would be minutes.
  ])("%s take bounded time", { timeout: 30_000 }, (_, text) => {
    const elapsed = cpuTimer();
    declare(text);
    expect(elapsed()).toBeLessThan(10_000);
  });
});
