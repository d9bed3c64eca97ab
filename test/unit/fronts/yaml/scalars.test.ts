import { describe, expect, it } from "vitest";
import { resolveConfig, scopeOf, validateDesired } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { JsonObject } from "../../../../src/core/model/index.ts";
import { parseDeclaration } from "../../../../src/fronts/yaml/declaration.ts";
import { expandedYaml, formatYaml } from "../../../../src/fronts/yaml/format.ts";
import { fc, runs } from "../../../support/fc.ts";
import { reported } from "./fakes.ts";

const read = (...texts: string[]) =>
  parseDeclaration(
    texts.map((text, i) => ({ path: `${i}.hosting.yaml`, text })),
    { kinds, env: {} },
  );

/** Returns every diagnostic of `validate`. */
function problems(...texts: string[]): string[] {
  const { desired, partial, diagnostics } = read(...texts);
  const known = desired ?? partial;
  return reported([...diagnostics, ...(known === undefined ? [] : validateDesired(known, kinds, {}))]);
}

/** Returns the body of the request that creates the resource named `x`; undefined for an invalid declaration. */
function body(...texts: string[]): JsonObject | undefined {
  if (problems(...texts).length > 0) return undefined;
  const resource = read(...texts).desired?.resources.find(({ address }) => /^\w+\.x$/.test(address));
  const kind = kinds.get(resource?.type ?? "");
  if (resource === undefined || kind === undefined) throw new Error("no resource x is declared");
  const { config } = resolveConfig(
    kind,
    resource,
    scopeOf(() => undefined, {}),
  );
  return kind.create(config as JsonObject, "key").body as JsonObject;
}

const PROJECT = "project: p\n";
const DOMAIN = { domain: "acme.example", years: 1, currency: "USD", nameserver_mode: "default" };
/** Returns a domain with or without a contact. */
const domain = (contact?: string, more: object = {}) =>
  `domains:\n  x:\n${lines({ ...DOMAIN, ...more })}${contact === undefined ? "" : `    registrant_contact:\n      ${contact}\n`}`;
const lines = (of: object) =>
  Object.entries(of)
    .map(([key, value]) => `    ${key}: ${JSON.stringify(value)}\n`)
    .join("");
const indent = (text: string, by: number) => text.replaceAll("\n", `\n${" ".repeat(by)}`);
const contact = (it: string) => `k: ${indent(it, 8)}`;
const template = (it: string) => `templates:\n  t:\n    registrant_contact:\n      ${contact(it)}\n`;
const parameter = (text: string, value: string, given: string) =>
  `templates:\n  t:\n    parameters:\n      v: ${indent(value, 8)}\n    registrant_contact:\n      k: "${text}"\n${domain(undefined, { template: "t" })}${given}`;
const useWith = (it: string) => `    with:\n      v: ${indent(it, 8)}\n`;

interface Way {
  /** Returns the files of a declaration in which a string of the resource `x` is this scalar. */
  files(scalar: string): string[];
  /** Returns the string from the request body. Default: the field `k` of a domain's contact. */
  sent?(body: JsonObject): unknown;
  /** True if only single-line scalars are possible here. */
  readonly isLine?: true;
}

