import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { chainLine } from "../../src/core/record/journal-lines.ts";
import { type Project, startProject } from "../support/project.ts";

const PASSPHRASE = "correct horse battery staple";
const OTHER_PASSPHRASE = "wrong horse battery staple";
const KEY = Buffer.alloc(32, 1).toString("base64");
const OTHER_KEY = Buffer.alloc(32, 2).toString("hex");
/** A raw key needs no derivation, so it is fast. */
const byKey = { HOSTFORM_STATE_KEY: KEY };

const WEBHOOKS = ["hosting_webhook.one", "hosting_webhook.two", "hosting_webhook.three"];
const webhook = (name: string) => ({ url: `https://${name}.acme.example`, events: ["invoice.paid"] });
const declaration = {
  project: "sealed",
  services: { box: { plan_id: 31, currency: "USD", password_version: 1 } },
  webhooks: { one: webhook("one"), two: webhook("two"), three: webhook("three") },
};

/** Returns every file of the project except the declaration, by name, including hidden and temporary files. */
function disk({ dir }: Project): Map<string, string> {
  const names = readdirSync(dir).filter((name) => !name.endsWith(".yaml"));
  return new Map(names.map((name) => [name, readFileSync(path.join(dir, name), "latin1")]));
}

/** Returns the names of the files that hold one of the texts. */
function holding(files: ReadonlyMap<string, string>, texts: readonly string[]): string[] {
  return [...files].filter(([, text]) => texts.some((each) => text.includes(each))).map(([name]) => name);
}

/** Returns the secrets that the account issued, read with the key. */
async function secrets(project: Project): Promise<string[]> {
  const pulled = await project.run("state", "pull");
  expect(pulled.code, pulled.err).toBe(0);
  const { resources } = JSON.parse(pulled.out) as {
    resources: { instances: { attributes: Record<string, string> }[] }[];
  };
  const attributes = resources.flatMap(({ instances }) => instances.map((each) => each.attributes));
  const values = attributes.flatMap(({ secret, generated_password }) => [secret, generated_password]);
  return values.filter((value) => typeof value === "string");
}

/** Returns the files on disk during each request that creates a webhook. */
function watch(project: Project): Map<string, string>[] {
  const seen: Map<string, string>[] = [];
  project.onDelay = () => void seen.push(disk(project));
  project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", delayMs: 1, times: 3 });
  return seen;
}

/** A run that died while it waited for its last webhook. State and journal are as they were at that moment. */
async function died(env: Record<string, string>): Promise<Project> {
  const project = await startProject({ declare: declaration, env });
  const seen = watch(project);
  await project.apply("--parallelism", "1");
  const left = [...(seen.at(-1) ?? [])].filter(([name]) => name.startsWith("hosting.tfstate"));
  expect(left.map(([name]) => name)).toContain("hosting.tfstate.journal");
  project.recall(new Map(left));
  return project;
}

