import { describe, expect, it } from "vitest";
import { renderPlanHtml, renderPlanMarkdown } from "../../../src/report/index.ts";
import fc from "../../support/fc.ts";
import { change, plain, plan } from "./builders.ts";

/** Returns the first characters of the lines that a code host colours in a comment's diff. */
const coloured = (markdown: string) =>
  (/```diff\n([\s\S]*?)```/.exec(markdown)?.[1] ?? "")
    .split("\n")
    .filter((line) => /^[-+!@#*=]|^(?:diff|index|Index)\b/.test(line))
    .map((line) => line[0])
    .join("");
const classes = (html: string) => [...html.matchAll(/<span class="(\w+)">/g)].map(([, name]) => name).join(" ");

/** Returns a plan that creates and updates a text of several lines. */
const planOf = (before: string, after: string) =>
  plan([
    change({ actions: ["create"], after: { notes: after } }),
    change({ actions: ["update"], before: { notes: before }, after: { notes: after } }),
  ]);

describe("the signs of a plan", () => {
  it("are no signs in a line of a text, in the comment and on the page", () => {
    const word = fc.constantFrom("- ", "+ ", "~ ", "! ", "-/+ ", "  - ", "      - ", "@@ ", "# ", "--- ", "    ");
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (words) => {
        const text = (first: (word: string) => string) => ["same", ...words.map((one) => `${first(one)}x`)].join("\n");
        const [hostile, harmless] = [(one: string) => one, (one: string) => ".".repeat(one.length)].map((first) => {
          const whole = text(first);
          return planOf(`${whole}\nold`, `${whole}\nnew`);
        });
        if (hostile === undefined || harmless === undefined) return;
        const options = plain;
        expect(coloured(renderPlanMarkdown(hostile, options))).toBe(coloured(renderPlanMarkdown(harmless, options)));
        expect(classes(renderPlanHtml(hostile, options))).toBe(classes(renderPlanHtml(harmless, options)));
      }),
    );
  });

  it("stand first in the comment where a line of a text changes", () => {
    const markdown = renderPlanMarkdown(planOf("- one\n- two", "- one\n- three"), plain);
    expect(markdown.split("\n").filter((line) => /- (?:one|two|three)/.test(line))).toEqual([
      "            - one",
      "            - three",
      "            - one",
      "-           - two",
      "+           - three",
    ]);
  });
});
