/**
 * Terraform's expressions, evaluated by the real Terraform and by hostform: equal values, types, unknown parts and
 * marks of secrets. A file records the answers of Terraform 1.17, so the comparison also runs without Terraform.
 * `UPDATE_GOLDEN=1 vitest run test/terraform/expressions.test.ts` records the answers again.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { FUNCTION_NAMES, KNOWN_ELSEWHERE, ONLY_IN_OPENTOFU } from "../../src/core/expression/functions/index.ts";
import type { Json } from "../../src/core/model/index.ts";
import { sampled } from "../reliability/support/long.ts";
import { describeWith } from "../support/needing.ts";
import { engine, TERRAFORM } from "../support/programs.ts";
import { EXPRESSIONS, OLDER, TEMPLATES, UNSUPPORTED, WRONG } from "./expressions/corpus.ts";
import { type Answer, askTerraform, functionsOfTerraform } from "./expressions/oracle.ts";
import { difference, LANGUAGE, ourAnswer, ourVerdict } from "./expressions/verdict.ts";

const recorded = path.join(import.meta.dirname, "expressions/recorded.json");
const wrapped = (expressions: readonly string[]) => expressions.map((expression) => `\${${expression}}`);
const GROUPS = Object.entries(EXPRESSIONS).map(([name, group]) => [name, wrapped(group)] as const);
const ALL = [...GROUPS.flatMap(([, group]) => group), ...TEMPLATES];

/**
 * One line for each string: the string, its planned value, its secret parts, its value after the apply, and its type.
 */
type Line = readonly [text: string, planned: string, secret: Json, value: string, type: string];

async function readRecorded(): Promise<ReadonlyMap<string, Answer>> {
  const lines = JSON.parse(await readFile(recorded, "utf8")) as readonly Line[];
  return new Map(lines.map(([text, planned, secret, value, type]) => [text, { planned, secret, value, type }]));
}

function linesOf(texts: readonly string[], answers: readonly (Answer | { readonly error: string })[]): readonly Line[] {
  return texts.map((text, i) => {
    const answer = answers[i];
    if (answer === undefined || "error" in answer) throw new Error(`Terraform refuses ${text}: ${answer?.error}`);
    return [text, answer.planned, answer.secret, answer.value, answer.type];
  });
}

describe("expressions", () => {
  it("are many, each once", () => {
    expect(ALL.length).toBeGreaterThan(700);
    expect(new Set(ALL).size).toBe(ALL.length);
  });

  it.each([...GROUPS, ["templates", TEMPLATES] as const])(
    "have the values that Terraform gave them: %s",
    async (_, group) => {
      const answers = await readRecorded();
      expect(Object.fromEntries(group.map((text) => [text, ourAnswer(text)]))).toEqual(
        Object.fromEntries(group.map((text) => [text, answers.get(text)])),
      );
    },
  );

  it.each([...OLDER])("evaluates %s in the language of 1.11 to: %s", async (text, older) => {
    const { planned, ...answer } = (await readRecorded()).get(text) as Answer;
    expect(planned).not.toBe("?");
    if (older === "error") expect(ourVerdict(text, "1.11")).toHaveProperty("refused", "mistake");
    else expect(ourAnswer(text, "1.11")).toEqual({ ...answer, planned: "?" });
  });

  it.each(wrapped(WRONG))("refuses %s", (text) => {
    expect(ourVerdict(text)).toHaveProperty("refused");
  });

  it.each(wrapped(UNSUPPORTED))("says that it does not support %s", (text) => {
    expect(ourVerdict(text)).toHaveProperty("refused", "unsupported");
  });
});

describeWith(TERRAFORM)("the real Terraform", { timeout: 60_000 }, () => {
  it("gives the values that are recorded", async () => {
    const isUpdate = process.env.UPDATE_GOLDEN === "1";
    const newer = new Set(LANGUAGE === "1.11" ? OLDER.keys() : []);
    const asked = isUpdate ? ALL : sampled(ALL, 6).filter((text) => !newer.has(text));
    const lines = linesOf(asked, await askTerraform(asked));
    if (isUpdate) await writeFile(recorded, `[\n${lines.map((line) => JSON.stringify(line)).join(",\n")}\n]\n`);
    const answers = await readRecorded();
    expect([...answers.keys()]).toEqual(ALL);
    expect(new Map(asked.map((text) => [text, answers.get(text)]))).toEqual(
      new Map(lines.map(([text, planned, secret, value, type]) => [text, { planned, secret, value, type }])),
    );
  });

  it("answers as hostform does in its language, where versions differ", async () => {
    const texts = [...OLDER.keys()];
    const answers = await askTerraform(texts);
    expect(texts.map((text, i) => difference(text, answers[i] as Answer))).toEqual(texts.map(() => undefined));
    const isOld = LANGUAGE === "1.11";
    expect(answers.map((one) => ("error" in one ? "error" : one.planned === "?" ? "unknown" : "known"))).toEqual(
      [...OLDER.values()].map((older) => (isOld ? older : "known")),
    );
  });

  it("has no function that hostform has never heard of", () => {
    const known = new Set([...FUNCTION_NAMES, ...KNOWN_ELSEWHERE, "try", "can"]);
    const others = functionsOfTerraform().filter((name) => !known.has(name));
    expect(others).toEqual(engine()?.name === "OpenTofu" ? [...ONLY_IN_OPENTOFU] : []);
    expect(functionsOfTerraform().length).toBeGreaterThan(100);
  });

  it("refuses what hostform refuses as a mistake", async () => {
    const answers = await askTerraform(wrapped(WRONG));
    expect(WRONG.filter((_, i) => !("error" in (answers[i] ?? {})))).toEqual([]);
  });
});