describe("a state that is encrypted from its first write on", () => {
  it("shows no secret in any file at any time, and is used like another", async () => {
    const env = { HOSTFORM_STATE_PASSPHRASE: PASSPHRASE };
    const project = await startProject({ declare: declaration, env });
    const seen = watch(project);
    const applied = await project.apply("--parallelism", "1");
    const moved = await project.run("state", "mv", "hosting_webhook.one", "hosting_webhook.four");
    expect(moved.code, moved.text).toBe(0);
    const found = await secrets(project);
    expect(found.length).toBeGreaterThanOrEqual(4);

    const files = disk(project);
    expect([...files.keys()].sort()).toEqual(expect.arrayContaining(["hosting.tfstate", "hosting.tfstate.backup"]));
    expect(JSON.parse(files.get("hosting.tfstate") ?? "")).toMatchObject({
      hostform_encryption: 1,
      key: { from: "passphrase", kdf: "pbkdf2-sha512", iterations: 600_000 },
    });
    expect(seen).toHaveLength(3);
    const journals = seen.map((each) => each.get("hosting.tfstate.journal") ?? "");
    expect(journals.at(-1)?.length).toBeGreaterThan(journals[0]?.length ?? 0);
    for (const each of [...seen, files]) expect(holding(each, [...found, PASSPHRASE, "sealed"])).toEqual([]);
    for (const text of [applied.text, moved.text]) expect(text).not.toContain(PASSPHRASE);
  });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ["no key", { HOSTFORM_STATE_KEY: undefined }, /encrypted, and HOSTFORM_STATE_KEY is not set/],
    ["another key", { HOSTFORM_STATE_KEY: OTHER_KEY }, /The key in HOSTFORM_STATE_KEY is not the key of the state/],
    ["both", { HOSTFORM_STATE_PASSPHRASE: PASSPHRASE }, /Set only one/],
  ])("is not touched with %s, and nothing is sent", async (_, env, words) => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    const before = disk(project);
    project.sent();
    Object.assign(project.env, env);
    for (const args of [
      ["plan"],
      ["apply", "--auto-approve"],
      ["state", "list"],
      ["state", "pull"],
      ["state", "decrypt"],
    ]) {
      const ran = await project.run(...args);
      expect(ran.code).toBe(1);
      expect(ran.text).toContain("[state.key]");
      expect(ran.text).toMatch(words);
      expect(ran.text).not.toMatch(/ at .*\.ts/);
    }
    expect(project.sent()).toEqual([]);
    expect(disk(project)).toEqual(before);
  });

  it.each([["serial", /"serial": \d+/, '"serial": 900']])(
    "is refused after its %s was changed by hand, and can be replaced",
    async (_, pattern, change) => {
      const project = await startProject({ declare: declaration, env: byKey });
      await project.apply();
      const copy = (await project.run("state", "pull")).out;
      writeFileSync(project.statePath, ((await project.stateText()) ?? "").replace(pattern, change));
      const ran = await project.run("plan");
      expect(ran.code).toBe(1);
      expect(ran.text).toContain("[state.unreadable]");
      expect(ran.text).toContain("lineage or serial was changed");

      writeFileSync(path.join(project.dir, "copy.tfstate"), copy);
      expect((await project.run("state", "push", "copy.tfstate", "--force")).code).toBe(0);
      expect(await project.stateText()).toContain('"hostform_encryption"');
      await project.expectNoChanges();
    },
  );

  it("goes on from the journal of a run that died, with the key alone", async () => {
    const project = await died(byKey);
    project.sent();
    project.env.HOSTFORM_STATE_KEY = undefined;
    const refused = await project.run("apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("[state.key]");
    expect(project.sent()).toEqual([]);
    project.env.HOSTFORM_STATE_KEY = KEY;
    const listed = await project.run("state", "list");
    expect(listed.out).toContain("hosting_webhook.two");
    expect((await project.run("apply", "--auto-approve")).code).toBe(0);
    await project.expectNoChanges();
    expect(project.control.list("webhooks")).toHaveLength(3);
  });
});

describe("hostform state encrypt", () => {
  it("leaves nothing in the clear: not the state, nor its backup, nor the journal of a run that died", async () => {
    const project = await died({});
    writeFileSync(`${project.statePath}.backup`, (await project.run("state", "pull")).out);
    const found = await secrets(project);
    expect(found.length).toBeGreaterThanOrEqual(2);
    expect(holding(disk(project), found)).toEqual(
      expect.arrayContaining(["hosting.tfstate.backup", "hosting.tfstate.journal"]),
    );
    Object.assign(project.env, byKey);
    const ran = await project.run("state", "encrypt");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toBe("The state and its backup are encrypted.\n");
    expect(holding(disk(project), found)).toEqual([]);
    expect(await secrets(project)).toEqual(found);
    expect(existsSync(`${project.statePath}.journal`)).toBe(false);

    const before = disk(project);
    const again = await project.run("state", "encrypt");
    expect([again.code, again.out]).toEqual([0, "The state is already encrypted.\n"]);
    expect(JSON.parse((await project.run("state", "encrypt", "--json")).out)).toEqual({
      format_version: "1.0",
      encrypted: true,
      changed: false,
    });
    expect(disk(project)).toEqual(before);
    await project.apply();
    await project.expectNoChanges();
  });

  it("waits for the lock like other commands", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    let inside: string | undefined;
    project.onDelay = async () => {
      inside = (await project.run("state", "encrypt")).err;
    };
    project.control.addFault({ method: "GET", path: "/webhooks", phase: "before", delayMs: 1 });
    await project.run("apply", "--auto-approve");
    expect(inside).toContain("[state.locked]");
  });
});

