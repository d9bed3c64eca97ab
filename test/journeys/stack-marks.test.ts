/**
 * A sensitive variable of a stack, passed through functions, templates, loops and splats: hostform hides it in every
 * output.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

/** Results of expressions on `Geheim-Wort-77`, and on `Abc-7`, which is too short for a search inside a text. */
const FORMS: readonly (readonly [expression: string, long: string, short: string])[] = [
  ["${upper(var.t)}", "GEHEIM-WORT-77", "ABC-7"],
  ["${strrev(var.t)}", "77-troW-mieheG", "7-cbA"],
  ['${join("/", [for c in split("-", var.t) : "${c}${c}"])}', "GeheimGeheim/WortWort/7777", "AbcAbc/77"],
  ['${join("+", local.parts[*].name)}', "xGeheim+xWort+x77", "xAbc+x7"],
  ['${length(var.t) > 3 ? "w-${lower(var.t)}" : "no"}', "w-geheim-wort-77", "w-abc-7"],
  ['%{ for c in split("-", var.t) }${upper(c)}.%{ endfor }', "GEHEIM.WORT.77.", "ABC.7."],
  ['${try(tonumber(var.t), replace(var.t, "-", "_"))}', "Geheim_Wort_77", "Abc_7"],
  ["${values({for k, v in {a = var.t} : k => title(v)})[0]}x", "Geheim-Wort-77x", "Abc-7x"],
];

function declareStack({ dir }: Project, resource: object, output: object = {}): void {
  mkdirSync(path.join(dir, "infra"), { recursive: true });
  const stack = {
    provider: { hosting: [{ project: "marks" }] },
    variable: { t: { type: "string", sensitive: true } },
    locals: { parts: '${[for p in split("-", var.t) : {name = "x${p}"}]}' },
    terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
    resource,
    output,
  };
  writeFileSync(path.join(dir, "infra/main.tf.json"), JSON.stringify(stack));
}

/** Returns the output of these commands, and checks their exit code. */
async function shownBy(project: Project, code: number, ...commands: readonly string[][]): Promise<string> {
  let shown = "";
  for (const command of commands) {
    const ran = await project.run(...command, "--stack", "infra");
    expect(ran.code, ran.text).toBe(code);
    shown += ran.text;
  }
  return shown;
}

const PLANS = [["validate"], ["plan"], ["plan", "--json"]];

/** Returns one block for each expression. */
const each = (of: (expression: string) => object) =>
  Object.fromEntries(FORMS.map(([expression], i) => [`n${i}`, of(expression)]));

describe("what functions, templates, loops, splats and conditions make of a secret", () => {
  it.each([
    ["a long one", "Geheim-Wort-77", FORMS.map(([, long]) => long)],
    ["a short one", "Abc-7", FORMS.map(([, , short]) => short)],
  ])("is in no message about a value that is refused: %s", async (_, value, made) => {
    const project = await startProject({ env: { TF_VAR_t: value } });
    declareStack(project, {
      hosting_grant: each((text) => ({ service_id: "7", email: `!${text}`, permission: text })),
      hosting_service: each((text) => ({ plan_id: 11, currency: text, domain: `!${text}` })),
      hosting_webhook: each((text) => ({ url: `!${text}`, events: [text] })),
    });
    const shown = await shownBy(project, 1, ...PLANS);
    // The text merges equal errors, and these values have two different errors. JSON lists each error.
    const inTexts = 2 * (PLANS.length - 1);
    expect(shown.match(/expected a domain name/g)).toHaveLength(FORMS.length + inTexts);
    for (const text of made) expect(shown).not.toContain(text);
  });

  it("is in no plan, in no outcome, and in no message about a change that cannot be made", async () => {
    const project = await startProject({ env: { TF_VAR_t: "Geheim-Wort-77" } });
    const output = each((value) => ({ value, sensitive: true }));
    const accounts = (more: string) => ({ hosting_client_account: each((text) => ({ name: `${text}${more}` })) });
    declareStack(project, accounts(""), output);
    let shown = await shownBy(project, 0, ...PLANS, ["apply", "--auto-approve"], ["plan"], ["state", "list"]);
    declareStack(project, accounts(" again"), output);
    shown += await shownBy(project, 1, ...PLANS.slice(1), ["apply", "--auto-approve", "--json"]);
    for (const [, long] of FORMS) {
      expect(shown).not.toContain(long);
      expect(JSON.stringify(project.control.list("accounts")), "it was sent").toContain(long);
    }
  });
});
