import path from "node:path";
import type { Bounds } from "../../core/files/index.ts";
import { type Diagnostic, fail, failWith, ifExplained, UNKNOWN } from "../../core/model/index.ts";
import { type GivenVariable, readValuesFile } from "../../fronts/stacks/index.ts";
import { problem } from "../messages.ts";
import type { Redaction } from "../redaction.ts";
import { textsIn } from "../secrets.ts";
import { allNamesIn, readText } from "./files.ts";
import type { Given, LoadedStack, VariableOption } from "./stack.ts";

interface VariableSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shortens a path for messages. */
  near(file: string): string;
  /** Returns true if the variable must be withheld from the stack. */
  readonly refuses?: ((name: string) => boolean) | undefined;
  /** Bounds of files that the user names. Undefined: any readable file. */
  readonly named?: Bounds | undefined;
}

const PREFIX = "TF_VAR_";

/**
 * Collects the values of variables in Terraform's order of precedence: environment (`TF_VAR_…` of declared variables),
 * `terraform.tfvars.json`, `*.auto.tfvars.json` sorted by name, options.
 * @returns all values (of several, the last counts), and one error for each unreadable or unsupported file.
 */
export async function givenVariables(
  { folder, root = folder, links = true, outline }: Pick<LoadedStack, "folder" | "root" | "links" | "outline">,
  options: readonly VariableOption[],
  { env, near, refuses, named }: VariableSources,
) {
  const given: Given[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of outline.variables.keys()) {
    const text = Object.hasOwn(env, PREFIX + name) ? env[PREFIX + name] : undefined;
    if (text !== undefined && refuses?.(PREFIX + name) === true)
      diagnostics.push(problem("trust.untrusted/variable", { name }));
    else if (text !== undefined) given.push({ name, from: PREFIX + name, value: { text }, outside: true });
  }
  const mistaken = ifExplained((error) => {
    diagnostics.push(...error.diagnostics);
    return [];
  });
  const take = async (file: string, own: Bounds | undefined, place: Pick<Given, "outside"> = {}) => {
    const found = await variablesFile(file, near(file), own).catch(mistaken);
    given.push(...found.map((one) => ({ ...one, ...place })));
  };
  // Terraform ignores hidden configuration files, but not hidden variable files.
  const names = await allNamesIn(folder, { shown: near(folder) });
  const main = names.filter((name) => /^terraform\.tfvars(?:\.json)?$/.test(name));
  const automatic = names.filter((name) => /\.auto\.tfvars(?:\.json)?$/.test(name));
  for (const name of [...main, ...automatic]) await take(path.join(folder, name), { roots: [root], links });
  for (const option of options) {
    if ("file" in option) await take(option.file, named, { outside: true });
    else given.push({ name: option.name, from: "-var", value: { text: option.text }, outside: true });
  }
  return { given, diagnostics };
}

/** @throws HostformError `stack.variables`, `stack.files`, `trust.file`. */
async function variablesFile(file: string, shown: string, own: Bounds | undefined): Promise<Given[]> {
  if (!file.endsWith(".json")) {
    refuse(
      `${shown} is HCL, which hostform does not read`,
      'Write the values as JSON, in a file that ends in `.json`: `plan = 11` becomes `{"plan": 11}` in terraform.tfvars.json.',
    );
  }
  const { text } = await readText(file, shown, own);
  const { values, diagnostics } = readValuesFile({ path: shown, text });
  failWith(diagnostics);
  if (values === undefined) {
    refuse(`${shown} is not a JSON object of values by name`, 'Write `{"plan": 11, "domain": "acme.example"}`.');
  }
  return Object.entries(values).map(([name, value]) => ({ name, from: shown, value: { json: value } }));
}

function refuse(summary: string, fix: string): never {
  fail("stack.variables", summary, { remedies: [fix] });
}

/** Returns the values for an untrusted stack. Omits values of sensitive variables from outside the project. */
export function openVariables(
  { variables }: LoadedStack["outline"],
  given: readonly Given[],
): readonly GivenVariable[] {
  const withheld = ({ name, outside }: Given) => outside === true && variables.get(name)?.sensitive === true;
  return given.map((one) => (withheld(one) ? { ...one, value: { json: UNKNOWN } } : one));
}

/** Registers the values and defaults of sensitive variables for redaction. */
export function learnVariables(
  redaction: Redaction,
  { variables }: LoadedStack["outline"],
  given: readonly Given[],
): void {
  for (const [name, { sensitive, default: fallback = null }] of variables) {
    if (!sensitive) continue;
    const values = given.flatMap(({ name: of, value }) =>
      of !== name ? [] : ["json" in value ? value.json : value.text],
    );
    // The string may be a list or map with secret parts.
    const parts = values.flatMap((text) =>
      typeof text === "string" ? [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inner = ""]) => inner) : [],
    );
    redaction.learn(`var.${name}`, [...values, fallback].flatMap(textsIn), parts);
  }
}
