import { describe, expect, it } from "vitest";
import { fixOf } from "../../../support/remedies.ts";
import { declare, declareFiles, reported } from "./fakes.ts";

const TOKEN = "17|Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL";

describe("providers", () => {
  it("accept all their settings", () => {
    const { desired, diagnostics } = declare(
      `providers:
  default:
  beta:
    base_url: https://beta.example/api
    token_env: BETA_TOKEN
    requests_per_minute: 30
    status_words: {Running: live, "Pending Payment": pending, 1: live, "2": suspended}
    money_scale: 2
  gamma: {base_url: "\${env.GAMMA_URL}", token_file: secrets/gamma}
`,
      { GAMMA_URL: "http://127.0.0.1:8080" },
    );
    expect(reported(diagnostics)).toEqual([]);
    expect(desired?.providers.get("beta")).toEqual({
      alias: "beta",
      baseUrl: "https://beta.example/api",
      tokenEnv: "BETA_TOKEN",
      requestsPerMinute: 30,
      statusWords: { Running: "live", "Pending Payment": "pending", 1: "live", 2: "suspended" },
      moneyScale: 2,
      range: { file: "hosting.yaml", line: 4, column: 3, endLine: 4, endColumn: 7, text: "  beta:" },
    });
    expect(desired?.providers.get("gamma")).toMatchObject({
      baseUrl: "http://127.0.0.1:8080",
      tokenFile: "secrets/gamma",
    });
  });

  it.each([
    ["clients/hosting.yaml", "token", "clients/token"],
    ["clients/hosting.yaml", "../token", "token"],
    ["clients/hosting.yaml", "/run/token", "/run/token"],
  ])("find a token file beside %s: %s is %s", (path, file, expected) => {
    const { desired } = declareFiles({ [path]: `project: p\nproviders: {default: {token_file: ${file}}}\n` });
    expect(desired?.providers.get("default")?.tokenFile).toBe(expected);
  });

  it.each([
    ["a list", "providers: [beta]", "2:12 config.structure: `providers` must be a map of providers by name"],
    ["a text", "providers: {beta: x}", '2:19 config.structure: The provider "beta" must be a map of settings'],
    [
      "a name that cannot follow `provider:`",
      "providers: {be ta: {}}",
      '2:13 config.structure: "be ta" cannot be the name of a provider',
    ],
    [
      "a misspelt setting",
      "providers: {b: {base-url: x}}",
      '2:17 config.unknown_key: A provider has no setting "base-url". Did you mean "base_url"?',
    ],
    [
      "an address that is none",
      "providers: {b: {base_url: beta}}",
      "2:27 config.invalid_value: base_url: expected a URL such as https://api.example",
    ],
    [
      "an address of another protocol",
      "providers: {b: {base_url: ftp://b.example}}",
      "2:27 config.invalid_value: base_url: expected a URL such as https://api.example",
    ],
    [
      "more requests than the API allows",
      "providers: {b: {requests_per_minute: 6001}}",
      "2:38 config.invalid_value: requests_per_minute: at most 6000",
    ],
    [
      "no requests",
      "providers: {b: {requests_per_minute: 0}}",
      "2:38 config.invalid_value: requests_per_minute: at least 1",
    ],
    [
      "a part of a request",
      "providers: {b: {requests_per_minute: 1.5}}",
      "2:38 config.invalid_value: requests_per_minute: expected a whole number of requests",
    ],
    [
      "a scale that no currency has",
      "providers: {b: {money_scale: 5}}",
      "2:30 config.invalid_value: money_scale: at most 4",
    ],
    [
      "a phase that is none",
      "providers: {b: {status_words: {Running: alive}}}",
      '2:41 config.invalid_value: status_words.Running: expected "pending", "live", "suspended" or "gone"',
    ],
    [
      "a name that no variable can have",
      "providers: {b: {token_env: my-token}}",
      "2:28 config.invalid_value: token_env: expected the name of an environment variable, such as HOSTING_TOKEN",
    ],
    [
      "a setting that is not written",
      "providers: {b: {token_env: }}",
      "2:17 config.invalid_value: token_env: expected the name of an environment variable, such as HOSTING_TOKEN",
    ],
    [
      "a variable that is not set",
      'providers: {b: {base_url: "${env.B_URL}"}}',
      "2:28 config.environment: The environment variable B_URL is not set",
    ],
    [
      "a reference to a resource",
      'providers: {b: {base_url: "${hosting_service.a.domain}"}}',
      "2:28 config.reference: A provider cannot refer to a resource",
    ],
  ])("%s is an error", (_, text, expected) => {
    expect(reported(declare(`${text}\n`).diagnostics)).toEqual([expected]);
  });

  it("with invalid settings cause no error in the resources that use them", () => {
    const { diagnostics } = declare("providers: {beta: {money_scale: 9}}\nservices:\n  a: {provider: beta}\n");
    expect(diagnostics.map(({ code }) => code)).toEqual(["config.invalid_value"]);
  });
});

