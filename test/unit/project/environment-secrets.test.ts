import { describe, expect, it } from "vitest";
import { learnEnvironment } from "../../../src/project/environment-secrets.ts";
import { SECRET_MARK as M, Redaction } from "../../../src/project/redaction.ts";
import { cpuTimer } from "../../support/cpu-time.ts";

/** What of a text is shown by a run with this environment. */
function shown(text: string, env: Record<string, string>): string {
  const redaction = new Redaction();
  learnEnvironment(redaction, env);
  return redaction.redact(text);
}

const SECRET = "Zq3-vT8x/w+L0pR5";

describe("a secret of the environment is hidden in every output", () => {
  it.each([
    "GITHUB_TOKEN",
    "NPM_CONFIG__AUTHTOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASS",
    "MYSQL_PWD",
    "SSH_PASSPHRASE",
    "apiKey",
    "SERVICE_CREDENTIAL",
    "AZURE_CREDS",
    "STORAGE_CONN_STR",
    "ConnectionString",
    "REGISTRY_AUTH",
    "AUTHORIZATION",
    "SIGNING_PRIVATE",
    "TF_VAR_panel_password",
    "SESSION_COOKIE",
    "PORTAL_SESSION",
    "SIGNING_PHRASE",
    "CARD_PIN",
    "HOSTING_TOKEN",
    "HOSTFORM_STATE_PASSPHRASE",
  ])("by the name of its variable: %s", (name) => {
    expect(shown(`domain = "${SECRET}"`, { [name]: SECRET })).toBe(`domain = "${M}"`);
  });

  it.each<[what: string, name: string, value: string, secret?: string]>([
    ["the password of an address", "REMOTE", `https://ci:${encodeURIComponent(SECRET)}@git.acme.example/x`],
    ["the password of an address in a longer text", "NOTES", "mirror ssh://ci:p@ss-w0rd@git.example x", "p@ss-w0rd"],
    ["a token in place of a user", "ORIGIN", "https://ghp_0123456789abcdef@git.example/x", "ghp_0123456789abcdef"],
    [
      "the password of a proxy without a scheme",
      "HTTPS_PROXY",
      "joe:pr0xy-password@proxy.example:8080",
      "pr0xy-password",
    ],
    ["a parameter of a query", "CALLBACK", `https://x.example/?a=1&access_token=${encodeURIComponent(SECRET)}`],
    ["a signature of an address", "DOWNLOAD", "https://x.example/f?sv=2024&sig=0a1b2c3d4e5f", "0a1b2c3d4e5f"],
    ["a password of a connection string", "DATABASE", `host=db.example password='${SECRET}' dbname=x`],
    ["a key of a connection string", "STORAGE", `AccountName=acme;AccountKey=${SECRET};EndpointSuffix=x`],
    ["a setting of npm", "NPM", `//npm.example/:_authToken=${SECRET}`],
    ["a password in base64", "REGISTRY_AUTH", Buffer.from(`joe:${SECRET}`).toString("base64")],
    [
      "a password in a header in base64",
      "H",
      `Authorization: Basic ${Buffer.from(`joe:${SECRET}`).toString("base64")}`,
    ],
    ["a header", "GIT_CONFIG_VALUE_0", `AUTHORIZATION: basic ${SECRET}`],
    ["a text in JSON with the name of a secret", "SETTINGS", JSON.stringify({ a: [{ client_secret: SECRET }] })],
    ["a long text in JSON that is a secret", "GOOGLE_CREDENTIALS", JSON.stringify({ note: SECRET })],
    ["what follows the number of a token", "EU_TOKEN", `12|${SECRET}`],
    ["what follows the scheme of a header", "API_AUTH", `Bearer ${SECRET}`],
  ])("inside the value of any variable: %s", (_, name, value, secret = SECRET) => {
    for (const text of [secret, encodeURIComponent(secret)]) expect(shown(text, { [name]: value })).toBe(M);
  });

  it.each<[string, (secret: string) => string]>([
    ["base64", (secret) => Buffer.from(secret).toString("base64")],
    ["base64 of a longer text", (secret) => Buffer.from(`user:${secret}!`).toString("base64")],
    ["base64url", (secret) => Buffer.from(secret).toString("base64url")],
    ["an address", encodeURIComponent],
    ["JSON", (secret) => JSON.stringify(secret)],
    ["hex", (secret) => Buffer.from(secret).toString("hex")],
    ["hex in capitals, in a longer text", (secret) => Buffer.from(`\0${secret}`).toString("hex").toUpperCase()],
  ])("in the encoding of %s", (_, encode) => {
    for (const secret of [SECRET, `${SECRET} "ü`, "plain0secret"]) {
      const out = shown(`x ${encode(secret)} y`, { A_TOKEN: secret });
      expect(out).toContain(M);
      expect(out.length).toBeLessThan(30);
    }
  });
});

