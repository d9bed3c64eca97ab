import { existsSync } from "node:fs";
import { cp, readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";
import { root } from "./markdown.ts";

const folder = path.join(root, "examples");
// Those in HCL are tested with the real Terraform: test/terraform/examples.test.ts.
const examples = (await readdir(folder, { withFileTypes: true })).filter(({ name }) =>
  existsSync(path.join(folder, name, "hosting.yaml")),
);

describe("the examples", () => {
  it.each(examples.map(({ name }) => name))("%s is valid, can be applied, and is then as declared", async (name) => {
    const project = await startProject();
    project.env.OWN_HOSTING_TOKEN = project.sandbox.tokens.customer;
    await cp(path.join(folder, name), project.dir, { recursive: true });

    const validated = await project.run("validate");
    expect(validated.code, validated.text).toBe(0);
    const planned = await project.run("plan", "--detailed-exitcode");
    expect(planned.code, planned.text).toBe(2);
    await project.apply();
    await project.expectNoChanges();
  });
});
