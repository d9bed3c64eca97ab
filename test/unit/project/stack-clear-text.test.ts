import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { warnOfClearText } from "../../../src/constructs/index.ts";
import { startProject } from "../../support/project.ts";

/** Returns the warning that the binding adds through the library. */
function words(): string {
  let said = "";
  const library = {
    Annotations: { of: () => ({ addWarning: (message: string) => (said = message) }) },
    Token: { isUnresolved: () => false },
  };
  const construct = { node: { metadata: [] } } as unknown as Parameters<typeof warnOfClearText>[1];
  warnOfClearText(library, construct, "password", "hunter2hunter2");
  return said;
}

const service = (site: string) => ({
  "//": { metadata: { path: `prod/${site}/Default`, uniqueId: site } },
  plan_id: 11,
  currency: "USD",
  domain: `${site}.example`,
  password: `hunter2-${site}`,
  password_version: 1,
});

it("a password in clear text gets one warning: from its construct, or without one, from the reader of the stack", async () => {
  const project = await startProject();
  const synthesized = {
    terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
    provider: { hosting: [{ project: "acme" }] },
    resource: { hosting_service: { a: service("a"), b: service("b") } },
  };
  writeFileSync(path.join(project.dir, "cdk.tf.json"), JSON.stringify(synthesized));
  const prod = {
    name: "prod",
    constructPath: "prod",
    workingDirectory: ".",
    synthesizedStackPath: "cdk.tf.json",
    dependencies: [],
    annotations: [{ constructPath: "prod/a/Default", level: "@cdktf/warn", message: words() }],
  };
  const manifest = { version: "0.24.0", stacks: { prod } };
  writeFileSync(path.join(project.dir, "manifest.json"), JSON.stringify(manifest));

  const { code, text } = await project.run("validate", "--stack", ".", "--json");
  const { diagnostics } = JSON.parse(text.slice(text.indexOf("{")));
  expect(code).toBe(0);
  expect(diagnostics.map(({ code: of, construct = "" }: Record<string, string>) => `${of} ${construct}`)).toEqual([
    "stack.annotation ",
    expect.stringMatching(/^config\.secret prod\/b(?:\/Default)?$/),
  ]);
  expect(text).not.toContain("hunter2");
});
