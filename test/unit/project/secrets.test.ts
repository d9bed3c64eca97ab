import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as cliParts from "../../../src/cli/parts.ts";
import type { CaptureOptions, CommandEnd } from "../../../src/core/files/index.ts";
import { HostformError, type SecretSource } from "../../../src/core/model/index.ts";
import { Redaction } from "../../../src/project/redaction.ts";
import { learnPlan, secretsOf } from "../../../src/project/secrets.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type FakeIoParts, fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";
import { plan } from "../report/builders.ts";

const SECRET = "correct horse battery";

/** A reader of secret sources in a folder. `end` is the result of each command. */
async function reader(parts: FakeIoParts = {}, end: Partial<CommandEnd> = {}) {
  const dir = temporaryFolder();
  const runs: (readonly string[])[] = [];
  const given: (readonly string[])[] = [];
  const fake = {
    ...fakeIo(parts),
    capture: async (command: readonly string[], { cwd, input, env }: CaptureOptions) => {
      expect([cwd, input]).toEqual([dir, ""]);
      runs.push(command);
      given.push(Object.keys(env));
      return { stdout: "", stderr: "", ...end };
    },
  };
  const { terminal, project } = openedOn(cliParts, fake, {}, { dir, state: path.join(dir, "hosting.tfstate") });
  const providers = new Map([["default", { alias: "default", tokenEnv: "ACME_TOKEN" }]]);
  const { readSource } = secretsOf(project.source, project.host, project.redaction, {
    project: "acme",
    resources: [],
    files: [],
    providers,
  });
  if (readSource === undefined) throw new Error("no reader");
  const shown = (text: string) => {
    terminal.out(text);
    terminal.flush();
    return fake.stdout();
  };
  return { dir, runs, given, read: readSource, shown };
}

/** Returns the detail of the refusal, which never contains the secret. */
async function refusal(read: Promise<string>): Promise<string | undefined> {
  const error = await read.then(String, (thrown: unknown) => thrown);
  if (!(error instanceof HostformError)) throw new Error(`not refused: ${String(error)}`);
  const [diagnostic] = error.diagnostics;
  expect(diagnostic?.code).toBe("secret.source");
  expect(JSON.stringify(error.diagnostics)).not.toContain(SECRET);
  return diagnostic?.detail;
}

