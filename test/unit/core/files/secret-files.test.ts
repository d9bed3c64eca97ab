import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  type CommandEnd,
  endOfErrors,
  SecretFiles,
  type Seen,
  systemSecretFiles,
} from "../../../../src/core/files/index.ts";
import { HostformError, type SecretOutput } from "../../../../src/core/model/index.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { fixOf, saying } from "../../../support/remedies.ts";
import { everyLuck, FakeDisk } from "../record/fake-disk.ts";

const SECRET = "whsec_0123456789abcdef";
const OF = { address: "hosting_webhook.billing", attribute: "secret" };
const TEMPORARY = "/p/.hook.hostform.tmp";
const FILE: SecretOutput = { file: "hook" };
const LINE: SecretOutput = { env_file: { path: ".env", name: "HOOK" } };
const COMMAND: SecretOutput = { command: ["vault", "put"] };

type Standing = Pick<Seen, "form" | "mode" | "isOwn">;
const PRIVATE: Standing = { form: "file", mode: 0o600, isOwn: true };

interface Setting {
  readonly disk?: FakeDisk;
  readonly standing?: Standing;
  readonly end?: Partial<CommandEnd>;
  /** Replaces `standing`, which applies to every path. */
  readonly look?: (path: string) => Standing | undefined;
  readonly isOwn?: (file: string) => boolean;
  readonly owner?: string;
}

function outputs({ disk = new FakeDisk(), standing, end = {}, look, ...more }: Setting = {}) {
  const runs: [readonly string[], string, object][] = [];
  const files = new SecretFiles({
    folder: "/p",
    disk,
    look: look ?? ((path) => (path === "/p" ? undefined : standing)),
    run: async (command, input, env) => {
      runs.push([command, input, env]);
      return { stdout: "", stderr: "", ...end };
    },
    own: ["/p/hosting.tfstate"],
    ...more,
  });
  return { files, disk, runs };
}

/** Returns the one diagnostic of a failure. Fails the test if the diagnostic contains the secret. */
async function refusal(failing: Promise<unknown>) {
  const error = await failing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(HostformError);
  const { diagnostics } = error as HostformError;
  expect(diagnostics).toHaveLength(1);
  expect(JSON.stringify(diagnostics)).not.toContain(SECRET);
  expect(diagnostics[0]).toMatchObject({ code: "secret.output", address: OF.address, attribute: ["secret_output"] });
  return diagnostics[0];
}

describe("a secret that is written to a file", () => {
  it("replaces the whole file", async () => {
    const { files, disk } = outputs({ disk: new FakeDisk({ "/p/hook": "old\n" }) });
    await files.write(FILE, OF, SECRET);
    expect(disk.text("/p/hook")).toBe(`${SECRET}\n`);
    expect([...disk.names.keys()]).toEqual(["/p/hook"]);
  });

  it("exists completely after a power failure, or the previous file does", async () => {
    const steps = await count((disk) => outputs({ disk }).files.write(FILE, OF, SECRET));
    expect(steps).toBeGreaterThan(4);
    for (let crashAt = 0; crashAt <= steps; crashAt++) {
      const disk = new FakeDisk({ "/p/hook": "old\n" });
      disk.crashAt = crashAt;
      const done = await outputs({ disk })
        .files.write(FILE, OF, SECRET)
        .then(
          () => true,
          () => false,
        );
      for (const luck of everyLuck) {
        const found = disk.afterPowerFailure(luck).text("/p/hook");
        expect(done ? [`${SECRET}\n`] : ["old\n", `${SECRET}\n`], JSON.stringify([crashAt, luck])).toContain(found);
      }
    }
  });

  it("replaces the temporary file of a killed run", async () => {
    const { files, disk } = outputs({ disk: new FakeDisk({ [TEMPORARY]: "an old secret\n" }) });
    await files.write(FILE, OF, SECRET);
    expect([...disk.names.keys()]).toEqual(["/p/hook"]);
  });

  it.each(["create", "write", "sync", "rename", "syncFolder"])(
    "is reported when %s fails, and nothing is left",
    async (operation) => {
      const { files, disk } = outputs();
      disk.failures.push({ operation, code: "ENOSPC" });
      expect(fixOf(await refusal(files.write(FILE, OF, SECRET)))).toBe("Free space on the disk.");
      expect([...disk.names.keys()].filter((name) => name !== "/p/hook")).toEqual([]);
    },
  );

  it("shares an env file with secrets that are written at the same time", async () => {
    const { files, disk } = outputs({ disk: new FakeDisk({ "/p/.env": "A=1\n" }) });
    const names = ["ONE", "TWO", "THREE"];
    await Promise.all(names.map((name) => files.write({ env_file: { path: ".env", name } }, OF, `of ${name}`)));
    expect(disk.text("/p/.env")).toBe("A=1\nONE='of ONE'\nTWO='of TWO'\nTHREE='of THREE'\n");
  });

  it("is not written to a file that is not UTF-8 text, and the check rejects that file", async () => {
    const { files, disk } = outputs({ disk: new FakeDisk({ "/p/.env": "A=\uFFFD\n" }) });
    for (const failing of [files.write(LINE, OF, SECRET), files.check(LINE, OF)])
      expect(await refusal(failing)).toMatchObject({
        detail: "/p/.env is not a text file in UTF-8, so rewriting it would corrupt it.",
        remedies: saying("Name another file."),
      });
    expect([...disk.names].map(([name, { text }]) => [name, text])).toEqual([["/p/.env", "A=\uFFFD\n"]]);
    const whole = outputs({ disk: new FakeDisk({ "/p/hook": "\uFFFD" }) });
    // A file that hostform replaces completely may have any content.
    await whole.files.check(FILE, OF);
  });

  it("is rejected if no notation of env files can represent it", async () => {
    const { files, disk } = outputs();
    const odd = `it's "${SECRET}"`;
    expect(fixOf(await refusal(files.write(LINE, OF, odd)))).toBe("Use file or command in place of env_file.");
    expect(disk.names.size).toBe(0);
  });
});