describe("a state in the clear, with a key", () => {
  it("is refused by everything that reads it, and nothing is sent", async () => {
    const project = await startProject({ declare: declaration });
    await project.apply();
    Object.assign(project.env, byKey);
    const before = disk(project);
    project.sent();
    for (const args of [["plan"], ["apply", "--auto-approve"], ["state", "list"], ["state", "pull"]]) {
      const ran = await project.run(...args);
      expect(ran.code, args.join(" ")).toBe(1);
      expect(ran.err).toContain("HOSTFORM_STATE_KEY is set, but the state is not encrypted [state.unencrypted]");
      expect(ran.err).toContain("hostform state encrypt");
    }
    expect([project.sent(), disk(project)]).toEqual([[], before]);
    expect((await project.run("force-unlock")).out).toBe("The state is not locked.\n");
    expect((await project.run("state", "encrypt")).code).toBe(0);
    await project.expectNoChanges();
  });

  it("is read where that is allowed with one warning, and the next write encrypts it, its backup and its history", async () => {
    const project = await startProject({ declare: declaration });
    await project.apply();
    Object.assign(project.env, byKey, { HOSTFORM_STATE_ALLOW_UNENCRYPTED: "1" });
    const words = "HOSTFORM_STATE_KEY is set, but the state is not encrypted";
    const { hostform } = JSON.parse((await project.run("plan", "--json")).out);
    expect(hostform.diagnostics).toContainEqual(expect.objectContaining({ severity: "warning", code: "state.key" }));
    for (const args of [
      ["plan"],
      ["state", "list", "--quiet"],
      ["state", "mv", "hosting_webhook.one", "hosting_webhook.uno"],
    ]) {
      const ran = await project.run(...args);
      expect(ran.text.split(words), args.join(" ")).toHaveLength(2);
      expect(ran.text).toContain("hostform state encrypt");
    }
    for (const name of ["", ".backup", ".history"]) {
      const text = readFileSync(`${project.statePath}${name}`, "utf8");
      expect(text, name).not.toMatch(/hosting_webhook|terraform_version/);
    }
    expect((await project.run("history")).code).toBe(0);
    expect((await project.run("state", "list")).text).not.toContain(words);
  });
});

describe("who can write beside an encrypted state and has no key", () => {
  it("makes `apply` delete nothing: a forged journal is refused, and nothing is sent", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    const stranger = await project.beside({ project: "stranger", webhooks: { theirs: webhook("theirs") } });
    await stranger.apply();
    const [theirs] = project.control.list("webhooks").slice(-1);
    const { lineage, serial } = JSON.parse((await project.stateText()) ?? "");
    const attributes = { id: project.idOf("webhooks", Number(theirs?.id)), ...webhook("theirs"), enabled: true };
    const head = chainLine("", JSON.stringify({ journal: 1, lineage, serial }));
    const forged = chainLine(head.sum, JSON.stringify({ put: [{ address: "hosting_webhook.theirs", attributes }] }));
    writeFileSync(`${project.statePath}.journal`, head.line + forged.line);
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(project.sent()).toEqual([]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(
      "The state is encrypted, but the journal of the state is not encrypted [state.unencrypted]",
    );
    expect(ran.err).toContain("hosting_webhook.theirs");
    expect(project.control.list("webhooks")).toHaveLength(4);
  });

  it("makes `apply FILE` apply nothing: a plan that the key does not prove is refused", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    const file = path.join(project.dir, "acme.plan");
    expect((await project.run("plan", "--out", "acme.plan")).code).toBe(0);
    const proved = readFileSync(file, "utf8");
    const { env } = project;
    project.sent();
    const apply = async (text: string, key: string | undefined) => {
      env.HOSTFORM_STATE_KEY = key;
      writeFileSync(file, text);
      const ran = await project.run("apply", "acme.plan");
      env.HOSTFORM_STATE_KEY = KEY;
      return ran;
    };
    delete env.HOSTFORM_STATE_KEY;
    expect((await project.run("plan", "--out", "clear.plan")).code).toBe(0);
    const unproved = readFileSync(path.join(project.dir, "clear.plan"), "utf8");
    expect((await apply(unproved, KEY)).err).toContain(
      "acme.plan is not signed with the key of the state [plan.saved]",
    );
    expect((await apply(proved, OTHER_KEY)).err).toContain("[state.key]");
    expect((await apply(proved, undefined)).err).toContain("[state.key]");
    expect(project.changesSent()).toEqual([]);
    expect((await apply(proved, KEY)).code).toBe(0);
  });
});

