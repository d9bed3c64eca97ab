/** Fields that newer versions of Terraform write into a state: each command of hostform that writes keeps them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { decodeState, encodeState } from "../../src/core/record/index.ts";
import { applied, SITES } from "../support/edited-sites.ts";
import { HttpBackend } from "../support/http-backend.ts";
import type { Project } from "../support/project.ts";

const OPENTOFU = 'provider["registry.opentofu.org/hostform/hosting"]';
/** An instance of another provider. Its identity has more digits than a number of JavaScript. */
const FOREIGN =
  '{"mode":"managed","type":"aws_s3_bucket","name":"logs","provider":"provider[\\"registry.opentofu.org/hashicorp/aws\\"]","instances":[{"schema_version":0,"attributes":{"id":"b"},"sensitive_attributes":[],"identity_schema_version":3,"identity":{"account":12345678901234567890123,"bucket":"b"}}]}';

interface Entry {
  readonly type: string;
  readonly name: string;
  readonly provider: string;
  readonly instances: Record<string, unknown>[];
}

/** Returns `identity` and the other fields of Terraform of each instance, and the registry of its provider. */
function fieldsOf(text: string): Record<string, unknown> {
  expect(text).toContain("12345678901234567890123");
  const { resources } = JSON.parse(text) as { readonly resources: readonly Entry[] };
  return Object.fromEntries(
    resources.flatMap(({ type, name, provider, instances }) =>
      instances.map((one) => [
        `${type}.${name}${one.index_key === undefined ? "" : `.${one.index_key}`}`,
        [one.identity_schema_version, one.identity, one.status, provider.split("/")[0]],
      ]),
    ),
  );
}

/** Adds to each instance what OpenTofu or a newer Terraform would have written. */
function renewed(text: string): string {
  const state = JSON.parse(text) as { serial: number; readonly resources: Entry[] };
  const resources = state.resources.map((one) => ({
    ...one,
    provider: OPENTOFU,
    instances: one.instances.map((instance) => ({
      ...instance,
      ...(one.name === "bakery" && { status: "tainted" }),
      identity_schema_version: 1,
      identity: { id: String((instance.attributes as { readonly id: unknown }).id), origin: one.name },
    })),
  }));
  const all = JSON.stringify({ ...state, serial: state.serial + 1, resources });
  return encodeState(decodeState(all.replace(/"resources":\[/, `$&${FOREIGN},`), "the test"));
}

async function ok(project: Project, ...args: string[]): Promise<string> {
  const { code, out, text } = await project.run(...args);
  expect(code, text).toBe(0);
  return out;
}

describe("identity, taint and registry in a state", () => {
  it("survive each command that writes a state", async () => {
    const project = await applied();
    const text = renewed(await readFile(project.statePath, "utf8"));
    let expected = fieldsOf(text);
    expect(new Set(Object.values(expected).map((one) => (one as unknown[])[3]))).toEqual(
      new Set(['provider["registry.opentofu.org']),
    );
    const expectKept = async (what: string) =>
      expect(fieldsOf(await ok(project, "state", "pull")), what).toEqual(expected);
    await writeFile(path.join(project.dir, "given"), text);

    await ok(project, "state", "push", "given");
    await expectKept("push");
    await ok(project, "state", "mv", "hosting_webhook.billing", "hosting_webhook.other");
    const { "hosting_webhook.billing": hook, ...others } = expected;
    expected = { ...others, "hosting_webhook.other": hook };
    await expectKept("mv");
    await ok(project, "state", "rm", "hosting_service.cafe", 'hosting_grant.cafe["dev@agency.example"]');
    const cafe = ["hosting_service.cafe", "hosting_grant.cafe.dev@agency.example"];
    expected = Object.fromEntries(Object.entries(expected).filter(([address]) => !cafe.includes(address)));
    await expectKept("rm");

    // An import adds an entry in the registry of the others, as yet without an identity.
    const [id] = project.control.list("services").filter(({ domain }) => domain === "cafe.example");
    await ok(project, "import", "hosting_service.cafe", String(id?.id));
    expected = { ...expected, "hosting_service.cafe": [undefined, undefined, undefined, OPENTOFU.split("/")[0]] };
    await expectKept("import");
    await project.declare(
      SITES.replace("manage", "view").replace("services: { currency", "services: { term: 1, currency"),
    );
    const grant = "hosting_grant.acme.dev@agency.example";
    await ok(project, "apply", "--auto-approve", "--allow-removals", "--target", "hosting_service.acme");
    await expectKept("apply without a change");
    await ok(project, "apply", "--auto-approve", "--target", 'hosting_grant.acme["dev@agency.example"]');
    // The change made another object, which has no identity yet.
    expected = { ...expected, [grant]: [undefined, undefined, undefined, OPENTOFU.split("/")[0]] };
    await expectKept("apply");

    project.env.HOSTFORM_STATE_PASSPHRASE = "a passphrase of the test";
    await ok(project, "state", "encrypt");
    await expectKept("encrypt");
    project.env.HOSTFORM_STATE_NEW_PASSPHRASE = "another passphrase of the test";
    await ok(project, "state", "rotate-key");
    project.env.HOSTFORM_STATE_PASSPHRASE = project.env.HOSTFORM_STATE_NEW_PASSPHRASE;
    delete project.env.HOSTFORM_STATE_NEW_PASSPHRASE;
    await expectKept("rotate-key");
    await ok(project, "state", "decrypt");
    delete project.env.HOSTFORM_STATE_PASSPHRASE;
    await expectKept("decrypt");
  });

  it("survive a migration to a backend and back", async () => {
    const server = await HttpBackend.start({});
    onTestFinished(() => server.close());
    const project = await applied();
    const text = renewed(await readFile(project.statePath, "utf8"));
    await writeFile(project.statePath, text);
    await project.declare(`${SITES}backend: { http: ${JSON.stringify(server.settings)} }\n`);
    await ok(project, "state", "migrate");
    expect(fieldsOf(server.state ?? "")).toEqual(fieldsOf(text));
    await ok(project, "state", "migrate", "--back");
    expect(fieldsOf(await readFile(project.statePath, "utf8"))).toEqual(fieldsOf(text));
  });

  it("move to another project and back with their entries", async () => {
    const project = await applied();
    const text = renewed(await readFile(project.statePath, "utf8"));
    await writeFile(project.statePath, text);
    const other = path.join(project.dir, "other");
    await mkdir(other);
    await ok(project, "project", "split", "client:bakery", "other");
    const entries = JSON.parse(await readFile(path.join(other, "hosting.tfstate"), "utf8")).resources as Entry[];
    expect(entries.map(({ name, provider }) => [name, provider])).toEqual([
      ["bakery", OPENTOFU],
      ["bakery", OPENTOFU],
    ]);
    expect(entries.flatMap(({ instances }) => instances)).toMatchObject([
      { status: "tainted", identity: { origin: "bakery" } },
      { status: "tainted", identity: { origin: "bakery" } },
    ]);
    await ok(project, "project", "join", "other");
    expect(fieldsOf(await readFile(project.statePath, "utf8"))).toEqual(fieldsOf(text));
  });
});
