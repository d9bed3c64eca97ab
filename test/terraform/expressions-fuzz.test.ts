/**
 * Random expressions, evaluated by Terraform and by hostform: both results are equal, or hostform reports the
 * expression as unsupported. Part of `npm run test:long`.
 */
import { describe, expect, it } from "vitest";
import fc from "../support/fc.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { anyArithmetic, anyExpression } from "./expressions/grammar.ts";
import { askTerraform } from "./expressions/oracle.ts";
import { difference } from "./expressions/verdict.ts";

const LONG = process.env.HOSTFORM_LONG === "1";
const COUNT = Number(process.env.HOSTFORM_EXPRESSIONS ?? (LONG ? 2000 : 0));
const BATCH = 250;
const seed = Number(process.env.HOSTFORM_SEED ?? 20_261_121);

const describeSome = COUNT > 0 ? describeWith(TERRAFORM) : describe.skip;
const SEEDS = Array.from({ length: Math.ceil(COUNT / BATCH) }, (_, i) => seed + i);

describeSome("random", { timeout: 3_600_000 }, () => {
  const kinds = [
    ["expressions", anyExpression()],
    ["arithmetic", anyArithmetic()],
  ] as const;
  const cases = kinds.flatMap(([name, code]) => SEEDS.map((start) => [name, start, code] as const));
  it.each(cases)("%s with seed %i gives what Terraform computes", async (_, start, code) => {
    const texts = fc.sample(code, { numRuns: BATCH, seed: start }).map((text) => `\${${text}}`);
    const unique = [...new Set(texts)];
    const answers = await askTerraform(unique);
    const differences = unique.flatMap((text, i) => {
      const answer = answers[i];
      const what = answer === undefined ? "no answer" : difference(text, answer);
      return what === undefined ? [] : [`${text}\n    ${what}`];
    });
    expect(differences.join("\n")).toBe("");
  });
});
