import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { LONG } from "../reliability/support/long.ts";
import { type Project, startProject } from "../support/project.ts";

const WWW = "hosting_service.www";
const declaration = (services: object, more: object = {}) => ({ project: "saved", services, ...more });
const www = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "forget" };
const shop = { ...www, domain: "shop.acme.example" };

const fileOf = (project: Project, name = "acme.plan") => path.join(project.dir, name);
const textOf = (project: Project) => readFile(fileOf(project), "utf8");

/** Returns the number of services in the account. */
const ordered = ({ control }: Project) =>
  control.list("services").filter(({ customer_id }) => customer_id === 1).length;

/** Plans into `acme.plan`. */
async function save(project: Project, ...args: string[]): Promise<void> {
  const ran = await project.run("plan", "--out", "acme.plan", ...args);
  expect(ran.code, ran.text).toBe(0);
  project.sent();
}

/** Applies `acme.plan`. Fails unless hostform refuses it and sends only GET requests. */
async function refused(project: Project, ...args: string[]): Promise<string> {
  project.sent();
  const ran = await project.run("apply", "acme.plan", ...args);
  expect(ran.code, ran.text).toBe(1);
  expect(project.changesSent()).toEqual([]);
  expect(ran.text).not.toMatch(/^\s+at .+:\d+:\d+/m);
  return ran.text;
}

describe("a saved plan", () => {
  it("is applied as it is: without a question, with a short summary, once", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await save(project);
    const ran = await project.run("apply", "acme.plan");
    expect(ran.code, ran.text).toBe(0);
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect(ran.out).toContain("Applying the plan of 20");
    expect(ran.out).toContain("Plan: 1 to add, 0 to change, 0 to destroy.\nOrders: 1 service");
    expect(ran.out).not.toContain("will be ordered");
    expect(ran.out).toContain("Apply complete! 1 added");

    expect(await refused(project)).toContain("The state has changed since the plan was created");
    await project.expectNoChanges();
    expect(ordered(project)).toBe(1);
  });

  it("is a file that only its owner can read, whole, with nothing left beside it", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    // A new plan may replace any earlier plan file, even a broken one.
    await writeFile(fileOf(project), '{"form": "hostform plan", "ver');
    await chmod(fileOf(project), 0o644);
    await save(project);
    expect((await stat(fileOf(project))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await textOf(project))).toMatchObject({ form: "hostform plan", version: 1 });
    expect((await readdir(project.dir)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("works on what it changes only: other collections and parents are not read again", async () => {
    const grants = { "dev@acme.example": "manage" };
    const project = await startProject({
      declare: declaration({ www: { ...www, grants }, shop: { ...shop, grants } }),
    });
    await project.apply();
    await project.declare(
      declaration(
        { www: { ...www, grants }, shop: { ...shop, grants } },
        { webhooks: { billing: { url: "https://hooks.acme.example", events: ["invoice.paid"] } } },
      ),
    );
    await save(project);
    expect((await project.run("apply", "acme.plan")).code).toBe(0);
    expect(project.sent().map((line) => line.split("?")[0])).toEqual(["GET /webhooks", "POST /webhooks"]);
  });

  it("does what it was asked for with: targets, removals, guards", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await project.apply();
    await project.declare(declaration({ shop }));
    await save(project, "--target", "hosting_service.shop", "--max-orders", "1");
    expect((await project.run("apply", "acme.plan")).code).toBe(0);
    expect((await project.state()).resources.has(WWW)).toBe(true);

    await save(project, "--destroy", "--target", WWW);
    const destroyed = await project.run("apply", "acme.plan");
    expect(destroyed.code, destroyed.text).toBe(0);
    expect([...(await project.state()).resources.keys()]).toEqual(["hosting_service.shop"]);
  });

  it("with an error is not saved", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await project.apply();
    await project.declare(declaration({ www: { ...www, plan_id: 12 } }));
    const ran = await project.run("plan", "--out", "acme.plan");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("The plan was not saved. The plan has 1 error and cannot be applied.");
    expect(existsSync(fileOf(project))).toBe(false);
  });

  it("does not go with options that would make another plan", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await save(project);
    expect(await refused(project, "--target", WWW)).toContain("--target cannot be combined with a saved plan");
    expect(await refused(project, "--allow-removals")).toContain(
      "--allow-removals cannot be combined with a saved plan",
    );
  });
});