describe("the check of an output", () => {
  it.each([FILE, LINE])("changes nothing (%o)", async (output) => {
    const { files, disk } = outputs({ disk: new FakeDisk({ "/p/hook": "old\n", "/p/.env": "A=1\n" }) });
    await files.check(output, OF);
    expect([...disk.names].map(([name, { text }]) => [name, text])).toEqual([
      ["/p/hook", "old\n"],
      ["/p/.env", "A=1\n"],
    ]);
    expect(disk.operations.some((operation) => operation.startsWith("write"))).toBe(true);
  });

  it.each(["create", "write", "sync"])("detects that %s fails", async (operation) => {
    const { files, disk } = outputs();
    disk.failures.push({ operation, code: "EROFS" });
    const refused = await refusal(files.check(FILE, OF));
    expect(refused?.summary).toBe("The secret of hosting_webhook.billing cannot be written to the file hook");
    expect(disk.names.size).toBe(0);
  });

  it.each<[Partial<Standing>, string, RegExp]>([
    [{ mode: 0o644 }, "Others can read or write /p/.env.", /^Run chmod 600 \.env to remove/],
    [{ mode: 0o660 }, "Others can read or write /p/.env.", /^Run chmod 600 \.env to remove/],
    [{ isOwn: false }, "Another user owns /p/.env.", /^Remove the file/],
    [{ form: "link" }, "/p/.env is a symbolic link. Secrets are written to ordinary files only.", /^Name its target/],
  ])("rejects a file that other users can access: %o", async (standing, detail, fix) => {
    const { files, disk } = outputs({ standing: { ...PRIVATE, ...standing } });
    const refused = await refusal(files.check(LINE, OF));
    expect([refused?.detail, fixOf(refused)]).toEqual([detail, expect.stringMatching(fix)]);
    expect(disk.operations).toEqual([]);
    await outputs({ standing: PRIVATE }).files.check(LINE, OF);
  });

  it("is skipped at the write, because the new file is private even if others can read the old file", async () => {
    const { files, disk } = outputs({ standing: { ...PRIVATE, mode: 0o644, isOwn: false } });
    await files.write(FILE, OF, SECRET);
    expect(disk.text("/p/hook")).toBe(`${SECRET}\n`);
  });

  it("reads no path that its text already rejects", async () => {
    const looked: string[] = [];
    const disk = new FakeDisk();
    const resolve = disk.resolve;
    disk.resolve = (path) => {
      looked.push(path);
      return resolve(path);
    };
    const look = (path: string) => {
      looked.push(path);
      return undefined;
    };
    for (const file of ["../x", "/elsewhere/x", "a/../../x"]) {
      const { files } = outputs({ disk, look });
      expect((await refusal(files.destination({ file }, OF)))?.detail).toContain("which is not in /p");
    }
    expect([...new Set(looked)]).toEqual(["/p"]);
  });

  it.each<SecretOutput>([
    { file: ".git/hooks/post-checkout" },
    { env_file: { path: "sub/.git/config", name: "X" } },
    { file: "/elsewhere/.git/hooks/pre-commit", outside_project: true },
  ])("rejects a file that git runs or reads, in any folder: %o", async (output) => {
    const { files } = outputs({ disk: new FakeDisk() });
    expect((await refusal(files.check(output, OF)))?.detail).toContain("The file is in a .git folder");
  });

  it("rejects every file of hostform, by any path, and names its owner", async () => {
    const disk = new FakeDisk();
    const resolve = disk.resolve;
    disk.resolve = async (path) => {
      if (path === "/p/hosting.tfstate") throw Object.assign(new Error("no such folder"), { code: "ENOENT" });
      return resolve(path === "/p/link" ? "/p/hosting.tfstate" : path);
    };
    const { files } = outputs({ disk, owner: "Terraform", isOwn: (file) => file.endsWith(".tfvars") });
    for (const file of ["link", "x.tfvars"]) {
      const said = await refusal(files.check({ file }, OF));
      expect([said?.detail, fixOf(said)]).toEqual([
        "Terraform itself reads or writes this file.",
        "Name another file.",
      ]);
    }
    await files.check(FILE, OF);
  });

  it.each<[SecretOutput, Standing | undefined, string]>([
    [FILE, { ...PRIVATE, form: "folder" }, "/p/hook is a folder."],
    [FILE, { ...PRIVATE, form: "other" }, "/p/hook is not an ordinary file."],
    [{ file: "./x/../hosting.tfstate" }, undefined, "hostform itself reads or writes this file."],
  ])("rejects %o (%o)", async (output, standing, detail) => {
    const { files, disk } = outputs({ ...(standing && { standing }) });
    expect((await refusal(files.check(output, OF)))?.detail).toBe(detail);
    expect((await refusal(files.write(output, OF, SECRET)))?.detail).toBe(detail);
    expect(disk.operations).toEqual([]);
  });
});

