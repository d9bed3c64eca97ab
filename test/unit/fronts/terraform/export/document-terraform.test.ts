/** The real Terraform reads the same value from an export, and `terraform fmt` changes nothing. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { renderHcl, type TfDocument, type TfValue } from "../../../../../src/fronts/terraform/export/document.ts";
import { character, fc } from "../../../../support/fc.ts";
import { describeWith } from "../../../../support/needing.ts";
import { TERRAFORM } from "../../../../support/programs.ts";

const CASES = 400;

/** Draws texts of template characters and of any characters. Terraform writes texts in their composed form. */
const text = fc.oneof(
  fc
    .array(fc.constantFrom("$", "%", "{", "}", '"', "\\", "\n", "~", "a", " ", "${", "%{", "é", "\u202e", "👩‍👧"), {
      maxLength: 9,
    })
    .map((parts) => parts.join("")),
  fc.string({ unit: character }).map((any) => any.replaceAll("\0", "").toWellFormed().normalize("NFC")),
);

const { value } = fc.letrec<{ value: TfValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    // A template that Terraform joins to one text.
    fc
      .array(
        fc.oneof(
          text,
          text.map((word) => ({ code: `local.words[${JSON.stringify(slot(word))}]` })),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((template) => ({ template })),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.uniqueArray(fc.tuple(text, tie("value")), { selector: ([key]) => key, maxLength: 4 }).map((map) => ({ map })),
  ),
}));

/** The texts that templates refer to, by local name. */
const words = new Map<string, string>();
function slot(word: string): string {
  const name = `w${words.size}`;
  words.set(name, word);
  return name;
}

/** Returns the plain value that Terraform should read. */
function plain(of: TfValue): unknown {
  if (typeof of !== "object" || of === null) return of;
  if (Array.isArray(of)) return of.map(plain);
  const one = of as Exclude<typeof of, readonly TfValue[]>;
  if ("map" in one) return Object.fromEntries(one.map.map(([key, part]) => [key, plain(part)]));
  if ("template" in one) {
    return one.template.map((part) => (typeof part === "string" ? part : wordOf(part.code))).join("");
  }
  throw new Error("not generated");
}

const wordOf = (code: string) => words.get(/"(w\d+)"/.exec(code)?.[1] ?? "") ?? "";

describeWith(TERRAFORM)("Terraform reads what is written", { timeout: 60_000 }, () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), "hostform-hcl-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const terraform = async (...args: string[]): Promise<string> => {
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      TF_CLI_CONFIG_FILE: path.join(dir, "rc"),
      CHECKPOINT_DISABLE: "1",
    };
    const { stdout } = await promisify(execFile)("terraform", args, { cwd: dir, env, maxBuffer: 64e6 });
    return stdout;
  };

  it(`of ${CASES} values`, async () => {
    const values = fc.sample(value, CASES);
    const output = (name: string): TfDocument => ({
      comments: ["Any values."],
      blocks: [{ block: "output", labels: [name], body: [[{ name: "value", value: values }]] }],
    });
    await writeFile(path.join(dir, "rc"), "");
    await writeFile(path.join(dir, "hcl.tf"), renderHcl(output("hcl")));
    await writeFile(path.join(dir, "words.json"), JSON.stringify(Object.fromEntries(words)));
    await writeFile(path.join(dir, "words.tf"), 'locals {\n  words = jsondecode(file("words.json"))\n}\n');
    expect(await terraform("fmt", "-check", "-diff", "-no-color")).toBe("");
    await terraform("init", "-no-color");
    await terraform("apply", "-auto-approve", "-no-color");
    const outputs = JSON.parse(await terraform("output", "-json"));
    const expected = values.map(plain);
    expect(outputs.hcl.value).toEqual(expected);
  });
});
