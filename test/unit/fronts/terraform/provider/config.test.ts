import { describe, expect, it } from "vitest";
import { formatPath, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { validateProviderConfig } from "../../../../../src/fronts/terraform/provider/config.ts";
import { providerSchema } from "../../../../../src/fronts/terraform/provider/schema.ts";
import { fc } from "../../../../support/fc.ts";
import { complete } from "../account.ts";

const TOKEN = "17|Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL";

/** Formats each diagnostic as `code at place: summary`. */
function reported(given: ValueObject): string[] {
  return validateProviderConfig(complete(providerSchema.attributes, given)).map(
    ({ code, summary, attribute = [] }) => `${code} at ${formatPath(attribute)}: ${summary}`,
  );
}

describe("the configuration of the provider", () => {
  it.each<ValueObject>([
    {},
    { base_url: "https://api.example", token: TOKEN, project: "acme.shop_2" },
    { base_url: "https://api.example/api/v1/", token: `${TOKEN}\n` },
    { base_url: "http://127.0.0.1:8080", token_env: "BETA_TOKEN" },
    { base_url: "http://api.example", insecure_http: true, token_file: "secrets/token" },
    { requests_per_minute: 30, status_words: { Running: "live" }, idempotency_key_retention: "24h", money_scale: 0 },
    { base_url: UNKNOWN, token: UNKNOWN, project: UNKNOWN, status_words: UNKNOWN },
    { base_url: "http://api.example", insecure_http: UNKNOWN },
    { token: TOKEN, token_file: UNKNOWN },
    { status_words: { Running: UNKNOWN, Idle: "suspended" } },
  ])("may be %j", (given) => {
    expect(reported(given)).toEqual([]);
  });

  it.each<[ValueObject, string]>([
    [
      { base_url: "api.example" },
      "config.invalid_value at base_url: base_url: expected a URL such as https://api.example",
    ],
    [
      { base_url: "ftp://api.example" },
      "config.invalid_value at base_url: base_url: expected a URL such as https://api.example",
    ],
    [
      { base_url: "http://api.example" },
      "provider.base_url at base_url: Plain http to api.example would expose the API token on the network",
    ],
    [
      { base_url: "https://api.example/api/v2" },
      "provider.base_url at base_url: The base URL contains another version of the API than /api/v1",
    ],
    [{ base_url: "https://user:secret@api.example" }, 'config.secret at base_url: "base_url" holds an API token'],
    [{ token: "" }, "provider.token at token: The API token is empty"],
    [{ token: "two words" }, "provider.token at token: The API token contains invalid characters"],
    [{ token_env: TOKEN }, 'config.secret at token_env: "token_env" holds an API token'],
    [
      { token_env: "not a name" },
      "config.invalid_value at token_env: token_env: expected the name of an environment variable, such as HOSTING_TOKEN",
    ],
    [{ token_file: "" }, "config.invalid_value at token_file: token_file: expected a path"],
    [{ token: TOKEN, token_file: "t" }, "config.duplicate at token_file: token and token_file both set the API token"],
    [
      { token_env: "A_TOKEN", token_file: "t" },
      "config.duplicate at token_env: token_file and token_env both set the API token",
    ],
    [{ project: "" }, "config.invalid_value at project: project: expected the name of a project"],
    [{ project: "a b" }, "config.invalid_value at project: project: expected the name of a project"],
    [{ requests_per_minute: 0 }, "config.invalid_value at requests_per_minute: requests_per_minute: at least 1"],
    [{ requests_per_minute: 6001 }, "config.invalid_value at requests_per_minute: requests_per_minute: at most 6000"],
    [
      { requests_per_minute: 1.5 },
      "config.invalid_value at requests_per_minute: requests_per_minute: expected a whole number of requests",
    ],
    [
      { status_words: { Running: "alive", Idle: UNKNOWN } },
      'config.invalid_value at status_words.Running: status_words.Running: expected "pending", "live", "suspended" or "gone"',
    ],
    [
      { idempotency_key_retention: "1 day" },
      "config.invalid_value at idempotency_key_retention: idempotency_key_retention: expected a time such as 10m or 24h",
    ],
    [{ money_scale: 5 }, "config.invalid_value at money_scale: money_scale: at most 4"],
  ])("may not be %j", (given, expected) => {
    expect(reported(given)).toEqual([expected]);
  });

  it("reports every error at once", () => {
    expect(reported({ base_url: "x", token: "", project: "-", money_scale: -1 })).toHaveLength(4);
  });

  it("shows no token, wherever it stands", () => {
    const secret = fc.stringMatching(/^\d\|[A-Za-z0-9]{20,30}$/);
    const place = fc.constantFrom(
      "base_url",
      "token",
      "token_env",
      "token_file",
      "project",
      "idempotency_key_retention",
    );
    const form = fc.constantFrom(
      (text: string) => text,
      (text: string) => ` ${text} x`,
      (text: string) => `Bearer ${text}`,
      (text: string) => `https://${text}@api.example`,
    );
    fc.assert(
      fc.property(secret, place, form, (token, name, write) => {
        const found = validateProviderConfig(complete(providerSchema.attributes, { [name]: write(token) }));
        expect(JSON.stringify(found)).not.toContain(token.slice(2));
      }),
    );
  });
});
