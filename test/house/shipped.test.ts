/** Suites other than the unit tests run the published files (`test/support/shipped.ts`). */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

/** Modules that run a command, a project or the provider. */
const RUNNING =
  "cli/(?:cli|main|parts|program)|project/(?:apply|library|plan|project)|fronts/terraform/(?:main|calls/\\w+)";

/** Tests that import such a module from the sources, each with the reason. */
const FROM_SOURCES: Readonly<Record<string, string>> = {
  "test/docs/agents.test.ts": "reads the definitions of the commands",
  "test/house/output-schema.test.ts": "reads the definitions of the commands",
  "test/house/remedies.test.ts": "reads the definitions of the commands",
  "test/house/rendered-remedies.test.ts": "reads the definitions of the commands",
  "test/support/files-of-c6bd9028.ts": "opens sessions of the provider for the modelled Terraform, beside the sources",
  "test/support/shipped.ts": "HOSTFORM_TEST_SOURCES=1 wants the sources",
  "test/support/terraform-core-actions.ts": "encodes the values of the modelled Terraform",
  "test/support/terraform-core-process.ts": "ends a command between two effects inside the provider",
  "test/support/terraform-core-query.ts": "encodes the values of the modelled Terraform",
  "test/support/terraform-core-wire.ts": "encodes the values of the modelled Terraform",
};

it("suites import a command, a project or the provider from the sources only for a listed reason", () => {
  const own = new RegExp(`(?:from |(?<!typeof )import\\()"(?:\\.\\.?/)+src/(?:${RUNNING})\\.ts"`);
  const files = globSync(["test/**/*.ts"], { cwd: root, exclude: ["test/unit/**", "test/golden/**"] });
  const importing = files
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => own.test(readFileSync(path.join(root, file), "utf8").replace(/^import type [\s\S]*?;$/gm, "")));
  expect(importing.sort()).toEqual(Object.keys(FROM_SOURCES));
});