describe("a secret value", () => {
  it("is taken from the environment as it is", async () => {
    const { read } = await reader({ env: { PW: ` ${SECRET}\n` } });
    expect(await read({ env: "PW" })).toBe(` ${SECRET}\n`);
  });

  it.each([
    ["", ""],
    ["\n", ""],
    ["\r\n", ""],
    [" ", " "],
  ])("is taken from a file without the one line break that ends it (%j)", async (end, rest) => {
    const { dir, read } = await reader();
    await writeFile(path.join(dir, "pw"), SECRET + end);
    expect(await read({ file: "pw" })).toBe(SECRET + rest);
  });

  it("is taken without the byte order mark before it, from a file and from a command, and is known without it", async () => {
    const { dir, read, shown } = await reader({}, { stdout: `\uFEFF${SECRET}\r\n` });
    await writeFile(path.join(dir, "pw"), `\uFEFF${SECRET}\n`);
    expect(await read({ file: "pw" })).toBe(SECRET);
    expect(await read({ command: ["pass"] })).toBe(SECRET);
    expect(shown(`it is ${SECRET}`)).toMatch(/^it is \(sensitive: (?:env.PW|file pw|command pass)\)$/);
  });

  it("is taken as it is in any script", async () => {
    const { dir, read } = await reader();
    await writeFile(path.join(dir, "pw"), "pässwörd-\u{1F511}-\u5bc6\n");
    expect(await read({ file: "pw" })).toBe("pässwörd-\u{1F511}-\u5bc6");
  });

  it("comes from a command that gets no token, no key of the state and no credential of its backend", async () => {
    const names = [
      "HOSTING_TOKEN",
      "ACME_TOKEN",
      "HOSTFORM_STATE_KEY",
      "TF_HTTP_PASSWORD",
      "PGPASSWORD",
      "VAULT_TOKEN",
    ];
    const env = Object.fromEntries(names.map((name) => [name, "0123456789"]));
    const { given, read } = await reader({ env }, { stdout: SECRET });
    await read({ command: ["pass"] });
    expect(given).toEqual([["VAULT_TOKEN"]]);
  });

  it("is read from the output of a command, once for all that name the command", async () => {
    const { runs, read } = await reader({}, { stdout: `${SECRET}\n` });
    const source: SecretSource = { command: ["pass", "show", "acme"] };
    expect(await Promise.all([read(source), read({ ...source })])).toEqual([SECRET, SECRET]);
    expect(runs).toEqual([["pass", "show", "acme"]]);
    await read({ command: ["pass", "show", "other"] });
    expect(runs).toHaveLength(2);
  });

  it("that could not be read is not read a second time", async () => {
    const { runs, read } = await reader({}, { failure: "ended with exit code 1" });
    await refusal(read({ command: ["pass"] }));
    await refusal(read({ command: ["pass"] }));
    expect(runs).toHaveLength(1);
  });

  it.each<[SecretSource, string]>([
    [{ env: "PW" }, "the environment"],
    [{ file: "pw" }, "a file"],
    [{ command: ["pass"] }, "a command"],
  ])("is known to the redaction once it is read from %o", async (source) => {
    const { dir, read, shown } = await reader({ env: { PW: SECRET } }, { stdout: SECRET });
    await writeFile(path.join(dir, "pw"), SECRET);
    await read(source);
    expect(shown(`it is ${SECRET}`)).toMatch(/^it is \(sensitive: (?:env.PW|file pw|command pass)\)$/);
  });

  it.each<[why: string, source: SecretSource, end: Partial<CommandEnd>, detail: string]>([
    ["is not set", { env: "NO" }, {}, "It is not set."],
    ["is set to nothing", { env: "EMPTY" }, {}, "It is empty."],
    ["is no file", { file: "." }, {}, expect.stringMatching(/: it is a folder\.$/)],
    ["is empty", { file: "empty" }, {}, "It is empty."],
    ["has two lines", { file: "two" }, {}, "It has more than one line."],
    ["prints nothing", { command: ["pass"] }, {}, "It printed nothing to standard output."],
    ["prints two lines", { command: ["pass"] }, { stdout: `${SECRET}\n${SECRET}` }, "It printed more than one line."],
    ["holds a byte order mark alone", { file: "mark" }, {}, "It is empty."],
    ["is in Latin-1", { file: "latin" }, {}, "It is not UTF-8 text."],
    ["is in UTF-16, with a byte order mark", { file: "utf16-mark" }, {}, "It is not UTF-8 text."],
    ["is in UTF-16", { file: "utf16" }, {}, "It is not UTF-8 text."],
    ["prints other bytes than UTF-8", { command: ["pass"] }, { stdout: `\uFFFD${SECRET}` }, "It is not UTF-8 text."],
    ["is set to other bytes than UTF-8", { env: "BYTES" }, {}, "It is not UTF-8 text."],
    [
      "fails, and prints the secret to both streams",
      { command: ["pass"] },
      { failure: "ended with exit code 2", stdout: `${SECRET}\n`, stderr: `no ${SECRET}\n` },
      "It ended with exit code 2. Last lines of standard error:\nno (secret)",
    ],
  ])("is refused when its source %s", async (_, source, end, detail) => {
    const { dir, read } = await reader({ env: { EMPTY: "", BYTES: `${SECRET}\uFFFD` } }, end);
    await writeFile(path.join(dir, "mark"), "\uFEFF\r\n");
    await writeFile(path.join(dir, "latin"), Buffer.from(`${SECRET}\xfc\n`, "latin1"));
    await writeFile(path.join(dir, "utf16-mark"), Buffer.from(`\uFEFF${SECRET}`, "utf16le"));
    await writeFile(path.join(dir, "utf16"), Buffer.from(SECRET, "utf16le"));
    await writeFile(path.join(dir, "empty"), "\n");
    await writeFile(path.join(dir, "two"), `${SECRET}\n${SECRET}\n`);
    expect(await refusal(read(source))).toEqual(detail);
  });

  it("is refused without a file, with its path", async () => {
    const { dir, read } = await reader();
    expect(await refusal(read({ file: "no" }))).toBe(`${path.join(dir, "no")}: there is no such file or folder.`);
  });
});

// CDKTF declares every output that stacks share as sensitive. An order must print some of them, for example its domain.
it.each([
  ["stays with a declared sensitive output", {}, "www.acme.example"],
  ["is hidden with an output of a secret", { origin: { from: ["var.token"] } }, "(sensitive: var.token)"],
])("the value of a plan %s", (_, over, shown) => {
  const redaction = new Redaction();
  const output = { name: "o", action: "create", before: null, after_unknown: false, sensitive: true } as const;
  learnPlan(redaction, plan([], { outputs: [{ ...output, after: "www.acme.example", ...over }] }));
  expect(redaction.redact("mail.www.acme.example")).toBe(`mail.${shown}`);
});
