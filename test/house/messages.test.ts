/** Checks every message of the catalogue with sample parameters: its remedies in each front, and its language. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import { catalogue, problem } from "../../src/core/messages/index.ts";
import type { Diagnostic } from "../../src/core/model/index.ts";
import { stackRemedies } from "../../src/fronts/stacks/remedies.ts";
import { terraformRemedies } from "../../src/fronts/terraform/remedies.ts";
import { yamlRemedies } from "../../src/fronts/yaml/remedies.ts";
import { resource, samples } from "../support/messages.ts";

const say = problem as (name: string, given: object) => Diagnostic;
const all = Object.entries(samples).flatMap(([name, of]) =>
  (of as readonly object[]).map((given, at) => ({ name, at, said: say(name, given) })),
);
const kind = kinds.get("hosting_service");
const fronts = { yaml: yamlRemedies, stack: stackRemedies("--stack out"), terraform: terraformRemedies(kind) };

/** Returns the texts of a diagnostic from the core, without the remedies that a front renders. */
const wordsOf = ({ summary, detail = "", remedies = [] }: Diagnostic) =>
  [summary, detail, ...remedies.flatMap((one) => (typeof one === "string" ? one : (one.when ?? [])))].join("\n");

const NOTHING_TO_DO = [
  ...["apply.replayed", "apply.replayed/found", "secret.lost", "store.waiting/lists"],
  ...["config.expression", "interrupted", "api.cancelled"],
];
/** Messages that the Terraform provider never prints. */
const OF_THE_ENGINE = /^(?:guard|plan\.address|config\.reference)\b/;
/** A state has the format of Terraform, and a tool of the system generates its key. */
const isOfState = /^state\./;
const OF_STATES = /\b(?:Terraform|JSON|openssl rand -base64 \d+)\b/g;
const MOST_CHARACTERS = 200;
const MOST_WORDS = 25;
const BEGINNINGS = /^(?:What|Whether|Which|Where|How|Of)\b/m;
const VERBS = /\b(?:made|noted|said|shown|seen)\b/;
const TAILS = /, (?:too|as well|either)\b|\b(?:it is not known|a few|there is|there are)\b/i;
/** Words that readers of hostform misunderstood, because the field uses other words. */
const OTHER_WORDS =
  /\b(?:turns? to create|sign of life|circle|(?<!\.)damaged|switched off|held back|handed over|has no answer|as recorded|declared so|one of the two\.)(?!\w)/i;

describe.each(all)("$name, sample $at", ({ name, said }) => {
  const words = wordsOf(said);
  const sentences = words.split(/[.:;]?\n|[.:;] /).filter((sentence) => sentence !== "");

  it("has the code of its name, and a summary that ends without a full stop", () => {
    expect(said.code).toBe(name.split("/")[0]);
    expect(said.summary).toMatch(/[^.\s]$/);
    expect(said.detail ?? "A.").toMatch(/^\S.*[.?]$/s);
  });

  const voices = Object.entries(fronts).filter(([front]) => front !== "terraform" || !OF_THE_ENGINE.test(name));

  it.each(voices)("has a remedy in the words of %s, unless no action is needed", (_, render) => {
    if (NOTHING_TO_DO.includes(name)) expect(said).not.toHaveProperty("remedies");
    else expect(render(said)).toMatch(/\S[.`]$/);
  });

  it("contains no undefined parameter", () => {
    expect(words).not.toMatch(/undefined|null|NaN|\[object|\(\)| {2}/);
  });

  it("contains no command, flag, syntax or program name of a front", () => {
    expect(isOfState.test(name) ? words.replace(OF_STATES, "") : words).not.toMatch(
      /`|(?<!\w|mkdir )--?[a-z]|\b(?:terraform|hostform|declaration|configuration|block|YAML|HCL|JSON)\b/i,
    );
  });

  it("has short facts and short sentences", () => {
    expect([...said.summary, ...(said.detail ?? "")].length).toBeLessThanOrEqual(MOST_CHARACTERS);
    expect(sentences.filter((sentence) => sentence.split(" ").length > MOST_WORDS)).toEqual([]);
  });

  it("follows the rules of the language", () => {
    expect(sentences.filter((one) => [BEGINNINGS, VERBS, TAILS, OTHER_WORDS].some((rule) => rule.test(one)))).toEqual(
      [],
    );
  });
});

it("the catalogue has no name twice", async () => {
  const folder = path.resolve(import.meta.dirname, "../../src/core/messages");
  const subjects = globSync("*.ts", { cwd: folder }).filter(
    (file) => !/^(?:index|message|expressions)\.ts$/.test(file),
  );
  const names: string[] = [];
  for (const file of subjects)
    for (const subject of Object.values(await import(path.join(folder, file))))
      if (typeof subject === "object" && subject !== null) names.push(...Object.keys(subject));
  expect(names.toSorted()).toEqual(Object.keys(catalogue).toSorted());
});

it("the compiler rejects a fixed severity, an unknown name and a missing parameter", () => {
  const [one] = samples["plan.exists"];
  // @ts-expect-error: only a message with both severities takes a severity.
  const severe = () => problem("plan.exists", { ...one, severity: "warning" });
  // @ts-expect-error: no message has this name.
  const unknown = () => problem("plan.exist", {});
  // @ts-expect-error: a parameter is missing.
  const missing = () => problem("store.busy", { place: "x" });
  expect([severe, unknown, missing]).toHaveLength(3);
});

it.each(["warning", "error"] as const)("a message with both severities is a %s if the caller passes it", (severity) => {
  expect(problem("plan.pending/blind", { ...resource, severity })).toMatchObject({ severity });
});

it("no code changes the severity of a diagnostic after its creation", () => {
  const root = path.resolve(import.meta.dirname, "../../src");
  const changing = globSync("**/*.ts", { cwd: root }).filter((file) =>
    /\.\.\.[^{};]*\bseverity: ?["']|\bseverity: _/.test(readFileSync(path.join(root, file), "utf8")),
  );
  expect(changing).toEqual([]);
});

describe("a name in braces", () => {
  it("is replaced by its parameter, and a value with braces or `$` stays as it is", () => {
    const { summary, detail, remedies } = say("store.newer", { place: "{place} $& {detail}" });
    expect(summary).toBe("A newer version wrote {place} $& {detail}");
    expect(detail).toBe("This version cannot write to {place} $& {detail}.");
    expect(remedies).toEqual(["Use the newer version, or set HOSTFORM_STATE_HOME to another folder."]);
  });
});
