import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { markOfBackend, placeOfFile } from "../../../../src/core/local/index.ts";
import { placeOf } from "../../../../src/fronts/terraform/provider/place.ts";

function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), "hostform-place-")));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const earlierMark = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
const initialized = (dir: string, backend: object) => {
  mkdirSync(path.join(dir, ".terraform"));
  writeFileSync(path.join(dir, ".terraform/terraform.tfstate"), JSON.stringify({ version: 3, backend }));
};

describe("the place of a state file", () => {
  it("keeps the mark from earlier versions of the provider for a folder and workspace", () => {
    const dir = folder();
    expect(placeOf(dir, {}).mark).toBe(earlierMark(["folder", dir, "default", null]));
    expect(placeOf(dir, { TF_WORKSPACE: "eu" }).mark).toBe(earlierMark(["folder", dir, "eu", null]));
    expect(placeOf(dir, { TF_WORKSPACE: "eu" }).label).toBe(`the Terraform workspace eu in ${dir}`);
  });

  it("is the same for Terraform and hostform, through a link, and before the file exists", () => {
    const [dir, other] = [folder(), folder()];
    initialized(dir, { type: "local", config: { path: "acme.tfstate", workspace_dir: null }, hash: 7 });
    const before = placeOf(dir, {});
    expect(before.mark).toBe(placeOfFile(path.join(dir, "acme.tfstate")).mark);
    writeFileSync(path.join(dir, "acme.tfstate"), "");
    symlinkSync(path.join(dir, "acme.tfstate"), path.join(other, "linked.tfstate"));
    expect(placeOfFile(path.join(other, "linked.tfstate"))).toEqual(placeOfFile(path.join(dir, "acme.tfstate")));
    expect(placeOf(dir, {})).toEqual(before);
  });
});

describe("the mark of a state at a backend", () => {
  const mark = (type: string, settings: object, env = {}, workspace = "default") =>
    markOfBackend({ type, settings: { ...settings }, workspace }, env);

  it("does not change with credentials", () => {
    expect(mark("pg", { conn_str: "postgres://ana:one@db.example/states" })).toBe(
      mark("pg", { conn_str: "postgres://bob:two@db.example/states?sslmode=require" }),
    );
    expect(mark("http", { address: "https://state.example/a", username: "ana", password: "one" })).toBe(
      mark("http", { address: "https://bob:two@state.example/a" }),
    );
    const bucket = { bucket: "b", key: "k", region: "eu" };
    expect(mark("s3", { ...bucket, access_key: "one", secret_key: "one", token: "t" })).toBe(mark("s3", bucket));
    expect(mark("cloud", { organization: "acme", token: "one", workspaces: { name: "a" } })).toBe(
      mark("cloud", { organization: "acme", workspaces: { name: "a" } }),
    );
  });

  it("is equal for declared settings and settings in the environment", () => {
    expect(mark("pg", { conn_str: "postgres://ana:one@db.example/states", schema_name: "s" })).toBe(
      mark("pg", { conn_str: null }, { PG_CONN_STR: "host=db.example dbname=states user=bob", PG_SCHEMA_NAME: "s" }),
    );
    expect(mark("http", { address: "https://state.example/a" })).toBe(
      mark("http", {}, { TF_HTTP_ADDRESS: "https://state.example/a" }),
    );
    const [object, store] = [{ bucket: "b", key: "k" }, "https://minio.example"];
    // Terraform records all settings.
    const recorded = { ...object, endpoint: null, endpoints: { dynamodb: null, s3: store }, encrypt: null };
    const marks = [
      mark("s3", { ...object, endpoint: store, region: "eu" }),
      mark("s3", { ...object, endpoints: { s3: `${store}/` }, use_lockfile: true }),
      mark("s3", recorded, { AWS_ENDPOINT_URL_S3: "https://ignored.example" }),
      ...["AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL"].map((name) =>
        mark("s3", object, { [name]: store }),
      ),
    ];
    expect(new Set(marks).size).toBe(1);
  });

  it("equals the mark of earlier versions for the default table", () => {
    const server = { conn_str: "postgres://ana:one@db.example/states" };
    expect(mark("pg", { ...server, table_name: "states" })).toBe(mark("pg", server));
    expect(mark("pg", { ...server, table_name: "other" })).toBe(mark("pg", server, { PG_TABLE_NAME: "other" }));
  });

  it("differs for each database, schema, URL, object and workspace", () => {
    const server = { conn_str: "postgres://ana:one@db.example/states" };
    const marks = [
      mark("pg", server),
      mark("pg", server, {}, "eu"),
      mark("pg", { ...server, schema_name: "other" }),
      mark("pg", { ...server, table_name: "other" }),
      mark("pg", { conn_str: "postgres://ana:one@db.example/others" }),
      mark("pg", { conn_str: "postgres://ana:one@db.example:5433/states" }),
      mark("http", { address: "https://state.example/a" }),
      mark("http", { address: "https://state.example/b" }),
      mark("s3", { bucket: "b", key: "k" }),
      mark("s3", { bucket: "b", key: "l" }),
      mark("s3", { bucket: "b", key: "k" }, {}, "eu"),
      mark("s3", { bucket: "b", key: "k", workspace_key_prefix: "w" }, {}, "eu"),
      mark("s3", { bucket: "b", key: "k" }, { AWS_ENDPOINT_URL: "https://other.example" }),
      mark("gcs", { bucket: "b", prefix: "k" }),
    ];
    expect(new Set(marks).size).toBe(marks.length);
  });
});
