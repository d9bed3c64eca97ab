import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { kinds } from "../../../src/core/kinds/index.ts";

const root = path.resolve(import.meta.dirname, "../../..");
// Formats are hints for editors. hostform itself validates the declaration.
const validatorOf = (name: string) =>
  new Ajv({ strict: true, allowUnionTypes: true, validateFormats: false, allErrors: true }).compile(
    JSON.parse(readFileSync(path.join(root, "schemas", name), "utf8")),
  );
const declared = validatorOf("hosting.schema.json");
const ruled = validatorOf("policy.schema.json");

/** Returns the errors that an editor would underline, as `path message`. */
function mistakes(yaml: string, validate = declared): string[] {
  const found = parseAllDocuments(yaml, { merge: true }).flatMap((document) => {
    validate(document.toJS());
    return validate.errors ?? [];
  });
  return found.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const service = (more: string) => `project: p\nservices:\n  a:\n    plan_id: 11\n    currency: USD\n${more}`;

describe("the editor's schema", () => {
  const examples = globSync("examples/**/*.yaml", { cwd: root });
  const isPolicy = (file: string) => file.startsWith("examples/policies/");

  it.each(examples.filter((file) => !isPolicy(file)))("accepts %s", (file) => {
    expect(mistakes(readFileSync(path.join(root, file), "utf8"))).toEqual([]);
  });

  it.each(examples.filter((file) => isPolicy(file) && file.endsWith("policy.yaml")))(
    "of policies accepts %s",
    (file) => {
      const text = readFileSync(path.join(root, file), "utf8");
      expect(mistakes(text, ruled)).toEqual([]);
      expect(mistakes(`${text}\nunknown_rule: 1\n`, ruled)).not.toEqual([]);
    },
  );

  it.each([...kinds.values()].map((kind) => [kind.type, kind.example]))("accepts the example of %s", (_, example) => {
    expect(mistakes(`project: p\n${example}`)).toEqual([]);
  });

  it.each([
    ["an expression in place of a number", service("    term: ${env.TERM}\n")],
    ["a word for a grant", service("    grants:\n      a@b.example: view\n")],
    ["an id as a number", "project: p\nmigration_requests:\n  m:\n    domain: a.example\n    order_id: 12\n"],
    [
      "structured answers",
      "project: p\nmigration_requests:\n  m:\n    domain: a.example\n    questions: {mail: [a, b], n: 3}\n",
    ],
    [
      "outputs, short and long",
      "project: p\noutputs:\n  id: ${hosting_service.a.id}\n  n: [1, a]\n  long: {value: {a: 1}, description: d, sensitive: true}\n",
    ],
    ["empty sections and anchors", "project: p\nservices:\nx-base: &b {a: 1}\n"],
    [
      "a password's source",
      service("    password: {env: PW}\n    secret_output: {env_file: {path: .env, name: PW}}\n"),
    ],
    [
      "a password in the environment",
      service("    password: ${env.PW}\n    secret_output: {command: [pass, insert]}\n"),
    ],
    ["several providers", "project: p\nproviders:\n  default:\n  beta: {token_env: B, requests_per_minute: 30}\n"],
    [
      "guards",
      "project: p\nguards: {max_orders: 3, max_spend: {USD: 20000}, max_removals: 5, max_removals_percent: 12.5}\n",
    ],
  ])("accepts %s", (_, yaml) => expect(mistakes(yaml)).toEqual([]));

  it.each([
    [
      "an output that is a map without `value`",
      "project: p\noutputs:\n  o: {a: 1}\n",
      "/outputs/o must have required property 'value'",
    ],
    ["a misspelt attribute", service("    terms: 3\n"), "/services/a must NOT have additional properties"],
    [
      "an unknown key of a template",
      "project: p\ntemplates:\n  a: {parameter: {b: 1}}\n",
      "/templates/a must NOT have additional properties",
    ],
    [
      "a template in the defaults",
      "project: p\ndefaults:\n  services: {template: a}\n",
      "/defaults/services must NOT have additional properties",
    ],
    [
      "a default of the wrong type",
      "project: p\ndefaults:\n  services: {plan_id: basic}\n",
      "/defaults/services/plan_id must be integer",
    ],
    [
      "a term that is not sold",
      service("    term: 5\n"),
      "/services/a/term must be equal to one of the allowed values",
    ],
    [
      "a list in a contact",
      "project: p\ndomains:\n  d:\n    registrant_contact: {phone: +1.5, postcode: 0108, company: [Kursiv]}\n",
      "/domains/d/registrant_contact/company must be string,number,boolean",
    ],
    [
      "a token",
      "project: p\nproviders:\n  default: {token: abc}\n",
      "/providers/default must NOT have additional properties",
    ],
    [
      "a password",
      service("    password: correct horse battery\n"),
      '/services/a/password must match pattern "\\$\\{"',
    ],
    [
      "two places for one secret",
      service("    secret_output: {file: a, command: [b]}\n"),
      "/services/a/secret_output must NOT be valid",
    ],
    ["an unknown section", "project: p\nservice: {}\n", " must NOT have additional properties"],
    [
      "too many requests",
      "project: p\nproviders:\n  beta: {requests_per_minute: 9000}\n",
      "/providers/beta/requests_per_minute must be <= 6000",
    ],
    [
      "a guard in a currency that does not exist",
      "project: p\nguards: {max_spend: {GBP: 1}}\n",
      "/guards/max_spend must NOT have additional properties",
    ],
    ["half an order", "project: p\nguards: {max_orders: 1.5}\n", "/guards/max_orders must be integer"],
  ])("underlines %s", (_, yaml, mistake) => expect(mistakes(yaml)).toContain(mistake));
});
