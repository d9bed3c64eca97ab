import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { guardSettings, providerSettings } from "../../src/fronts/yaml/index.ts";
import { root } from "./markdown.ts";

// docs/commands.md is generated. test/unit/sandbox/profile-docs.test.ts checks the switches of the sandbox.
it.each([
  ["orders.md", [...Object.keys(guardSettings.shape), "--allow-unknown-prices", "--allow-removals"]],
  ["yaml.md", Object.keys(providerSettings.shape)],
] as const)("docs/%s has every setting", (name, settings) => {
  const page = readFileSync(path.join(root, "docs", name), "utf8");
  expect(settings.filter((setting) => !page.includes(`\`${setting}`))).toEqual([]);
});