describe("a state that git tracks", () => {
  it("is warned of, encrypted or not, with its journal and its backup", async () => {
    for (const env of [byKey, {}]) {
      const project = await startProject({ declare: declaration, env });
      const git = (...args: string[]) => execFileSync("git", args, { cwd: project.dir, stdio: "pipe" });
      git("init", "--quiet");
      expect((await project.apply()).text).not.toContain("state.tracked");
      git("add", "hosting.tfstate");
      for (const args of [["plan"], ["state", "list"]]) {
        const ran = await project.run(...args);
        expect([ran.code, ran.text.split("git tracks hosting.tfstate [state.tracked]").length]).toEqual([0, 2]);
        expect(ran.text).toContain("git rm --cached hosting.tfstate");
      }
    }
  });
});

describe("a key from a command", () => {
  const command = { HOSTFORM_STATE_KEY_COMMAND: "kms decrypt --key acme" };

  it("is asked for once a run, encrypts without a passphrase, and is shown nowhere", async () => {
    const project = await startProject({ declare: declaration, env: command });
    const asked: string[][] = [];
    project.onCapture = async (words, { env }) => {
      asked.push([...words]);
      expect(env, "hostform's own credentials are not for it").not.toHaveProperty("HOSTING_TOKEN");
      return { stdout: `${KEY}\n`, stderr: "" };
    };
    const applied = await project.apply();
    expect(asked).toEqual([["kms", "decrypt", "--key", "acme"]]);
    expect(applied.text).not.toContain(KEY);
    expect(JSON.parse((await project.stateText()) ?? "").key).toMatchObject({ from: "key" });
    delete project.env.HOSTFORM_STATE_KEY_COMMAND;
    expect((await project.run("plan")).err).toContain("[state.key]");
    Object.assign(project.env, byKey);
    await project.expectNoChanges();
  });

  it.each<[string, string, { stdout: string; stderr: string; failure?: string }, RegExp]>([
    [
      "fails",
      "kms",
      { failure: "ended with exit code 3", stdout: "", stderr: "no such key" },
      /ended with exit code 3[\s\S]*no such key/,
    ],
    ["prints nothing", "kms", { stdout: "\n", stderr: "" }, /printed nothing/],
    [
      "is for a shell",
      "kms 'a b'",
      { stdout: KEY, stderr: "" },
      /starts the program without a shell[\s\S]*list in JSON/,
    ],
  ])("that %s is an error, and nothing is sent", async (_, line, end, words) => {
    const project = await startProject({ declare: declaration, env: { HOSTFORM_STATE_KEY_COMMAND: line } });
    project.onCapture = async () => end;
    const ran = await project.run("apply", "--auto-approve");
    expect([ran.code, project.sent()]).toEqual([1, []]);
    expect(ran.err).toContain("[state.key]");
    expect(ran.err).toMatch(words);
  });

  it("takes the place of a passphrase, and the old one still opens for as long as it is given", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    delete project.env.HOSTFORM_STATE_KEY;
    project.onCapture = async () => ({ stdout: OTHER_KEY, stderr: "" });
    Object.assign(project.env, {
      HOSTFORM_STATE_KEY_COMMAND: '["kms", "a b"]',
      HOSTFORM_STATE_OLD_KEY: `${OTHER_KEY}\n${KEY}`,
    });
    await project.expectNoChanges();
    expect((await project.run("state", "encrypt")).out).toContain("The state is encrypted");
    delete project.env.HOSTFORM_STATE_OLD_KEY;
    await project.expectNoChanges();
    expect((await project.run("state", "encrypt")).out).toBe("The state is already encrypted.\n");
  });
});

