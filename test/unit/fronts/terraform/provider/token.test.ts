import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Diagnostic, ValueObject } from "../../../../../src/core/model/index.ts";
import { temporaryFolder } from "../../../../support/folder.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { BASE, failure, open, sandboxed, TOKEN } from "./harness.ts";

describe("the token", () => {
  it.each([
    [{ token_env: "BETA" }, { BETA: TOKEN, HOSTING_TOKEN: "other" }, /, token from BETA$/],
    [{ token_file: "secret/token" }, { HOSTING_TOKEN: "other" }, /, token from \/.*\/token$/],
    [{ token: TOKEN }, { HOSTING_TOKEN: "other" }, /, token from the attribute token$/],
    [{}, { HOSTING_TOKEN: TOKEN }, /, token from HOSTING_TOKEN$/],
  ])("is found with %j", async (given, env, from) => {
    const sandbox = await sandboxed();
    const dir = temporaryFolder();
    const token = sandbox.tokens.agency;
    const swapped = (values: object) => JSON.parse(JSON.stringify(values).replaceAll(TOKEN, token));
    await writeFile(path.join(dir, "token"), `${token}\n`, { mode: 0o600 });
    const place = "token_file" in given ? { token_file: "token" } : swapped(given);
    const { session, warnings } = await open({ base_url: sandbox.url, ...place }, { env: swapped(env), folder: dir });
    expect((await session.account.plans()).length).toBeGreaterThan(5);
    expect(warnings).toEqual([]);
    expect(session.access).toMatch(from);
  });

  it("may lie in a file that others can read, with a warning", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "token"), TOKEN);
    await chmod(path.join(dir, "token"), 0o644);
    const { warnings } = await open({ ...BASE, token_file: "token" }, { folder: dir });
    expect(warnings).toMatchObject([
      { severity: "warning", summary: "Other users can read the token file", attribute: ["token_file"] },
    ]);
  });

  it.each<[string, ValueObject, Record<string, string>, Partial<Diagnostic>]>([
    [
      "is nowhere",
      {},
      {},
      {
        summary: "No API token for the provider: the environment variable HOSTING_TOKEN is not set",
        attribute: ["token"],
      },
    ],
    [
      "is empty",
      {},
      { HOSTING_TOKEN: " " },
      {
        summary: "No API token for the provider: the environment variable HOSTING_TOKEN is empty",
        attribute: ["token"],
      },
    ],
    [
      "is not where it is said to be",
      { token_env: "BETA" },
      { HOSTING_TOKEN: TOKEN },
      { summary: "No API token for the provider: the environment variable BETA is not set", attribute: ["token_env"] },
    ],
    [
      "has no file",
      { token_file: "none" },
      {},
      { summary: "The token file of the provider cannot be read", attribute: ["token_file"] },
    ],
    [
      "has an empty file",
      { token_file: "empty" },
      {},
      { summary: "The token file of the provider is empty", attribute: ["token_file"] },
    ],
    [
      "cannot be one",
      {},
      { HOSTING_TOKEN: `${TOKEN} ${TOKEN}` },
      { summary: "The API token contains invalid characters", attribute: ["token"] },
    ],
    [
      "cannot be one, in a file",
      { token_file: "broken" },
      {},
      { summary: "The API token contains invalid characters", attribute: ["token_file"] },
    ],
  ])("is an error at the setting when it %s", async (_, given, env, expected) => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "empty"), "\n", { mode: 0o600 });
    await writeFile(path.join(dir, "broken"), `${TOKEN}\n${TOKEN}`, { mode: 0o600 });
    const found = await failure({ ...BASE, ...given }, { env, folder: dir });
    expect(found).toMatchObject([{ severity: "error", code: "provider.token", ...expected }]);
    expect(fixOf(found[0])).toBeTruthy();
  });
});