describe("a limit of `apply FILE`", () => {
  it.each([
    ["--max-orders", "1", "guard.orders"],
    ["--max-spend", "USD=500", "guard.spend"],
  ])("%s %s holds, whatever the plan was made with", async (option, value, code) => {
    const project = await startProject({ declare: declaration({ www, shop }) });
    await save(project, "--max-orders", "9", "--max-spend", "USD=99999");
    expect(await refused(project, option, value)).toContain(code);
    const ran = await project.run("apply", "acme.plan", "--max-orders", "9", "--max-spend", "USD=99999");
    expect(ran.code, ran.text).toBe(0);
  });

  it("on removals holds where the plan lifts its own", async () => {
    const project = await startProject({ declare: declaration({ www, shop }) });
    await project.apply();
    await project.declare(declaration({}));
    await save(project, "--allow-removals");
    expect(await refused(project, "--max-removals", "1")).toContain("max_removals allows 1");
    const ran = await project.run("apply", "acme.plan", "--max-removals", "2");
    expect(ran.code, ran.text).toBe(0);
  });
});

describe("a saved plan is refused", () => {
  it.each<[why: string, file: string]>([
    ["Changed: clients/a.yaml.", "clients/a.yaml"],
    ["New: clients/b.yaml.", "clients/b.yaml"],
  ])("when what is included differs: %s", async (why, file) => {
    const project = await startProject();
    await mkdir(path.join(project.dir, "clients"));
    await project.declare({ ...declaration({ www }), include: "clients/*.yaml" });
    await project.declare("services: {}\n", "clients/a.yaml");
    await save(project);
    await project.declare("# other\n", file);
    expect(await refused(project)).toContain(why);
  });

  const change = async (project: Project, edit: (text: string) => string) =>
    writeFile(fileOf(project), edit(await textOf(project)));

  it.each<[why: string, text: string, happen: (project: Project) => unknown]>([
    [
      "after another apply",
      "The state has changed",
      async (project) => {
        await project.declare(declaration({ www, shop }));
        await project.apply("--target", "hosting_service.shop");
        await project.declare(declaration({ www }));
      },
    ],
    [
      "when the declaration was edited",
      "Changed: hosting.yaml.",
      (project) => project.declare(declaration({ www: { ...www, term: 12 } })),
    ],
    [
      "when the API is another one",
      "Provider default has another address",
      (project) => {
        project.env.HOSTING_BASE_URL = "http://127.0.0.1:9/";
      },
    ],
    [
      "when the price has changed",
      "The price was 450 (USD, API's unit) and is 990 (USD, API's unit)",
      (project) => project.control.change("plans", 11, { prices: { USD: 1100 } }),
    ],
    [
      "when the service was ordered elsewhere",
      "already exists",
      (project) => {
        const [service] = project.control.seedServices({ plan_id: 11 });
        project.control.change("services", service?.id ?? 0, { domain: "www.acme.example" });
      },
    ],
    [
      "when it is damaged",
      "is damaged, or was edited",
      (project) => change(project, (text) => text.replace('"plan_id": 11', '"plan_id": 12')),
    ],
    [
      "when a reviewer's program may read another value than hostform",
      "An object has the same key twice",
      (project) => change(project, (text) => text.replace('"plan_id": 11', '"plan_id": 1, "plan_id": 11')),
    ],
  ])("%s", async (why, expected, happen) => {
    // A changed price is detected only if the host reports amounts.
    const priced = { plan: ["plan_id", "id"], money: ["minor"] } as const;
    const pinned = why.includes("price") ? priced : {};
    const project = await startProject({ declare: declaration({ www }), pinned });
    await save(project);
    await happen(project);
    const text = await refused(project);
    expect(text).toContain(expected);
  });

  // The test needs 256 MiB of memory.
  it.runIf(LONG)("when a link in its place leads to what never ends", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await symlink("/dev/zero", fileOf(project));
    expect(await refused(project)).toContain("It is too large for one");
  });

  it("when the state was lost, or is another one", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await project.apply();
    await project.declare(declaration({ www, shop }));
    await save(project);
    const text = String(await project.stateText());
    await project.loseState();
    expect(await refused(project)).toContain("here there is none");
    await project.restoreState(text.replace(/"lineage": "./, '"lineage": "another-'));
    expect(await refused(project)).toContain("The plan was created from another state");
    await project.restoreState(text.replace('"term": 1', '"term": 3'));
    expect(await refused(project)).toContain("The state has changed");
  });

  it("after an apply of it that failed half-way; a new one goes on from there", async () => {
    const project = await startProject({ declare: declaration({ www, shop }) });
    const targets = ["--target", "hosting_service.shop", "--target", WWW];
    await save(project, ...targets);
    project.control.addFault({
      method: "POST",
      path: "/services",
      phase: "before",
      nth: 2,
      status: 422,
      body: { message: "no" },
    });
    const first = await project.run("apply", "acme.plan", "--parallelism", "1");
    expect(first.code, first.text).toBe(1);
    const command = "hostform plan --target hosting_service.shop --target hosting_service.www --out acme.plan";
    expect(first.text).toContain(`To continue, make a new plan and approve it: \`${command}\`.`);
    expect(first.text).not.toContain("Run the same command");
    expect(project.changesSent()).toEqual(["POST /services", "POST /services"]);
    expect(await refused(project)).toContain("The state has changed");
    await save(project);
    expect((await project.run("apply", "acme.plan")).code).toBe(0);
    expect(ordered(project)).toBe(2);
  });

  it("after an apply of it was killed: what only the journal knows counts", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await project.apply();
    await project.declare(declaration({ www, shop }));
    await save(project);
    // A kill during the order would leave the files as they are now.
    const journal = `${project.statePath}.journal`;
    project.control.addFault({ method: "POST", path: "/services", phase: "before", delayMs: 1 });
    const files = [project.statePath, journal, `${project.statePath}.history`];
    let left: string[] | undefined;
    project.onDelay = () => {
      left ??= files.map((file) => readFileSync(file, "utf8"));
    };
    expect((await project.run("apply", "acme.plan")).code).toBe(0);
    for (const [index, file] of files.entries()) await writeFile(file, left?.[index] ?? "");
    expect(await refused(project)).toContain("An interrupted apply has changed it.");
    expect(ordered(project)).toBe(2);
  });

  it("when what it would delete is another object by now", async () => {
    const hook = (event: string) => ({ webhooks: { a: { url: "https://hooks.acme.example", events: [event] } } });
    const project = await startProject({ declare: { project: "saved", ...hook("invoice.paid") } });
    await project.apply();
    await project.declare({ project: "saved", ...hook("invoice.created") });
    await save(project);
    project.control.remove("webhooks", project.control.list("webhooks")[0]?.id ?? 0);
    expect(await refused(project)).toContain("hosting_webhook.a: differs in actions");
  });
});

