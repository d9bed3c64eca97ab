import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const PASSPHRASE = "correct horse battery staple";
const OTHER_PASSPHRASE = "wrong horse battery staple";
const KEY = Buffer.alloc(32, 1).toString("base64");
const OTHER_KEY = Buffer.alloc(32, 2).toString("hex");
/** The quick kind of key: nothing is derived. */
const byKey = { HOSTFORM_STATE_KEY: KEY };

const WEBHOOKS = ["hosting_webhook.one", "hosting_webhook.two", "hosting_webhook.three"];
const webhook = (name: string) => ({ url: `https://${name}.acme.example`, events: ["invoice.paid"] });
const declaration = {
  project: "sealed",
  services: { box: { plan_id: 31, currency: "USD", password_version: 1 } },
  webhooks: { one: webhook("one"), two: webhook("two"), three: webhook("three") },
};

/** Every file of the project but the declaration, hidden and temporary ones too, by name. */
function disk({ dir }: Project): Map<string, string> {
  const names = readdirSync(dir).filter((name) => !name.endsWith(".yaml"));
  return new Map(names.map((name) => [name, readFileSync(path.join(dir, name), "latin1")]));
}

/** Where one of the texts stands, of all files. */
function holding(files: ReadonlyMap<string, string>, texts: readonly string[]): string[] {
  return [...files].filter(([, text]) => texts.some((each) => text.includes(each))).map(([name]) => name);
}

/** The secrets that the account gave out, read with the key. */
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

/** What is on disk each time a request to create a webhook is under way. */
function watch(project: Project): Map<string, string>[] {
  const seen: Map<string, string>[] = [];
  project.onDelay = () => void seen.push(disk(project));
  project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", delayMs: 1, times: 3 });
  return seen;
}

/** A run that died while it waited for its last webhook: state and journal are as they were at that moment. */
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
    ["another key", { HOSTFORM_STATE_KEY: OTHER_KEY }, /The key in HOSTFORM_STATE_KEY is not the one/],
    [
      "a passphrase in place of the key",
      { HOSTFORM_STATE_KEY: undefined, HOSTFORM_STATE_PASSPHRASE: PASSPHRASE },
      /and HOSTFORM_STATE_PASSPHRASE holds a passphrase/,
    ],
    ["a key that is too short", { HOSTFORM_STATE_KEY: "AAAA" }, /It has 3 bytes, 32 are needed/],
    ["an empty key", { HOSTFORM_STATE_KEY: "" }, /HOSTFORM_STATE_KEY is set, but empty/],
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

  it.each([
    ["serial", /"serial": \d+/, '"serial": 900'],
    ["lineage", /"lineage": "[^"]+"/, '"lineage": "another"'],
  ])("is refused after its %s was changed by hand, and can be replaced", async (_, pattern, change) => {
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
  });

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
    expect(ran.out).toBe("The state is encrypted, and its backup with it.\n");
    expect(holding(disk(project), found)).toEqual([]);
    expect(await secrets(project)).toEqual(found);
    expect(existsSync(`${project.statePath}.journal`)).toBe(false);

    const before = disk(project);
    const again = await project.run("state", "encrypt");
    expect([again.code, again.out]).toEqual([0, "The state is encrypted already.\n"]);
    expect(JSON.parse((await project.run("state", "encrypt", "--json")).out)).toEqual({
      encrypted: true,
      changed: false,
    });
    expect(disk(project)).toEqual(before);
    await project.apply();
    await project.expectNoChanges();
  });

  it("says what is missing without a key, and what will be without a state", async () => {
    const project = await startProject({ declare: declaration });
    const refused = await project.run("state", "encrypt");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("Neither HOSTFORM_STATE_PASSPHRASE nor HOSTFORM_STATE_KEY is set [state.key]");
    Object.assign(project.env, byKey);
    const ran = await project.run("state", "encrypt");
    expect([ran.code, ran.out]).toEqual([
      0,
      "There is no state yet. It is encrypted from its first write on, as long as HOSTFORM_STATE_KEY is set.\n",
    ]);
    expect(disk(project).size).toBe(0);
  });

  it("waits for the lock like other commands", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    let inside: string | undefined;
    project.onDelay = async () => {
      inside = (await project.run("state", "encrypt")).err;
    };
    project.control.addFault({ method: "GET", path: "/webhooks", phase: "before", delayMs: 1 });
    await project.run("plan");
    expect(inside).toContain("[state.locked]");
  });
});

describe("a state in the clear, with a key", () => {
  it("stays in the clear, and each run says so once", async () => {
    const project = await startProject({ declare: declaration });
    await project.apply();
    Object.assign(project.env, byKey);
    const words = "HOSTFORM_STATE_KEY is set, but the state is not encrypted";
    for (const args of [["plan"], ["state", "list"], ["state", "mv", "hosting_webhook.one", "hosting_webhook.uno"]]) {
      const ran = await project.run(...args);
      expect(ran.text.split(words), args.join(" ")).toHaveLength(2);
      expect(ran.text).toContain("hostform state encrypt");
    }
    const { hostform } = JSON.parse((await project.run("plan", "--json")).out);
    expect(hostform.diagnostics).toContainEqual(expect.objectContaining({ severity: "warning", code: "state.key" }));
    expect(await project.stateText()).toContain('"terraform_version"');
    expect((await project.run("state", "list", "--quiet")).err).toBe("");
  });
});

describe("hostform state decrypt", () => {
  it("says loudly what is in the clear now", async () => {
    const project = await startProject({ declare: declaration, env: byKey });
    await project.apply();
    const found = await secrets(project);
    const ran = await project.run("state", "decrypt", "--quiet");
    expect(ran.code, ran.text).toBe(0);
    // The first apply replaced nothing: there is no backup.
    expect(ran.out).toBe("The state is in the clear now.\n");
    expect(ran.err).toContain(`WARNING: whoever reads these files reads ${found.length} secrets:\n`);
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
      "with the same key",
      { HOSTFORM_STATE_NEW_KEY: KEY },
      /HOSTFORM_STATE_NEW_KEY holds the key that HOSTFORM_STATE_KEY/,
    ],
    [
      "with two new keys",
      { HOSTFORM_STATE_NEW_KEY: OTHER_KEY, HOSTFORM_STATE_NEW_PASSPHRASE: PASSPHRASE },
      /Both HOSTFORM_STATE_NEW_PASSPHRASE and HOSTFORM_STATE_NEW_KEY/,
    ],
    [
      "with a wrong old key",
      { HOSTFORM_STATE_NEW_KEY: OTHER_KEY, HOSTFORM_STATE_KEY: Buffer.alloc(32, 3).toString("hex") },
      /The key in HOSTFORM_STATE_KEY is not the one/,
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

  it("refuses a state in the clear, and says what to do", async () => {
    const project = await startProject({ declare: declaration });
    await project.apply();
    Object.assign(project.env, byKey, { HOSTFORM_STATE_NEW_KEY: OTHER_KEY });
    const ran = await project.run("state", "rotate-key");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("The state is not encrypted, so it has no key");
    expect(ran.text).toContain("hostform state encrypt");
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
