import { describe, expect, it } from "vitest";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { type EvalScope, ExpressionError, UNKNOWN, type Value } from "../../../../src/core/model/index.ts";
import { parseDeclaration } from "../../../../src/fronts/yaml/index.ts";
import { reported } from "./fakes.ts";

const RESOURCES = `providers: {other: {token_env: OTHER_TOKEN}}
services:
  a: {plan_id: 11, currency: USD, domain: a.example, password: {env: WWW_PASSWORD}, password_version: 1, grants: {x@a.example: view}}
webhooks:
  hook: {url: https://h.example/, events: [invoice.paid, invoice.created]}
  next: {url: "https://h.example/\${hosting_webhook.hook.secret}", events: [invoice.paid]}
domains:
  d: {domain: d.example, currency: USD, registrant_contact: {city: Berlin}}
`;

const declare = (outputs: string, env: Record<string, string> = {}) =>
  parseDeclaration([{ path: "hosting.yaml", text: `project: p\n${RESOURCES}${outputs}` }], { kinds, env });

const SECRETS = { HOSTING_TOKEN: "t", OTHER_TOKEN: "t", WWW_PASSWORD: "p" };

/** Line of `outputs`. */
const FIRST = 10;

const RECORDED: Record<string, Value> = {
  "hosting_service.a": { id: "1001", plan_id: 11, coupon_code: null, status: "live" },
  "hosting_webhook.hook": {
    id: "5",
    events: ["invoice.paid", "invoice.created"],
    secret: "whsec",
    secret_output: null,
  },
  "hosting_domain.d": { registrant_contact: { city: "Berlin" } },
};

const scope: EvalScope = { resource: (address) => RECORDED[address], env: (name) => ({ SET: "x" })[name] };

/** Evaluates the only output of a declaration. */
function evaluated(value: string, of: EvalScope = scope) {
  const { desired, diagnostics } = declare(`outputs:\n  o: {value: ${value}, sensitive: true}\n`, { SET: "x" });
  expect(reported(diagnostics)).toEqual([]);
  return desired?.outputs?.[0]?.evaluate(of);
}

