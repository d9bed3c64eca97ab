import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import * as cliParts from "../../../src/cli/parts.ts";
import { terraformFolder } from "../../../src/project/terraform-folder.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";

it.each([
  ["main.tf", true],
  ["main.tf.json", true],
  ["main.tofu", true],
  ["main.tofu.json", true],
  ["main.json", false],
  [".main.tf", false],
])("a folder with %s is a folder of Terraform or OpenTofu: %s", async (file, expected) => {
  const cwd = temporaryFolder();
  await writeFile(path.join(cwd, file), "{}");
  const { project } = openedOn(cliParts, fakeIo({ cwd, env: { HOME: cwd } }), {});
  expect((await terraformFolder(project)) !== undefined).toBe(expected);
});
