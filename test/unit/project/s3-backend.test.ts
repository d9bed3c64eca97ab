import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/index.ts";
import { stateBackend } from "../../../src/project/backend.ts";
import type { Log, ProjectSource } from "../../../src/project/source.ts";
import { testClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/folder.ts";

const STATE = { bucket: "states", key: "clients/acme.tfstate", region: "eu-central-1" };
const KEYS = { AWS_ACCESS_KEY_ID: "canary-of-the-key-id", AWS_SECRET_ACCESS_KEY: "canary-of-the-secret" };

/** Returns the URL of the state, or the error. Opens no connection. */
async function placeOf(settings: JsonObject, env: Record<string, string> = {}): Promise<string> {
  const dir = temporaryFolder();
  const source = { dir, cwd: dir, env: { ...KEYS, ...env }, insecureHttp: false } as unknown as ProjectSource;
  const log = { alert: () => undefined } as unknown as Log;
  const given = JSON.parse(JSON.stringify({ ...STATE, ...settings }));
  const opened = stateBackend({ type: "s3", settings: given }, source, testClock(), log);
  return opened.then(
    ({ text }) => text.name,
    (error: Error) => error.message,
  );
}

it.each<[string, JsonObject, Record<string, string>, string]>([
  ["the host of the bucket at Amazon", {}, {}, "https://states.s3.eu-central-1.amazonaws.com/clients/acme.tfstate"],
  [
    "the domain of China",
    { region: "cn-north-1" },
    {},
    "https://states.s3.cn-north-1.amazonaws.com.cn/clients/acme.tfstate",
  ],
  [
    "the path for a bucket with a dot",
    { bucket: "a.states" },
    {},
    "https://s3.eu-central-1.amazonaws.com/a.states/clients/acme.tfstate",
  ],
  [
    "another store",
    { endpoints: { s3: "https://minio.example:9000" } },
    {},
    "https://states.minio.example:9000/clients/acme.tfstate",
  ],
  [
    "the path at an IP address",
    { endpoint: "http://127.0.0.1:9000" },
    {},
    "http://127.0.0.1:9000/states/clients/acme.tfstate",
  ],
  [
    "the path by a setting",
    { use_path_style: true },
    {},
    "https://s3.eu-central-1.amazonaws.com/states/clients/acme.tfstate",
  ],
  [
    "the path by the earlier setting",
    { force_path_style: true },
    { AWS_ENDPOINT_URL_S3: "https://minio.example/s3" },
    "https://minio.example/s3/states/clients/acme.tfstate",
  ],
  [
    "the key of a workspace",
    { workspace: "eu" },
    {},
    "https://states.s3.eu-central-1.amazonaws.com/env%3A/eu/clients/acme.tfstate",
  ],
  [
    "another prefix",
    { workspace: "eu", workspace_key_prefix: "teams/a" },
    {},
    "https://states.s3.eu-central-1.amazonaws.com/teams/a/eu/clients/acme.tfstate",
  ],
])("uses %s", async (_, settings, env, url) => {
  expect(await placeOf(settings, env)).toBe(url);
});

it("reads region and store from the variables of Amazon's programs", async () => {
  const env = { AWS_REGION: "us-west-2", AWS_ENDPOINT_URL: "https://minio.example" };
  expect(await placeOf({ region: undefined } as never, { AWS_DEFAULT_REGION: "eu-west-3" })).toContain("s3.eu-west-3.");
  expect(await placeOf({ region: undefined } as never, env)).toBe("https://states.minio.example/clients/acme.tfstate");
});

it.each<[string, JsonObject, Record<string, string>, string]>([
  ["no region", { region: undefined } as never, {}, "The backend s3 lacks settings"],
  ["plain http to another machine", { endpoint: "http://minio.example" }, {}, "Plain http to minio.example"],
  [
    "a password in the endpoint",
    {},
    { AWS_ENDPOINT_URL_S3: "https://u:canary@minio.example" },
    "holds a user name or password",
  ],
  [
    "a store that may receive no credentials",
    {},
    { HOSTFORM_ALLOWED_ORIGINS: "https://api.example" },
    "https://states.s3.eu-central-1.amazonaws.com",
  ],
  ["no credentials", {}, { AWS_ACCESS_KEY_ID: "" }, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"],
  ["a key with dots", { key: "../a" }, {}, "The backend s3 lacks settings"],
])("rejects %s before any connection, without a secret in the message", async (_, settings, env, words) => {
  const message = await placeOf(settings, env);
  expect(message).toContain(words);
  expect(message).not.toContain("canary");
});
