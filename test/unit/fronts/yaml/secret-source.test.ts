import { describe, expect, it } from "vitest";
import { fixOf } from "../../../support/remedies.ts";
import { declare, reported } from "./fakes.ts";

const SECRET = "correct horse battery";
const service = (password: string, more = "") => `services:\n  a:\n    plan_id: 1\n    password: ${password}${more}\n`;

/** Returns the declared source of the password, and its value among the evaluated attributes. */
function read(password: string, env: Record<string, string> = {}) {
  const { desired, diagnostics } = declare(service(password), env);
  const [resource] = desired?.resources ?? [];
  return {
    reported: reported(diagnostics),
    source: resource?.sources?.get("password"),
    config: resource?.config.password,
  };
}

describe("the source of a write-only attribute", () => {
  it.each<[why: string, text: string, source: object]>([
    ["a variable", "{env: ACME_PASSWORD}", { env: "ACME_PASSWORD" }],
    ["a variable, in the notation of expressions", "${env.ACME_PASSWORD}", { env: "ACME_PASSWORD" }],
    ["the same with spaces", '"${ env.ACME_PASSWORD }"', { env: "ACME_PASSWORD" }],
    ["a file", "{file: secrets/acme}", { file: "secrets/acme" }],
    ["a file whose place is in the environment", "{file: '${env.DIR}/acme'}", { file: "/run/acme" }],
    ["a command", "{command: [pass, show, acme]}", { command: ["pass", "show", "acme"] }],
    ["a command without arguments", "{command: [./secret]}", { command: ["./secret"] }],
    ["a block", "\n      env: ACME_PASSWORD", { env: "ACME_PASSWORD" }],
  ])("is %s, even if the variable is not set", (_, text, source) => {
    expect(read(text, { DIR: "/run" })).toEqual({ reported: [], source, config: undefined });
  });

  it("is undefined if the attribute is empty", () => {
    expect(read("")).toEqual({ reported: [], source: undefined, config: null });
  });

  it("is evaluated like any other value if it only refers to another resource", () => {
    const other = "  b:\n    plan_id: 1\n";
    const { desired, diagnostics } = declare(`${service("${hosting_service.b.status}")}${other}`);
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.resources[0]).toMatchObject({ config: { password: "${hosting_service.b.status}" } });
    expect(desired?.resources[0]?.sources).toBeUndefined();
  });

  it("has the position of the attribute", () => {
    const { desired } = declare(service("{env: A}"));
    expect(desired?.resources[0]?.locate(["password"])).toMatchObject({ line: 5, column: 15 });
  });
});

describe("an invalid source of a secret", () => {
  it.each<[why: string, text: string, message: string]>([
    ["the password itself", SECRET, '5:5 config.secret: "password" would put a secret into the declaration'],
    ["the same in quotes", `"${SECRET}"`, '5:5 config.secret: "password" would put a secret into the declaration'],
    [
      "the same in a block",
      `|\n      ${SECRET}`,
      '5:5 config.secret: "password" would put a secret into the declaration',
    ],
    ["a number", "12345678", '5:5 config.secret: "password" would put a secret into the declaration'],
    ["half of it", `"${SECRET}\${env.REST}"`, '5:5 config.secret: "password" would put a secret into the declaration'],
    [
      "an escaped expression",
      `"$\${${SECRET}}"`,
      '5:5 config.secret: "password" would put a secret into the declaration',
    ],
    [
      "an expression that is none",
      `"\${${SECRET}}"`,
      '5:5 config.secret: "password" would put a secret into the declaration',
    ],
    ["nothing at all", "{}", "5:5 config.structure: `password` must be one of `env`, `file`, `command`"],
    ["a list", `[${SECRET}]`, "5:5 config.structure: `password` must be one of `env`, `file`, `command`"],
    ["two ways", "{env: A, file: b}", "5:5 config.structure: `password` must be one of `env`, `file`, `command`"],
    [
      "another way",
      "{files: b}",
      '5:5 config.unknown_key: `password` cannot be read from "files". Did you mean "file"?',
    ],
    ["the password as a way", `{value: ${SECRET}}`, '5:5 config.unknown_key: `password` cannot be read from "value".'],
    [
      "the password in place of the variable's name",
      `\n      env: ${SECRET}`,
      "5:5 config.invalid_value: password.env: expected the name of an environment variable, such as ACME_PASSWORD",
    ],
    ["no path", "{file: [a]}", "5:5 config.invalid_value: password.file: expected a path"],
    [
      "a command line for a shell",
      "{command: pass show acme}",
      "5:5 config.invalid_value: password.command: expected a list: the program and its arguments",
    ],
    ["no program", '{command: [""]}', "5:5 config.invalid_value: password.command: expected a program"],
    [
      "a path that depends on a resource",
      '{file: "${hosting_service.a.id}"}',
      "5:23 config.reference: The source of a secret cannot depend on a resource",
    ],
    [
      "a variable that is not set",
      '{file: "${env.NO}"}',
      "5:23 config.environment: The environment variable NO is not set",
    ],
  ])("%s: is reported at its key, without its value", (_, text, message) => {
    const { desired, diagnostics } = declare(service(text), { REST: "x" });
    expect(reported(diagnostics)).toEqual([message]);
    expect(desired).toBeUndefined();
    for (const word of SECRET.split(" ")) expect(JSON.stringify(diagnostics)).not.toContain(word);
  });

  it("is reported with the three valid sources", () => {
    const { diagnostics } = declare(service(SECRET));
    expect(fixOf(diagnostics[0])).toBe(
      "Declare the source of the value: `password: { env: NAME }`, `{ file: PATH }` or `{ command: [PROGRAM, …] }`.",
    );
    expect(diagnostics[0]).toMatchObject({ address: "hosting_service.a", attribute: ["password"] });
  });
});