describe("a token in a declaration", () => {
  const token = "hf_live_Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL";

  it.each([
    ["as `token`", `providers: {b: {token: ${token}}}`, token],
    ["as `access_token`", `providers:\n  b:\n    access_token: "${token}"`, token],
    ["as `api_key`", `providers: {b: {"api_key":"${token}"}}`, token],
    ["as `Authorization`", `providers: {b: {Authorization: Bearer ${token}}}`, token],
    ["at the top", `token: ${token}`, token],
    ["in place of its variable's name", `providers: {b: {token_env: ${TOKEN}}}`, TOKEN],
    [
      "in place of its variable's name, without a number",
      "providers:\n  b:\n    token_env: Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL",
      "Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL",
    ],
    ["in place of a file", `providers: {b: {token_file: ${TOKEN}}}`, TOKEN],
    ["inside the address", `providers: {b: {base_url: "https://user:${token}@b.example"}}`, token],
  ])("%s is rejected and never repeated", (_, text, secret) => {
    const { diagnostics } = declare(`${text}\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["config.secret"]);
    expect(fixOf(diagnostics[0])).toContain("token_env");
    expect(JSON.stringify(diagnostics)).not.toContain(secret);
  });

  it.each([
    ["another mistake in its line", `providers: {b: {token: ${token}, colour: red}}`],
    ["a line that cannot be parsed", `providers: {b: {token: ${token}\nx: 1`],
    ["a bearer token where it is no key's value", `services:\n  a: {domian: Bearer ${token}}`],
    ["a password beside a misspelt attribute", `services:\n  a: {domian: x, password: ${token}}`],
    ["a misspelt password", `services:\n  a:\n    passwort: ${token}`],
    ["a URL that is in another place", `webhooks:\n  a: {uri: "https://ci:${token}@x.example/"}`],
    ["a URL with a second @", `webhooks:\n  a: {uri: "https://ci:x@${token}@x.example/"}`],
  ])("is not shown by %s", (_, text) => {
    const { diagnostics } = declare(`${text}\n`);
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics)).not.toContain(token);
  });

  it("is redacted without moving the caret, and names of variables stay visible", () => {
    const { diagnostics } = declare(
      'services:\n  a: {password: "secret", domian: x}\n  b: {password: "${env.A}", domian: x}\n',
      { A: "" },
    );
    expect(diagnostics.map(({ range }) => range?.text)).toEqual([
      // The literal password is also an error.
      "  a: {password: ********, domian: x}",
      "  a: {password: ********, domian: x}",
      '  b: {password: "${env.A}", domian: x}',
    ]);
  });

  it.each([
    ["token_env: HOSTING_TOKEN_FOR_THE_SECOND_CUSTOMER_2024"],
    ["token_file: /run/secrets/hosting-token-2024-for-beta"],
    ["token_env: short"],
  ])("is not suspected in %s", (setting) => {
    expect(reported(declare(`providers: {b: {${setting}}}\n`).diagnostics)).toEqual([]);
  });
});