/** Ways from a scalar to a string in a request. A new way needs one entry. */
const WAYS: Readonly<Record<string, Way>> = {
  "a map of texts": { files: (it) => [PROJECT + domain(contact(it))] },
  "an attribute": {
    files: (it) => [`${PROJECT}client_accounts:\n  x:\n    name: ${indent(it, 6)}\n`],
    sent: ({ name }) => name,
  },
  "a map in braces": {
    files: (it) => [`${PROJECT}${domain()}    registrant_contact: {k: ${it}, other: a}\n`],
    isLine: true,
  },
  "an alias": { files: (it) => [`${PROJECT}x-it: &it ${indent(it, 2)}\n${domain(contact("*it"))}`] },
  "a merge key": {
    files: (it) => [`${PROJECT}x-it: &it\n  k: ${indent(it, 4)}\n${domain("<<: *it\n      other: a")}`],
  },
  "the defaults": {
    files: (it) => [`${PROJECT}defaults:\n  domains:\n    registrant_contact:\n      ${contact(it)}\n${domain()}`],
  },
  "a template": { files: (it) => [PROJECT + template(it) + domain(undefined, { template: "t" })] },
  "a parameter": { files: (it) => [PROJECT + parameter("${v}", "", useWith(it))] },
  "a parameter with a default": { files: (it) => [PROJECT + parameter("${v}", "1", useWith(it))] },
  "the default of a parameter": { files: (it) => [PROJECT + parameter("${v}", it, "")] },
  "a parameter in a longer text": {
    files: (it) => [PROJECT + parameter("a${v}z", "", useWith(it))],
    sent: ({ registrant_contact }) => String((registrant_contact as JsonObject).k).slice(1, -1),
  },
  "another file": { files: (it) => [PROJECT, domain(contact(it))] },
  "another document": { files: (it) => [`${PROJECT}---\n${domain(contact(it))}`] },
  "Windows line ends": { files: (it) => [(PROJECT + domain(contact(it))).replaceAll("\n", "\r\n")], isLine: true },
  "a byte order mark": { files: (it) => [`\uFEFF${PROJECT}${domain(contact(it))}`] },
  "the one form": { files: (it) => [formatYaml({ path: "a.yaml", text: PROJECT + domain(contact(it)) }, kinds)] },
  "the expanded declaration": {
    files: (it) => [
      expandedYaml([{ path: "a.yaml", text: PROJECT + template(it) + domain(undefined, { template: "t" }) }], kinds),
    ],
  },
};

const SEEN =
  "+1.7035551230 1e3 1.10 0x10 0o17 1_000 010 .5 1. +5 -0 -0.0 +.5e-3 1E5 1e+5 true True TRUE false False yes no on off Yes y n 12:30 1:02:03 2026-11-28 2026-11-28T10:00:00Z nullish NULLs Nan inf 9007199254740993 12345678901234567890 0.1234567890123456789 0b1 0xff 007 1.0 100.00 2e2".split(
    " ",
  );
/** Draws unquoted scalars, with many numbers, dates and words of YAML. */
const plain = fc
  .oneof(
    fc.constantFrom(...SEEN),
    fc.stringMatching(/^[-+]?(?:0[xo]?)?[0-9_]{0,6}\.?[0-9]{0,6}(?:[eE][-+]?[0-9]{1,2})?$/),
    fc.stringMatching(/^[0-9A-Za-z+.][0-9A-Za-z+._:/@-]{0,8}$/),
  )
  .filter((text) => /^(?:[0-9A-Za-z+.]|-[0-9.])/.test(text) && !text.endsWith(":") && !/^\.{3}/.test(text));
/** Returns true for a scalar that means "no value" or has no JSON value. */
const isRefused = (text: string) =>
  /^(?:null|Null|NULL|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text) ||
  (text !== "" && /^[-+]?[\d.]+e/i.test(text) && !Number.isFinite(Number(text)) && !Number.isNaN(Number(text)));

const RUNS = { numRuns: runs(150) };
const contactText = ({ registrant_contact }: JsonObject) => (registrant_contact as JsonObject).k;