describe("secrets", () => {
  it("are not in the file: neither recorded, nor declared, nor from the environment, wherever they flow", async () => {
    const declare = (events: string[], version: number) => ({
      project: "saved",
      services: {
        www: { ...www, password: "${env.WWW_PASSWORD}", password_version: version, reference: "${env.LEAK}" },
      },
      webhooks: { a: { url: "https://hooks.acme.example", events } },
      migration_requests: {
        m: { domain: "m.example", questions: { key: "${hosting_webhook.a.secret}" }, deletion_policy: "forget" },
      },
    });
    const env = { WWW_PASSWORD: "correct horse battery", LEAK: "correct horse battery" };
    const project = await startProject({ declare: declare(["invoice.paid"], 1), env });
    await project.apply();
    const secret = String((await project.recorded("hosting_webhook.a"))?.attributes.secret);
    await project.declare(declare(["invoice.paid"], 2));
    await save(project);
    const text = await textOf(project);
    for (const hidden of [secret, env.WWW_PASSWORD, String(project.env.HOSTING_TOKEN)])
      expect(text).not.toContain(hidden);
    expect(text).toContain(`"env.LEAK"`);
    const applied = await project.run("apply", "acme.plan");
    expect(applied.code, applied.text).toBe(0);
    expect(project.control.requests().find(({ path }) => path.endsWith("/password"))?.body).toEqual({
      password: env.WWW_PASSWORD,
    });
  });
});

