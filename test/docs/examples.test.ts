import { existsSync, readdirSync } from "node:fs";
import { cp, readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";
import { root } from "./markdown.ts";

const folder = path.join(root, "examples");
// test/terraform/examples.test.ts tests the examples in HCL with the real Terraform.
const examples = (await readdir(folder, { withFileTypes: true })).filter(({ name }) =>
  existsSync(path.join(folder, name, "hosting.yaml")),
);

/** Examples, one entry for each environment. */
const runs = examples.flatMap(({ name }): { name: string; flags: readonly string[] }[] => {
  const environments = path.join(folder, name, "environments");
  if (!existsSync(environments)) return [{ name, flags: [] }];
  return readdirSync(environments).map((file) => ({ name, flags: ["-e", path.basename(file, ".yaml")] }));
});

describe("the examples", () => {
  it.each(runs)("$name $flags is valid, can be applied, and then has no changes", async ({ name, flags }) => {
    const project = await startProject();
    const { tokens, url } = project.sandbox;
    Object.assign(project.env, { OWN_HOSTING_TOKEN: tokens.customer, PRODUCTION_URL: url, STAGING_URL: url });
    Object.assign(project.env, { PRODUCTION_TOKEN: tokens.agency, STAGING_TOKEN: tokens.agency });
    await cp(path.join(folder, name), project.dir, { recursive: true });

    const validated = await project.run("validate", ...flags);
    expect(validated.code, validated.text).toBe(0);
    const planned = await project.run("plan", "--detailed-exitcode", ...flags);
    expect(planned.code, planned.text).toBe(2);
    await project.apply(...flags);
    const again = await project.run("plan", "--detailed-exitcode", ...flags);
    expect(again.code, again.text).toBe(0);
    if (flags.length === 0) await project.expectNoChanges();
  });
});