describe("what is no secret stays readable, whatever its variable is called", () => {
  it.each<[string, Record<string, string>, string]>([
    ["a switch", { AUTH_ENABLED: "enabled", USE_TOKEN: "true" }, "enabled true"],
    ["a number of few digits", { KEY_TTL: "3600000", PASS_COUNT: "100200" }, "3600000 100200"],
    ["a version", { npm_package_dependencies_keytar: "^7.9.10", KEY_HOST_IP: "127.0.0.1" }, "7.9.10 127.0.0.1"],
    ["a path that exists", { DEPLOY_KEY: import.meta.dirname }, `cannot read ${import.meta.dirname}/x`],
    ["a path by the variable's name", { TOKEN_FILE: "/run/nowhere/token" }, "cannot read /run/nowhere/token"],
    ["a user name", { USER: "ninoacme", BASIC_AUTH: "ninoacme" }, "locked by ninoacme"],
    ["the name of a variable", { TOKEN_VARIABLE: "ACME_TOKEN", ACME_TOKEN: SECRET }, "Set ACME_TOKEN."],
    ["a word of hostform's own", { DB_PASSWORD: "password", MY_KEY: "hosting_service" }, "password hosting_service"],
    ["an address that only names a host", { AUTH_URL: "https://sso.acme.example" }, "at https://sso.acme.example/x"],
    ["the rest of an address with a password", { PG_CONN_STR: `postgres://u:${SECRET}@db.example/x` }, "db.example/x"],
    ["a connection string without a password", { PG_CONN_STR: "host=db.example dbname=x" }, "host=db.example dbname=x"],
    [
      "an author",
      { GIT_AUTHOR_NAME: "Nino Acme", KEYBOARD: "qwertz-de", BYPASS: "loopback" },
      "Nino Acme qwertz-de loopback",
    ],
    ["a short value", { PASS: "abc12" }, "abc12"],
    ["a sentence", { CI_COMMIT_MESSAGE: "authorization: handle timeouts" }, "handle timeouts"],
    ["the value of another variable", { GREETING: "good morning" }, "good morning"],
  ])("%s", (_, env, text) => expect(shown(text, env)).toBe(text));
});

it("is announced to a CI when hostform uses it, and not because of the name of its variable", () => {
  const [redaction, announced] = [new Redaction(), [] as string[]];
  redaction.onLearn((secret) => announced.push(secret));
  learnEnvironment(redaction, { HOSTING_TOKEN: "12|abcdefgh", OTHER_TOKEN: "ijklmnop" });
  expect(announced).toEqual(["12|abcdefgh", "abcdefgh"]);
  redaction.learn("ijklmnop");
  expect(announced.at(-1)).toBe("ijklmnop");
});

describe("time", () => {
  // The title of a pull request may stand in a variable, and be a stranger's.
  it.each([
    ["one long word", "a".repeat(120_000)],
    ["deeply nested JSON", `${"[".repeat(60_000)}${"]".repeat(60_000)}`],
    ["deeply nested objects", `${'{"a":'.repeat(20_000)}"${SECRET}"${"}".repeat(20_000)}`],
    ["addresses without end", "a://".repeat(30_000)],
    ["parameters without end", "a='".repeat(40_000)],
    ["headers without end", "authorization:".repeat(8_000)],
  ])("does not depend on what others write: %s", (_, text) => {
    const isSecret = text.includes(SECRET);
    expect(shown(`domain = "${SECRET}"`, { TITLE: text })).toBe(`domain = "${SECRET}"`);
    expect(shown(`domain = "${SECRET}"`, { TITLE_TOKEN: text })).toBe(`domain = "${isSecret ? M : SECRET}"`);
  });

  it("hardly grows with the environment: a thousand secrets, some long, and writes that end in the middle of a line", () => {
    const env = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [
        `A${i}_TOKEN`,
        `${(i * 7919).toString(36)}_${"0123456789".repeat(i % 50 === 0 ? 2000 : 3)}`,
      ]),
    );
    const redaction = new Redaction();
    const elapsed = cpuTimer();
    learnEnvironment(redaction, env);
    const text = '      + domain = "www.some-client-of-ours.example" '.repeat(4000);
    expect(redaction.undecided(text)).toBeGreaterThan(text.length - 8);
    expect(redaction.redact(text)).toBe(text);
    // About 200 ms, most of it for the encodings of the long ones.
    expect(elapsed()).toBeLessThan(4000);
  });
});
