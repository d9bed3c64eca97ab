import { describe, expect, it } from "vitest";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { parseDeclaration } from "../../../../src/fronts/yaml/index.ts";
import { saying } from "../../../support/remedies.ts";

const env = { HOST: "https://gitlab.example", EMPTY: "", LEAK: "https://u:canary@gitlab.example/s" };

function read(...texts: string[]) {
  const files = texts.map((text, i) => ({ path: `${i}.yaml`, text }));
  return parseDeclaration(files, { kinds, env });
}

const http = (settings: string) => `project: p\nbackend:\n  http:\n    ${settings}\n`;

describe("the section backend", () => {
  it("accepts a Terraform backend with Terraform's settings, evaluated", () => {
    const { desired, backend, diagnostics } = read(
      `project: p
backend:
  http:
    address: \${env.HOST}/state/acme
    lock_address: \${env.HOST}/state/acme/lock
    lock_method: POST
    unlock_method: DELETE
    without_lock: false
`,
    );
    expect(diagnostics).toEqual([]);
    expect(backend).toEqual({
      type: "http",
      settings: {
        address: "https://gitlab.example/state/acme",
        lock_address: "https://gitlab.example/state/acme/lock",
        lock_method: "POST",
        unlock_method: "DELETE",
        without_lock: false,
      },
      range: expect.objectContaining({ file: "0.yaml", line: 3, column: 3 }),
    });
    expect(desired?.backend).toEqual(backend);
  });

  it.each([
    ["without settings", "http:", { type: "http", settings: {} }],
    ["with an empty map", "pg: {}", { type: "pg", settings: {} }],
    [
      "of a bucket",
      "s3: {bucket: states, key: clients/acme.tfstate, endpoints: {s3: 'https://minio.example'}, use_lockfile: true}",
      { type: "s3", settings: { bucket: "states", endpoints: { s3: "https://minio.example" }, use_lockfile: true } },
    ],
    [
      "with settings",
      "pg: {schema_name: s, table_name: t, index_name: i, workspace: acme}",
      { type: "pg", settings: { schema_name: "s", table_name: "t", index_name: "i", workspace: "acme" } },
    ],
  ])("%s is sufficient, because the rest comes from the environment", (_, text, backend) => {
    expect(read(`project: p\nbackend:\n  ${text}\n`).backend).toMatchObject(backend);
  });

  it("may be in any document, but only in one", () => {
    expect(read("project: p\n", "backend: {pg: {workspace: a}}\n").backend).toMatchObject({ type: "pg" });
    const twice = read("project: p\nbackend: {pg: {workspace: a}}\n", "backend: {pg: {workspace: a}}\n");
    expect(twice.backend).toBe("unclear");
    expect(twice.diagnostics).toMatchObject([
      { code: "config.duplicate", range: { file: "0.yaml", line: 2 }, detail: expect.stringContaining("1.yaml:1:1") },
      { code: "config.duplicate", range: { file: "1.yaml", line: 1 } },
    ]);
  });
});