describe("outputs in YAML", () => {
  it("may be short or long, and have their references and positions", () => {
    const { desired, diagnostics } = declare(
      "outputs:\n  id: ${hosting_service.a.id}\n  list: [1, x]\n  note: {value: n, description: A note, sensitive: true}\n",
    );
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.outputs).toMatchObject([
      {
        name: "id",
        sensitive: false,
        config: "${hosting_service.a.id}",
        references: [{ reference: { to: "resource", address: "hosting_service.a" }, path: [] }],
        range: { line: FIRST + 1, column: 3 },
      },
      { name: "list", config: [1, "x"], references: [] },
      { name: "note", description: "A note", sensitive: true, config: "n" },
    ]);
  });

  it("are undefined without a section, which keeps the recorded outputs, and empty with an empty section", () => {
    expect(declare("").desired?.outputs).toBeUndefined();
    expect(declare("outputs:\n").desired?.outputs).toEqual([]);
    expect(declare("outputs: {}\n---\noutputs: {a: 1}\n").desired?.outputs).toMatchObject([{ name: "a" }]);
  });

  it.each<[string, Value, unknown]>([
    ["${hosting_service.a.id}", "1001", "string"],
    ["${hosting_service.a.plan_id}", 11, "number"],
    ["${hosting_service.a.coupon_code}", null, "string"],
    ["id ${hosting_service.a.id}", "id 1001", "string"],
    ["${env.SET}", "x", "string"],
    ["$${literal}", "${literal}", "string"],
    ["${hosting_webhook.hook.events}", ["invoice.created", "invoice.paid"], ["set", "string"]],
    ["${hosting_webhook.hook.events[0]}", "invoice.paid", "string"],
    ["${hosting_domain.d.registrant_contact}", { city: "Berlin" }, ["map", "string"]],
    ["${hosting_domain.d.registrant_contact.city}", "Berlin", "string"],
    ["true", true, "bool"],
    ["12.5", 12.5, "number"],
    ["[]", [], ["tuple", []]],
    ["[1, x]", [1, "x"], ["tuple", ["number", "string"]]],
    [
      "{e: '${hosting_webhook.hook.events}', n: null}",
      { e: ["invoice.created", "invoice.paid"], n: null },
      ["object", { e: ["set", "string"], n: "dynamic" }],
    ],
  ])("%s is %j of type %j", (text, value, type) => {
    const quoted = /^[[{]|^true$|^12/.test(text) ? text : `'${text}'`;
    expect(evaluated(quoted)).toMatchObject({ value, type });
  });

  it("contain every attribute of an object's type, because Terraform could not read the state otherwise", () => {
    const of: EvalScope = {
      ...scope,
      resource: () => ({ secret_output: { file: "hook" } }),
    };
    const found = evaluated("'${hosting_webhook.hook.secret_output}'", of);
    const [form, types] = (found?.type ?? []) as [string, object];
    expect(form).toBe("object");
    expect(Object.keys(found?.value as object).sort()).toEqual(Object.keys(types).sort());
    expect(found?.value).toMatchObject({ file: "hook", command: null });
  });

  it("have the type of their value if the value does not fit the schema", () => {
    const of: EvalScope = { ...scope, resource: () => ({ plan_id: "eleven" }) };
    expect(evaluated("'${hosting_service.a.plan_id}'", of)).toMatchObject({ value: "eleven", type: "string" });
  });

  it("may be partly unknown", () => {
    const of: EvalScope = { ...scope, resource: () => ({ id: UNKNOWN, events: UNKNOWN }) };
    expect(evaluated("'${hosting_webhook.hook.events}'", of)).toMatchObject({
      value: UNKNOWN,
      type: ["set", "string"],
    });
    expect(evaluated("['${hosting_service.a.id}', k]", of)).toMatchObject({ value: [UNKNOWN, "k"] });
  });

  it("are secret if they contain a secret, directly or through another attribute", () => {
    expect(evaluated("'${hosting_service.a.id}'")?.origin).toBeUndefined();
    expect(evaluated("'${hosting_webhook.hook.secret}'")?.origin?.from).toEqual(["hosting_webhook.hook.secret"]);
    expect(
      evaluated("['${hosting_webhook.next.url}']", { ...scope, resource: () => ({ url: "u" }) })?.origin?.from,
    ).toEqual(["hosting_webhook.hook.secret"]);
    expect(evaluated("'${env.SET}'")?.origin?.from).toEqual(["env.SET"]);
  });

  it("fail at their position when they are evaluated", () => {
    const of: EvalScope = { ...scope, resource: () => ({ status: "live" }) };
    expect(() => evaluated("'${hosting_service.a.status.x}'", of)).toThrow(ExpressionError);
  });

  it.each([
    ["o: ${hosting_webhook.hook.secret}", 6, 'config.secret: The output "o" would show a secret'],
    ["o: 'x ${hosting_webhook.next.url}'", 9, 'config.secret: The output "o" would show a secret'],
    [
      "o: {value: '${hosting_webhook.hook.secret}', sensitive: false}",
      15,
      'config.secret: The output "o" would show a secret',
    ],
    [
      "o: ${hosting_service.b.id}",
      6,
      'config.reference: No resource hosting_service.b is declared. Did you mean "hosting_service.a"?',
    ],
    ["o: ${hosting_service.a.idd}", 6, 'config.reference: A service has no attribute "idd". Did you mean "id"?'],
    ["o: ${hosting_service.a.password}", 6, /^config.reference: hosting_service.a.password is write-only/],
    ["o: ${env.UNSET}", 6, "config.environment: The environment variable UNSET is not set"],
    ["o: ${upper(x)}", 6, /^config.expression: "upper\(x\)" is not a reference/],
    [
      "o: {value: '${env.HOSTING_TOKEN}', sensitive: true}",
      15,
      'config.secret: The output "o" would write a secret to the state: the environment variable HOSTING_TOKEN',
    ],
    ["o: {value: ['x ${env.WWW_PASSWORD}'], sensitive: true}", 18, /would write a secret.*WWW_PASSWORD$/],
    ["o: {value: '${env.OTHER_TOKEN}', sensitive: true}", 15, /would write a secret.*OTHER_TOKEN$/],
    ["o:", 3, 'config.missing_attribute: The output "o" has no value'],
    ["o: null", 6, 'config.missing_attribute: The output "o" has no value'],
    ["o: {description: d}", 3, 'config.missing_attribute: The output "o" has no value'],
    ["o: {value: 1, type: x}", 17, 'config.unknown_key: An output has no "type"'],
    ["o: {value: 1, sensitive: 'yes'}", 28, 'config.structure: `sensitive` of the output "o" must be true or false'],
    ["o: {value: 1, description: '${env.SET}'}", 30, /^config.structure: The `description` of the output "o"/],
    ["'1o': 1", 3, 'config.structure: "1o" cannot be the name of an output'],
  ])("%s is an error at column %i", (text, column, expected) => {
    const found = reported(declare(`outputs:\n  ${text}\n`, SECRETS).diagnostics);
    expect(found).toHaveLength(1);
    expect(found[0]?.slice(0, found[0].indexOf(" "))).toBe(`${FIRST + 1}:${column}`);
    const words = found[0]?.slice(found[0].indexOf(" ") + 1) ?? "";
    if (typeof expected === "string") expect(words).toBe(expected);
    else expect(words).toMatch(expected);
  });

  it.each([
    "HOSTING_OTHER_TOKEN",
    "HOSTFORM_STATE_OLD_KEY",
    "HOSTFORM_STATE_NEW_PASSPHRASE",
    "TF_HTTP_PASSWORD",
    "PGPASSWORD",
    "PG_CONN_STR",
  ])("never record the credentials in %s", (name) => {
    const text = `outputs: {o: {value: "\${env.${name}}", sensitive: true}}\n`;
    expect(reported(declare(text, { ...SECRETS, [name]: "x" }).diagnostics)).toEqual([
      expect.stringMatching(`config.secret: .*environment variable ${name}$`),
    ]);
  });

  it("must not be declared twice, in any document", () => {
    const { diagnostics } = declare("outputs: {a: 1}\n---\noutputs: {a: 2}\n");
    expect(diagnostics.map(({ summary }) => summary)).toEqual([
      'The output "a" is declared twice',
      'The output "a" is declared twice',
    ]);
  });

  it("cannot contain a secret that secret_output removes from the state", () => {
    const text = RESOURCES.replace(
      "events: [invoice.paid, invoice.created]",
      "events: [invoice.paid], secret_output: {file: s}",
    );
    const { diagnostics } = parseDeclaration(
      [
        {
          path: "hosting.yaml",
          text: `project: p\n${text}outputs: {o: {value: "\${hosting_webhook.hook.secret}", sensitive: true}}\n`,
        },
      ],
      { kinds, env: {} },
    );
    expect(diagnostics.at(-1)?.summary).toMatch(/is not in the state/);
  });
});