describe("one plan for many readers", () => {
  it("is shown again in every format, without a request and without the lock", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await save(project);
    const beginnings = {
      text: "saved · 127.0.0.1:",
      json: "{",
      markdown: "<!-- hostform plan: saved -->",
      html: "<!doctype html>",
    };
    for (const [format, beginning] of Object.entries(beginnings)) {
      const shown = await project.run("show", "acme.plan", "--format", format);
      expect(shown.code, shown.text).toBe(0);
      expect(shown.out.startsWith(beginning), shown.out.slice(0, 80)).toBe(true);
      expect(shown.out).toContain("www.acme.example");
    }
    expect(project.sent()).toEqual([]);
    expect(existsSync(fileOf(project, ".hosting.tfstate.lock"))).toBe(false);
  });

  it("without a file shows what is recorded: a table, a page, a comment, or Terraform's JSON with secrets hidden", async () => {
    const project = await startProject({
      declare: declaration(
        { www },
        { webhooks: { a: { url: "https://hooks.acme.example", events: ["invoice.paid"] } } },
      ),
    });
    await project.apply();
    project.sent();
    expect((await project.run("show")).out).toMatch(/hosting_service\.www +\d+/);
    const { values } = JSON.parse((await project.run("show", "--json")).out);
    const webhook = values.root_module.resources.find(({ type }: { type: string }) => type === "hosting_webhook");
    expect(webhook).toMatchObject({
      address: "hosting_webhook.a",
      values: { secret: null },
      sensitive_values: { secret: true },
    });
    const { secret } = JSON.parse(String(await project.stateText())).resources.find(
      ({ type }: { type: string }) => type === "hosting_webhook",
    ).instances[0].attributes;
    for (const [format, beginning] of [
      ["html", "<!doctype html>"],
      ["markdown", "<!-- hostform state: saved -->"],
    ] as const) {
      const shown = await project.run("show", "--format", format);
      expect(shown.code, shown.text).toBe(0);
      expect(shown.out.startsWith(beginning), shown.out.slice(0, 80)).toBe(true);
      expect(shown.out).toContain("www.acme.example");
      expect(shown.out).toContain("https://hooks.acme.example");
      expect(shown.text).not.toContain(secret);
    }
    expect(project.sent()).toEqual([]);
    expect(existsSync(fileOf(project, ".hosting.tfstate.lock"))).toBe(false);
  });

  it("goes to files by their extension, all from one reading of the account", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await writeFile(fileOf(project, "plan.md"), "an earlier report");
    const names = ["plan.html", "plan.md", "plan.json", "plan.txt"];
    const ran = await project.run("plan", ...names.flatMap((name) => ["--report", name]));
    expect(ran.code, ran.text).toBe(0);
    const reading = project.sent().length;
    const [html = "", markdown = "", json = "", text = ""] = names.map((name) =>
      readFileSync(fileOf(project, name), "utf8"),
    );
    expect(html).toMatch(/^<!doctype html>/);
    expect(markdown).toMatch(/^<!-- hostform plan: saved -->/);
    expect(JSON.parse(json)).toMatchObject({ hostform: { effects: [{ kind: "order", domain: "www.acme.example" }] } });
    expect(text).toBe(ran.out);
    await project.run("plan");
    expect(project.sent()).toHaveLength(reading);
  });

  it.each([
    ["an extension that is not known", "plan.pdf", "The format of the report plan.pdf is unknown"],
    ["a folder that is not there", "none/plan.html", "cannot be written to none/plan.html"],
  ])("refuses %s before anything is read", async (_, file, message) => {
    const project = await startProject({ declare: declaration({ www }) });
    const ran = await project.run("plan", "--report", file);
    expect({ code: ran.code, text: ran.text }).toMatchObject({ code: 1, text: expect.stringContaining(message) });
    expect(project.sent()).toEqual([]);
  });

  it.each([
    ["mistakes in the declaration", { plan_id: "eleven" }, {}, "config.invalid_value"],
    ["no token", {}, { HOSTING_TOKEN: undefined }, "provider.token"],
    ["a token that the host refuses", {}, { HOSTING_TOKEN: "of-yesterday" }, "api.unauthenticated"],
  ])("says that nothing was planned, in place of an earlier report: %s", async (_, more, env, code) => {
    const project = await startProject({ declare: declaration({ www }) });
    const names = ["plan.html", "plan.md", "plan.json", "plan.txt"];
    const flags = names.flatMap((name) => ["--report", name]);
    const token = project.env.HOSTING_TOKEN;
    for (const command of [["plan"], ["apply", "--auto-approve"]]) {
      await project.declare(declaration({ www }));
      expect((await project.run("plan", ...flags)).code).toBe(0);
      await project.declare(declaration({ www: { ...www, ...more } }));
      Object.assign(project.env, env);
      const ran = await project.run(...command, ...flags);
      expect({ code: ran.code, text: ran.text }).toMatchObject({ code: 1, text: expect.stringContaining(`[${code}]`) });
      for (const name of names) {
        const text = readFileSync(fileOf(project, name), "utf8");
        expect(text).not.toContain("www.acme.example");
        if (name !== "plan.json") expect(text).toContain("Nothing was planned: see the errors.");
        else {
          expect(JSON.parse(text)).toMatchObject({
            errored: true,
            applyable: false,
            resource_changes: [],
            hostform: { project: "saved", diagnostics: [{ code }] },
          });
        }
      }
      project.env.HOSTING_TOKEN = token;
    }
  });

  const NAMES = ["plan.html", "plan.md", "plan.json", "plan.txt"];
  const reporting = NAMES.flatMap((name) => ["--report", name]);
  const reports = (project: Project) => NAMES.map((name) => readFileSync(fileOf(project, name), "utf8"));

  it("while a run reads, and when it is killed then, its reports say that there is no plan", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    for (const name of NAMES) await writeFile(fileOf(project, name), "an earlier report");
    project.control.addFault({ method: "GET", path: "/services", phase: "before", delayMs: 1 });
    let seen: readonly string[] = [];
    project.onDelay = () => {
      seen = reports(project);
    };
    expect((await project.run("plan", ...reporting)).code).toBe(0);
    expect(seen).toHaveLength(4);
    for (const one of seen) {
      expect(one).toContain("This run has no plan yet");
      expect(one).not.toContain("an earlier report");
    }
    expect(JSON.parse(seen[2] ?? "")).toMatchObject({ errored: true, applyable: false });
    for (const one of reports(project)) expect(one).toContain("www.acme.example");
    expect(readdirSync(project.dir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it.each([
    ["plan", "--refresh=false", "--refresh-budget", "3"],
    ["apply", "none.plan"],
  ])("a refused command line leaves no earlier report: %s %s", async (...command) => {
    const project = await startProject({ declare: declaration({ www }) });
    for (const name of NAMES) await writeFile(fileOf(project, name), "an earlier report");
    expect((await project.run(...command, ...reporting)).code).toBe(1);
    for (const one of reports(project)) expect(one).toMatch(/Nothing was planned|"errored": true/);
    expect(project.sent()).toEqual([]);
  });

  it("a plan that was made stays reported, whatever becomes of it", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    expect((await project.run("apply", ...reporting)).text).toContain("Cannot ask for approval");
    for (const one of reports(project)) {
      expect(one).toContain("www.acme.example");
      expect(one).not.toContain("Nothing was planned");
    }
  });

  it.each(["plan", "apply"])(
    "%s puts what is wrong in the plan beside its line, where GitHub's runner looks",
    async (command) => {
      const project = await startProject({ declare: declaration({ www }) });
      await project.apply();
      await project.loseState();
      await project.declare(declaration({ shop: { ...www, plan_id: 12 } }));
      Object.assign(project.env, { GITHUB_ACTIONS: "true", HOSTFORM_ADD_MASK: "1", GITHUB_WORKSPACE: project.dir });
      const ran = await project.run(command);
      expect(ran.code, ran.text).toBe(1);
      expect(ran.err).toMatch(/^::error file=hosting\.yaml,line=\d+,/m);
      expect(project.changesSent()).toEqual(["POST /services"]);
    },
  );

  it("a saved plan without changes is reported, too; no report takes the place of a saved plan", async () => {
    const project = await startProject({ declare: declaration({ www }) });
    await project.apply();
    await project.run("plan", "--out", "plan.json");
    const saved = await readFile(fileOf(project, "plan.json"), "utf8");
    const refused = await project.run("apply", "plan.json", "--report", "plan.json");
    expect(refused.text).toContain("The file there is a plan that hostform saved.");
    expect(await readFile(fileOf(project, "plan.json"), "utf8")).toBe(saved);
    await writeFile(fileOf(project, "plan.html"), "an earlier report");
    const ran = await project.run("apply", "plan.json", "--report", "plan.html");
    expect(ran.code, ran.text).toBe(0);
    expect(readFileSync(fileOf(project, "plan.html"), "utf8")).toContain("Nothing to apply.");
  });

  it.each([
    ["project: saved # ours\nservices: [", /^<!-- hostform plan: saved -->\n/],
    ['services: {a: "b}\nproject: "saved"\n', /^<!-- hostform plan: saved -->\n/],
    // Without the project's name, the comment's first line would differ from the earlier comment's first line.
    ["services: [", /^$/],
    ["x:\n  project: saved\nservices: [", /^$/],
    ["project: <b>\nservices: [", /^$/],
  ])("comments on a file that cannot be parsed, if its project can be read: %j", async (text, beginning) => {
    const project = await startProject({ declare: text });
    const ran = await project.run("plan", "--format", "markdown", "--report", "plan.md");
    expect(ran.out).toMatch(beginning);
    const file = readFileSync(fileOf(project, "plan.md"), "utf8");
    expect(file).toMatch(ran.out === "" ? /^### hostform plan\n/ : beginning);
    expect(file).toContain("The YAML cannot be parsed");
  });
});