describe("hostform state decrypt", () => {
  it("says loudly what is in the clear now", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    const found = await secrets(project);
    const ran = await project.run("state", "decrypt", "--quiet");
    expect(ran.code, ran.text).toBe(0);
    // The first apply replaced no state, so no backup exists.
    expect(ran.out).toBe("The state is now unencrypted.\n");
    expect(ran.err).toContain(`WARNING: these files can be read now. They hold ${found.length} secrets:\n`);
    for (const address of WEBHOOKS) expect(ran.err).toContain(`  ${address}: secret\n`);
    expect(ran.err).toContain("Unset HOSTFORM_STATE_KEY");
    for (const secret of found) expect(ran.text).not.toContain(secret);
    expect(await project.stateText()).toContain(found[0]);

    project.env.HOSTFORM_STATE_KEY = undefined;
    const again = await project.run("state", "decrypt");
    expect([again.code, again.out, again.err]).toEqual([0, "The state is not encrypted.\n", ""]);
    const json = JSON.parse((await project.run("state", "decrypt", "--json")).out);
    expect(json).toMatchObject({ encrypted: false, changed: false });
    expect(json.in_the_clear).toContainEqual({ address: WEBHOOKS[0], attributes: ["secret"] });
    await project.expectNoChanges();
  });
});

describe("hostform state rotate-key", () => {
  it("takes the new key for state and backup; the old one opens nothing any more", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    expect((await project.run("state", "mv", "hosting_webhook.one", "hosting_webhook.four")).code).toBe(0);
    const found = await secrets(project);
    project.env.HOSTFORM_STATE_NEW_PASSPHRASE = OTHER_PASSPHRASE;
    const ran = await project.run("state", "rotate-key");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toBe("The state and its backup are encrypted with the new passphrase.\n");
    expect(ran.err).toContain("set HOSTFORM_STATE_PASSPHRASE to it and unset HOSTFORM_STATE_KEY");
    for (const name of ["hosting.tfstate", "hosting.tfstate.backup"]) {
      expect(disk(project).get(name)).toContain('"from": "passphrase"');
    }
    expect(holding(disk(project), [...found, OTHER_PASSPHRASE])).toEqual([]);

    // A run that was killed during a write leaves a truncated journal.
    writeFileSync(path.join(project.dir, "hosting.tfstate.journal"), "");
    const again = await project.run("state", "rotate-key");
    expect([again.code, again.out]).toEqual([0, "The state is encrypted with the new passphrase already.\n"]);
    expect((await project.run("state", "list")).text).toContain("[state.key]");
    delete project.env.HOSTFORM_STATE_KEY;
    project.env.HOSTFORM_STATE_PASSPHRASE = OTHER_PASSPHRASE;
    expect(await secrets(project)).toEqual(found);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ["without a new key", {}, /Neither HOSTFORM_STATE_NEW_PASSPHRASE nor HOSTFORM_STATE_NEW_KEY is set/],
    [
      "with a wrong old key",
      { HOSTFORM_STATE_NEW_KEY: OTHER_KEY, HOSTFORM_STATE_KEY: Buffer.alloc(32, 3).toString("hex") },
      /The key in HOSTFORM_STATE_KEY is not the key of the state/,
    ],
  ])("changes nothing %s", async (_, env, words) => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    const before = disk(project);
    Object.assign(project.env, env);
    const ran = await project.run("state", "rotate-key");
    expect(ran.code).toBe(1);
    expect(ran.text).toMatch(words);
    expect(disk(project)).toEqual(before);
  });
});

describe("an encrypted state that goes out and in", () => {
  it("is pulled in the clear, and pushed in either form; it stays encrypted", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    const sealed = (await project.stateText()) ?? "";
    const pulled = (await project.run("state", "pull")).out;
    expect(JSON.parse(pulled)).toMatchObject({ version: 4 });
    expect(sealed).toContain('"hostform_encryption"');
    for (const text of [pulled, sealed]) {
      writeFileSync(path.join(project.dir, "copy.tfstate"), text);
      expect((await project.run("state", "rm", "hosting_webhook.one")).code).toBe(0);
      const pushed = await project.run("state", "push", "copy.tfstate", "--force");
      expect(pushed.code, pushed.text).toBe(0);
      expect(await project.stateText()).toContain('"hostform_encryption"');
      expect((await project.run("state", "pull")).out).toBe(pulled);
    }
  });

  it("is not pushed without its key", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    writeFileSync(path.join(project.dir, "copy.tfstate"), (await project.stateText()) ?? "");
    await project.loseState();
    project.env.HOSTFORM_STATE_KEY = undefined;
    const ran = await project.run("state", "push", "copy.tfstate");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[state.key]");
    expect(existsSync(project.statePath)).toBe(false);
  });
});