describe("a file that cannot be created", () => {
  it.each<[string, Standing | undefined, RegExp]>([
    ["its folder does not exist", undefined, /^Run mkdir -p \S+ to create its folder/],
    ["its folder rejects new files, as /proc does", { ...PRIVATE, form: "folder" }, /where files can be/],
  ])("is reported with a fix if %s", async (_, folder, fix) => {
    const disk = new FakeDisk();
    const { files } = outputs({ disk, look: (path) => (path === "/p" ? folder : undefined) });
    disk.failures.push({ operation: "create", code: "ENOENT" });
    expect(fixOf(await refusal(files.check(FILE, OF)))).toMatch(fix);
  });
});

describe("a path that fails", () => {
  it.each([
    ["EACCES", "Get write access to its folder, or name another path."],
    ["EPERM", "Get write access to its folder, or name another path."],
    ["EROFS", "Name a path that can be written to."],
    ["ENOSPC", "Free space on the disk."],
    ["EIO", "Correct the path, or name another."],
  ])("with %s is reported with a fix", async (code, fix) => {
    const disk = new FakeDisk();
    disk.failures.push({ operation: "create", code });
    expect(await refusal(outputs({ disk }).files.check(FILE, OF))).toMatchObject({
      remedies: saying(fix),
      detail: `${code}: the disk says so`,
      summary: "The secret of hosting_webhook.billing cannot be written to the file hook",
    });
  });

  it("is not reported for a defect of hostform", async () => {
    const look = () => {
      throw new TypeError("ours");
    };
    await expect(outputs({ look }).files.check(FILE, OF)).rejects.toBeInstanceOf(TypeError);
  });
});

describe("a command that receives a secret", () => {
  it("gets nothing in the test run, the secret in the write run, and variables that describe it", async () => {
    const { files, runs } = outputs();
    await files.check(COMMAND, OF);
    await files.write(COMMAND, OF, SECRET);
    const env = { HOSTFORM_ADDRESS: OF.address, HOSTFORM_ATTRIBUTE: OF.attribute };
    expect(runs).toEqual([
      [["vault", "put"], "", { HOSTFORM_SECRET_OUTPUT: "test", ...env }],
      [["vault", "put"], SECRET, { HOSTFORM_SECRET_OUTPUT: "write", ...env }],
    ]);
  });

  it("that fails is reported with the end of its output, and the secret is masked", async () => {
    const stderr = `first\nsecond\nthird\nfourth\ngot ${SECRET}\nand no room for ${SECRET}\n`;
    const { files } = outputs({ end: { failure: "ended with exit code 1", stderr } });
    expect((await refusal(files.write(COMMAND, OF, SECRET)))?.detail).toBe(
      "The command ended with exit code 1. Last lines of standard error:\nsecond\nthird\nfourth\ngot (secret)\nand no room for (secret)",
    );
  });

  it("runs in the project's folder, with the given environment and the variables that describe the secret", async () => {
    const folder = temporaryFolder();
    const script = `require("fs").writeFileSync("got", process.env.A + process.env.HOSTFORM_ADDRESS + require("fs").readFileSync(0))`;
    const files = systemSecretFiles({ folder, own: [], env: { A: "b " } });
    await files.write({ command: [process.execPath, "-e", script] }, OF, SECRET);
    expect(readFileSync(path.join(folder, "got"), "utf8")).toBe(`b ${OF.address}${SECRET}`);
  });
});

describe("the end of a command's output", () => {
  it.each([
    [`a ${SECRET} b`, `${SECRET}\n`, "a (secret) b"],
    ["yes", "y", "yes"],
    ["of abc", "abc", "of abc"],
    ["of abcd", "abcd", "of (secret)"],
    ["1\n2\n3\n4\n5\n6\n", "", "2\n3\n4\n5\n6"],
    ["x".repeat(500), "", "x".repeat(500)],
    ["x".repeat(501), "", `…${"x".repeat(500)}`],
  ])("of %j without %j is %j", (text, secret, end) => {
    expect(endOfErrors(text, secret)).toBe(`Last lines of standard error:\n${end}`);
  });

  it("is empty for a command without output", () => {
    expect(endOfErrors("", SECRET)).toBe("The command wrote no text to standard error.");
  });
});

/** Returns the number of disk operations of `work`. */
async function count(work: (disk: FakeDisk) => Promise<unknown>): Promise<number> {
  const disk = new FakeDisk({ "/p/hook": "old\n" });
  await work(disk);
  return disk.operations.length;
}