describe("errors in the section backend", () => {
  it.each([
    ["nothing", "backend:", "config.structure", 2],
    ["a text", "backend: http", "config.structure", 2],
    ["two backends", "backend: {http: {}, pg: {}}", "config.structure", 2],
    ["a backend that is not known", "backend: {https: {}}", "config.unknown_key", 2],
    ["settings that are no map", "backend: {http: [a]}", "config.structure", 2],
    ["an unknown setting", "backend: {http: {adress: https://a.example}}", "config.unknown_key", 2],
    ["a setting of the other backend", "backend: {pg: {address: https://a.example}}", "config.unknown_key", 2],
    ["an address that is none", "backend: {http: {address: gitlab}}", "config.invalid_value", 2],
    ["another scheme", "backend: {http: {address: 'ftp://a.example'}}", "config.invalid_value", 2],
    ["a method in small letters", "backend: {http: {lock_method: post}}", "config.invalid_value", 2],
    ["a list as value", "backend: {http: {address: [a]}}", "config.invalid_value", 2],
    ["a workspace with a slash", "backend: {pg: {workspace: a/b}}", "config.invalid_value", 2],
    ["a lock in DynamoDB", "backend: {s3: {dynamodb_table: locks}}", "config.unsupported", 2],
    ["a bucket without a lock", "backend: {s3: {use_lockfile: false}}", "config.invalid_value", 2],
    ["a bucket that is a host", "backend: {s3: {bucket: evil.example/x}}", "config.invalid_value", 2],
    ["a region that is a host", "backend: {s3: {region: evil.example/x}}", "config.invalid_value", 2],
    ["an endpoint that is none", "backend: {s3: {endpoints: {s3: minio}}}", "config.invalid_value", 2],
    ["a misspelt endpoint", "backend: {s3: {endpoints: {S3: 'https://minio.example'}}}", "config.invalid_value", 2],
    ["a key with dots", "backend: {s3: {key: a/../b}}", "config.invalid_value", 2],
    ["a key with a slash at its end", "backend: {s3: {key: a/}}", "config.invalid_value", 2],
    ["a variable that is not set", "backend: {http: {address: '${env.NO}/x'}}", "config.environment", 2],
    ["a reference", "backend: {pg: {workspace: '${hosting_service.a.id}'}}", "config.reference", 2],
  ] as const)("%s", (_, text, code, line) => {
    const { backend, desired, diagnostics } = read(`project: p\n${text}\n`);
    expect(diagnostics).toMatchObject([{ code, range: { line } }]);
    expect(desired).toBeUndefined();
    expect(backend, "no state is to be touched").toBe("unclear");
  });

  it.each([
    ["password", http("password: canary"), "TF_HTTP_PASSWORD"],
    ["username", http("username: gitlab-ci-token"), "TF_HTTP_USERNAME"],
    ["address with a password", http("address: https://u:canary@gitlab.example/s"), "TF_HTTP_PASSWORD"],
    [
      "address with a token as parameter",
      http("address: https://h.example/s?private_token=canary"),
      "TF_HTTP_PASSWORD",
    ],
    ["address with a password of the environment", http("address: ${env.LEAK}"), "TF_HTTP_PASSWORD"],
    ["conn_str", "project: p\nbackend:\n  pg:\n    conn_str: host=h password=canary\n", "PG_CONN_STR"],
    ["secret_key", "project: p\nbackend:\n  s3:\n    secret_key: canary\n", "AWS_SECRET_ACCESS_KEY"],
    ["access_key", "project: p\nbackend:\n  s3:\n    access_key: canary\n", "AWS_ACCESS_KEY_ID"],
    ["token", "project: p\nbackend:\n  s3:\n    token: canary\n", "AWS_SESSION_TOKEN"],
    [
      "endpoint with a password",
      "project: p\nbackend:\n  s3:\n    endpoint: https://u:canary@h\n",
      "AWS_ACCESS_KEY_ID",
    ],
    ["conn_str as address", "project: p\nbackend:\n  pg:\n    conn_str: postgres://u:canary@h/d\n", "PG_CONN_STR"],
  ])("a credential is rejected and not shown: %s", (_, text, variable) => {
    const { backend, diagnostics } = read(text);
    expect(diagnostics).toMatchObject([
      { code: "config.secret", range: { line: 4 }, remedies: saying(expect.stringContaining(variable)) },
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("canary");
    expect(backend).toBe("unclear");
  });

  it("elsewhere do not hide the backend, unless the text could not be read completely", () => {
    const backend = "backend: {pg: {}}\n";
    expect(read(`${backend}services: {a: {plan_id: x}}\n`).backend).toMatchObject({ type: "pg" });
    expect(read("services: {a: {plan_id: x}}\n").backend).toBeUndefined();
    expect(read(backend, "services: [\n").backend).toBe("unclear");
    expect(read("services: [\n").backend).toBe("unclear");
  });
});
