import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readToken, type TokenSource } from "../../../../src/core/api/token.ts";
import { saying } from "../../../support/remedies.ts";

const TOKEN = "17|Zk3vY0pQ8sT2uW5xA7bC9dE1fG4hJ6kL";
const place = { attribute: ["token_file"] };
const reading = { of: "provider beta", relativeTo: "the declaration", place };

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "hostform-token-"));
  for (const [name, text] of Object.entries({ token: `${TOKEN}\n`, empty: " \n", open: TOKEN })) {
    await writeFile(path.join(dir, name), text, { mode: 0o600 });
  }
  await chmod(path.join(dir, "open"), 0o640);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const read = (source: TokenSource, env = {}) => readToken(source, { ...reading, env });

describe("a token", () => {
  it("is read without surrounding white space, from a variable or a file", async () => {
    const found = { token: TOKEN, readableByOthers: false };
    expect(await read({ env: "BETA" }, { BETA: ` ${TOKEN}\r\n` })).toEqual(found);
    expect(await read({ file: path.join(dir, "token") })).toEqual(found);
  });

  it.skipIf(process.platform === "win32")("is reported as readable if others may read its file", async () => {
    expect(await read({ file: path.join(dir, "open") })).toEqual({ token: TOKEN, readableByOthers: true });
  });

  it.each([
    [{ env: "BETA" }, "No API token for provider beta: the environment variable BETA is not set"],
    [{ env: "EMPTY" }, "No API token for provider beta: the environment variable EMPTY is empty"],
    [{ file: "empty" }, "The token file of provider beta is empty"],
    [{ file: "none" }, "The token file of provider beta cannot be read"],
    [{ file: "." }, "The token file of provider beta cannot be read"],
  ])("%j: %s", async (source, summary) => {
    const from = "file" in source ? { file: path.join(dir, source.file ?? "") } : { env: source.env ?? "" };
    await expect(read(from, { EMPTY: "  " })).rejects.toMatchObject({
      diagnostics: [
        { severity: "error", code: "provider.token", summary, remedies: saying(expect.any(String)), ...place },
      ],
    });
  });
});