describe.each(Object.entries(WAYS))(
  "a scalar that becomes a string through %s",
  (_, { files, sent = contactText, isLine }) => {
    it("is sent as written, or rejected, if it has no quotes", () => {
      fc.assert(
        fc.property(plain, (text) => {
          const wire = body(...files(text));
          if (isRefused(text)) expect(wire).toBeUndefined();
          else expect({ text, sent: wire && sent(wire) }).toEqual({ text, sent: text });
        }),
        RUNS,
      );
    });

    it("is sent as its value in YAML if it has quotes or is a block", () => {
      const line = fc.string({ unit: "grapheme-ascii", maxLength: 8 });
      const word = fc.oneof(
        plain,
        fc.constantFrom("null", "Null", "~", " ", "- a", "# a", "a: b", "*a", "1.10 "),
        line,
      );
      const quoted = word
        .filter((text) => text !== "" && !/\$\{|\$$/.test(text))
        .chain((text) => {
          const block = isLine || text.trim() !== text ? [] : [`|-\n  ${text}`, `>-\n  ${text}`];
          const forms = [JSON.stringify(text), `'${text.replaceAll("'", "''")}'`, ...block];
          return fc.constantFrom(...forms.map((yaml) => ({ yaml, text })));
        });
      fc.assert(
        fc.property(quoted, ({ yaml, text }) => {
          const wire = body(...files(yaml));
          expect({ yaml, sent: wire && sent(wire) }).toEqual({ yaml, sent: text });
        }),
        RUNS,
      );
    });

    it.each(["~", "", "null", "Null", "NULL"])("is rejected if it is %j without quotes", (text) => {
      expect(body(...files(text))).toBeUndefined();
    });
  },
);

describe("a declaration", () => {
  it.each([
    [
      "keeps a text that looks like a number or a word of YAML",
      "name: 1.10\n    company_name: True\n    vat_number: 010",
      [],
    ],
    [
      "refuses a required text that is null",
      "name: ~",
      ['4:11 config.missing_attribute: A client account requires "name"'],
    ],
    [
      "refuses Null where a name may be meant",
      "name: A\n    company_name: Null",
      ['5:19 config.invalid_value: company_name: expected a string, but Null without quotes means "no value"'],
    ],
    [
      "takes ~, null and an empty value for an optional text that is not declared",
      "name: A\n    vat_number: ~\n    company_name:\n    company_number: null",
      [],
    ],
  ])("%s", (_, text, expected) => {
    expect(problems(`${PROJECT}client_accounts:\n  x:\n    ${text}\n`)).toEqual(expected);
  });
});

describe("a number of a declaration", () => {
  const service = (plan: string) =>
    `services:\n  x:\n    plan_id: ${plan}\n    currency: USD\n    domain: www.acme.example\n`;

  it.each(["11", "11.0", "11.00"])("is sent if it is written as %s", (plan) => {
    expect(body(PROJECT + service(plan))?.plan_id).toBe(11);
  });

  it.each(["1e1", "0x0b", "0o13", "11.", "+11.0", "1.1e1"])(
    "is rejected at its position if it is written as %s",
    (plan) => {
      expect(problems(PROJECT + service(plan))).toEqual([
        `4:14 config.invalid_value: plan_id: ${plan} is not a decimal number`,
      ]);
    },
  );

  it.each(["+11", "011", "1_1", '"11"', "eleven"])("is rejected as a string if it is written as %s", (plan) => {
    expect(problems(PROJECT + service(plan))).toEqual(["4:14 config.invalid_value: plan_id: expected a number"]);
  });

  it.each([
    "guards: {max_orders: 1e1}",
    "guards: {max_spend: {USD: 0x10}}",
    "providers: {default: {money_scale: 0x2}}",
  ])("is rejected in %s", (text) => {
    expect(problems(`${PROJECT}${text}\n`)).toEqual([expect.stringMatching(/is not a decimal number$/)]);
  });
});

describe("strings in settings", () => {
  it("are read as written", () => {
    const text = `${PROJECT}providers:\n  default: {token_file: 1.10, status_words: {1e3: live, Null: gone}}\nbackend: {pg: {workspace: 1.10, schema_name: 1e3}}\n`;
    const { desired, diagnostics } = read(text);
    expect(diagnostics).toEqual([]);
    expect(desired?.backend?.settings).toEqual({ workspace: "1.10", schema_name: "1e3" });
    expect(desired?.providers.get("default")).toMatchObject({
      tokenFile: "1.10",
      statusWords: { "1e3": "live", Null: "gone" },
    });
  });

  it("are read as written in a client, an import and the source of a password", () => {
    const text = `${PROJECT}services:\n  x:\n    plan_id: 11\n    currency: USD\n    domain: a.example\n    client: 1.10\n    import: 0x10\n    password_version: 1\n    password: {command: [head, -n, 1, 1e3]}\n`;
    expect(problems(text)).toEqual([]);
    const [resource] = read(text).desired?.resources ?? [];
    expect(resource).toMatchObject({ client: "1.10", importId: "0x10" });
    expect(resource?.sources?.get("password")).toEqual({ command: ["head", "-n", "1", "1e3"] });
  });
});

describe("values of any type", () => {
  const request = (questions: string) =>
    `${PROJECT}migration_requests:\n  x:\n    domain: acme.example\n    questions: ${questions}\n`;

  it("of questions are sent as strings, and as JSON inside a list or a map", () => {
    const sent = body(request("{a: 1.10, b: true, c: [1, 1.5, true, '1.10'], d: {1e3: 5}, 010: x, ~: y}"));
    expect(sent).toEqual({
      ...{ domain: "acme.example", a: "1.10", b: "true", c: [1, 1.5, true, "1.10"], d: { "1e3": 5 } },
      ...{ "010": "x", "~": "y" },
    });
  });

  it.each([
    ["{a: [1.10]}", "5:21 config.invalid_value: questions.a[0]: 1.10 without quotes would become 1.1"],
    ["{a: {b: True}}", "5:24 config.invalid_value: questions.a.b: True without quotes would become true"],
    [
      "{a: {b: Null}}",
      '5:24 config.invalid_value: questions.a.b: expected a string, but Null without quotes means "no value"',
    ],
    ["{a: {b}}", "5:21 config.invalid_value: questions.a.b: expected a string, but the value is empty"],
    ["{a: [x, ~]}", "5:24 config.invalid_value: questions.a[1]: expected a string, but the value is empty"],
    ["{a: '[1.10]'}", "5:20 config.invalid_value: questions.a: this string would be sent as a list or map"],
    ["{a: .inf}", "5:20 config.structure: This number is not finite, so it cannot be sent"],
  ])("of questions are rejected if they would be sent differently: %s", (questions, message) => {
    expect(problems(request(questions))).toContain(message);
  });

  it.each([
    ["{x}", "6:10 config.invalid_value: registrant_contact.k: expected a string, not a map"],
    ["[Kursiv]", "6:10 config.invalid_value: registrant_contact.k: expected a string, not a list"],
    ["[[~]]", "6:10 config.invalid_value: registrant_contact.k: expected a string, not a list"],
    [
      String.raw`"a\0b"`,
      "6:10 config.invalid_value: registrant_contact.k: the string contains the control character U+0000",
    ],
    [
      String.raw`"\a"`,
      "6:10 config.invalid_value: registrant_contact.k: the string contains the control character U+0007",
    ],
  ])("of a contact are strings, so %s is rejected once at its position", (value, message) => {
    const years = lines(DOMAIN).replace('    currency: "USD"\n', "");
    const text = `domains:\n  x:\n    currency: USD\n    registrant_contact:\n      k: ${value}\n${years}`;
    expect(problems(PROJECT + text)).toEqual([message]);
  });

  it("of a contact may contain line breaks, and the text of a list", () => {
    expect(body(PROJECT + domain(String.raw`k: "a\n\tb"`))?.registrant_contact).toEqual({ k: "a\n\tb" });
    expect(body(PROJECT + domain("k: '[1.10]'"))?.registrant_contact).toEqual({ k: "[1.10]" });
  });

  it.each([
    ["phone: .inf", "This number is not finite, so it cannot be sent"],
    ["phone: 1e400", "This number is not finite, so it cannot be sent"],
    ["phone: *Stern*", "No anchor &Stern* precedes this alias"],
  ])("cause one error if they are unreadable: %s", (line, summary) => {
    expect(problems(PROJECT + domain(line))).toEqual([expect.stringMatching(/^\d+:14 config\.structure: /)]);
    expect(problems(PROJECT + domain(line))[0]).toContain(summary);
    const value = line.slice(line.indexOf(" ") + 1);
    for (const text of [
      `${PROJECT}client_accounts:\n  x:\n    name: ${value}\n`,
      PROJECT + domain("k: a").replace("years: 1", `years: ${value}`),
      `project: ${value}\n${domain("k: a")}`,
    ])
      expect(problems(text)).toEqual([expect.stringContaining(summary)]);
  });

  it("of outputs are rejected if they would be recorded differently", () => {
    expect(problems(`${PROJECT}outputs:\n  a: 1.10\n  b: {value: [1, 0x10]}\n  c: 1.5\n`)).toEqual([
      "3:6 config.invalid_value: a: 1.10 without quotes would become 1.1",
      "4:18 config.invalid_value: b[1]: 0x10 without quotes would become 16",
    ]);
  });
});
