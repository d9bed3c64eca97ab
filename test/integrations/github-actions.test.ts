/** The actions of integrations/github in a job, with the built program, the sandbox and a stub of GitHub's API. */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { declaration, pullRequest, repository, service } from "../support/github-repository.ts";
import { mandateFor, newKey } from "../support/mandates.ts";

const MARKER = "<!-- hostform action: hostform -->";

/** Outputs without a plan. */
const UNKNOWN = {
  "has-changes": "unknown",
  offline: "unknown",
  orders: "unknown",
  now: "unknown",
  "needs-attention": "unknown",
  digest: "",
};

/** Returns the text of a Markdown document outside of code, where GitHub finds mentions, links and HTML. */
const outsideCode = (text: string) =>
  text.replace(/^(`{3,})\w*\n[\s\S]*?\n\1$/gm, "").replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, "");

describe("the action plan on a pull request", () => {
  it("plans as untrusted, and shows the plan as comment, summary, outputs and artifact", async () => {
    const { run, view, github } = await repository();
    const job = run("pull_request");
    const { failed, log, summary, outputs } = await job.action("plan", view);
    expect(failed, log).toBe(false);
    expect(log).toMatch(/hostform -C \. plan --no-color --untrusted /);
    expect(outputs).toEqual({
      "has-changes": "true",
      offline: "0",
      orders: "1",
      now: "4.50 USD",
      "needs-attention": "0",
      digest: "",
    });
    const [comment, ...others] = github.comments;
    expect(others).toEqual([]);
    expect(comment?.body?.split("\n")[0]).toBe(MARKER);
    for (const text of [comment?.body, summary]) expect(text).toContain("Orders 1 service for 4.50 USD");
    expect(comment?.body).toContain(`Commit ${"c".repeat(40)} · [complete plan](https://github.example/artifacts/1)`);
    expect(readdirSync(job.artifacts.get("hostform") ?? "").sort()).toEqual([
      "plan.html",
      "plan.json",
      "plan.md",
      "report.md",
    ]);
  });

  it("updates its comment in later runs, also behind 120 comments of others", async () => {
    const { run, view, full, github, files } = await repository();
    for (let id = 1; id <= 120; id++) github.comments.push({ id, user: { login: "ada" }, body: "hello" });
    await run("pull_request").action("plan", view);
    expect(github.comments).toHaveLength(121);
    const push = run("push");
    const saved = await push.action("plan", full);
    expect((await push.action("apply", { ...full, digest: saved.outputs.digest ?? "" })).failed).toBe(false);
    const state = readFileSync(path.join(push.workspace, "hosting.tfstate"), "utf8");
    files["hosting.tfstate"] = state;
    const second = await run("pull_request").action("plan", view);
    expect(second.outputs).toMatchObject({ "has-changes": "false", orders: "0", now: "" });
    expect(github.comments).toHaveLength(121);
    expect(github.comments.at(-1)?.body).toContain("No changes");
  });

  it("never edits or trusts a comment of somebody else with the same marker", async () => {
    const { run, view, github } = await repository();
    const forged = { id: 1, user: { login: "mallory" }, body: `${MARKER}\n**No changes.**` };
    github.comments.push({ ...forged });
    await run("pull_request").action("plan", view);
    await run("pull_request").action("plan", view);
    expect(github.comments).toHaveLength(2);
    expect(github.comments[0]).toEqual(forged);
    expect(github.comments[1]).toMatchObject({ user: { login: "github-actions[bot]" } });
  });

  it.each<[string, string, RegExp, Record<string, string>]>([
    ["an error of the declaration", `${declaration("www").slice(0, -1)}, "servces": {}}`, /servces/, {}],
    ["invalid YAML", "project: [", /hosting\.yaml/, {}],
    ["a refused token", declaration("www"), /401|token/i, { token: "refused" }],
    [
      "an API that does not respond",
      declaration("www"),
      /127\.0\.0\.1:1\b/,
      { HOSTING_BASE_URL: "http://127.0.0.1:1" },
    ],
    ["a wrong option", declaration("www"), /--nope/, { "plan-args": "--nope" }],
  ])("fails with the reason in the comment and in the summary: %s", async (_, text, reason, more) => {
    const { run, view, github, files } = await repository();
    files["hosting.yaml"] = text;
    const { HOSTING_BASE_URL, ...inputs } = more;
    const env = HOSTING_BASE_URL === undefined ? {} : { env: { HOSTING_BASE_URL } };
    const { failed, log, summary, outputs } = await run("pull_request", env).action("plan", { ...view, ...inputs });
    expect(failed, log).toBe(true);
    expect(outputs).toEqual(UNKNOWN);
    expect(summary).toMatch(reason);
    expect(github.comments.map(({ body }) => body)).toEqual([expect.stringMatching(reason)]);
  });

  it("annotates the line of an error, with escaped properties", async () => {
    const { run, view, files } = await repository();
    files["a,b%.yaml"] = "project: acme\nservices:\n  www:\n    plan: 11\n";
    const { log } = await run("pull_request").action("plan", { ...view, args: "-f\na,b%.yaml" });
    expect(log).toMatch(/^::error file=a%2Cb%25\.yaml,line=\d+,endLine=\d+,col=\d+,endColumn=\d+,title=config\.\w+::/m);
  });

  it("has a comment and an artifact for each name, in the account of another token", async () => {
    const { run, view, github, files } = await repository();
    files["shop.yaml"] = declaration("shop");
    const other = { name: "shop", "github-token": "ghs_app", "comment-author": "acme[bot]" };
    const job = run("pull_request");
    for (const more of [{}, { ...other, args: "--file\nshop.yaml" }, { ...other, "working-directory": "." }])
      expect(await job.action("plan", { ...view, ...more })).toMatchObject({ failed: false });
    expect(github.comments.map(({ user, body }) => [user.login, body?.split("\n")[0]])).toEqual([
      ["github-actions[bot]", MARKER],
      ["acme[bot]", "<!-- hostform action: shop -->"],
    ]);
    expect(github.comments[1]?.body).toContain("www.acme.example");
    expect([...job.artifacts.keys()]).toEqual(["hostform", "shop"]);
  });

  it("writes no comment with comment: false, and rejects a name that is a path", async () => {
    const { run, view, github } = await repository();
    expect(await run("pull_request").action("plan", { ...view, comment: "false" })).toMatchObject({ failed: false });
    const { failed, log } = await run("pull_request").action("plan", { ...view, name: "../x" });
    expect(failed).toBe(true);
    expect(log).toContain('::error::The input name is "../x".');
    expect(github.comments).toEqual([]);
  });

  it("shortens a long plan to GitHub's limit, and links to the complete plan", async () => {
    const { run, view, github, files } = await repository();
    files["hosting.yaml"] = declaration(...Array.from({ length: 400 }, (_, at) => `site-${"x".repeat(50)}-${at}`));
    const { failed, log } = await run("pull_request").action("plan", view);
    expect(failed, log.slice(-2000)).toBe(false);
    expect(github.comments[0]?.body?.length).toBeGreaterThan(50_000);
    expect(github.comments[0]?.body).toMatch(/more .*of the plan[\s\S]*\[complete plan\]\(https:/);
  });

  const evil =
    "x\n::set-output name=digest::forged\n::stop-commands::t\n##[add-path]/evil\n@acme/all ![x](https://evil.example) ````";
  it.each([
    ["a plan", { services: { www: service("www.acme.example") } }],
    ["errors", { services: { www: { ...service("www.acme.example"), reference: evil, [evil]: evil } } }],
  ])("lets no text of the declaration run a command of the runner, or mention somebody, in %s", async (_, more) => {
    const { run, view, github, files } = await repository();
    const account = { name: evil, company_name: evil, company_number: evil, currency: "USD" };
    const move = { domain: "old.acme.example", questions: { source_type: "cpanel", note: evil } };
    const declared = { project: "acme", client_accounts: { one: account }, migration_requests: { two: move }, ...more };
    files["hosting.yaml"] = JSON.stringify(declared);
    const { log, summary, outputs } = await run("pull_request").action("plan", view);
    expect(log).toContain("set-output");
    const commands = [...log.matchAll(/^\s*::([\w-]+)/gm)].map(([, name]) => name);
    expect(commands.filter((name) => !["error", "warning", "notice", "add-mask"].includes(name ?? ""))).toEqual([]);
    // The runner searches only other lines for `##[`.
    expect(log.replace(/^::.*/gm, "")).not.toContain("##[");
    expect(outputs.digest).toBe("");
    for (const text of [summary, github.comments[0]?.body ?? ""]) {
      expect(text).toContain("@acme/all");
      expect(outsideCode(text)).not.toMatch(/@acme|evil\.example|::|<img/);
    }
  });

  it("writes an output on one line, whatever the currency is", async () => {
    const { run, full, files } = await repository();
    files["hosting.yaml"] = declaration("www").replace('"USD"', '"U\\ndigest=forged"');
    const { outputs } = await run("push").action("plan", full);
    expect(outputs.digest).not.toBe("forged");
  });
});

describe("the input rehearse of the action plan", () => {
  it("adds the rehearsal of the plan to the comment and the summary", async () => {
    const { run, view, github, orders } = await repository();
    const trusted = { ...view, untrusted: "false", rehearse: "true" };
    const job = run("pull_request");
    const { failed, log, summary, outputs } = await job.action("plan", trusted);
    expect(failed, log).toBe(false);
    expect(log).toMatch(/^hostform -C \. rehearse \S+hostform\.plan --no-color --report \S+$/m);
    for (const text of [github.comments[0]?.body, summary]) {
      expect(text).toMatch(/Orders 1 service for 4\.50 USD[\s\S]*### hostform rehearsal: acme\n/);
      expect(text).toContain("**The plan converges: 1 order. In 12 months, from ");
      expect(text).toContain("| Month | Invoices | Amount | Unpaid |");
    }
    expect(github.comments[0]?.body).toMatch(/\n\nCommit c{40} · \[complete plan\]/);
    expect(outputs).toMatchObject({ orders: "1", digest: expect.stringMatching(/^[\da-f]{64}$/) });
    expect(readdirSync(job.artifacts.get("hostform") ?? "")).toContain("rehearsal.md");
    expect(orders()).toEqual([]);
  });

  it("fails no job because of the rehearsal", async () => {
    const { run, view, github, files, sandbox } = await repository();
    // A client account needs the ability billing.
    const token = sandbox.control.create("tokens", { name: "technician", abilities: ["view", "technical"] }).value;
    const trusted = { ...view, token, untrusted: "false", rehearse: "true" };
    const account = { name: "One", company_name: "One", company_number: "1", currency: "USD" };
    files["hosting.yaml"] = JSON.stringify({ project: "acme", client_accounts: { one: account } });
    const stopped = await run("pull_request").action("plan", trusted);
    expect(stopped.failed, stopped.log).toBe(false);
    expect(github.comments[0]?.body).toMatch(
      /Can be applied[\s\S]*\*\*The apply would stop: The token lacks permission/,
    );
    const crashed = await run("pull_request").action("plan", { ...trusted, token: "refused" });
    expect(crashed.failed).toBe(true);
    expect(github.comments[0]?.body).toMatch(/Nothing was planned[\s\S]*### hostform rehearsal failed/);
  });

  it("names the artifact if the comment has no room", async () => {
    const { run, view, github, files } = await repository();
    files["hosting.yaml"] = declaration(...Array.from({ length: 400 }, (_, at) => `site-${"x".repeat(50)}-${at}`));
    const trusted = { ...view, untrusted: "false", rehearse: "true" };
    const job = run("pull_request");
    expect(await job.action("plan", trusted)).toMatchObject({ failed: false });
    expect(github.comments[0]?.body).toContain("Read rehearsal.md in the artifact.");
    expect(github.comments[0]?.body?.length).toBeLessThan(65_536);
    expect(readdirSync(job.artifacts.get("hostform") ?? "")).toContain("rehearsal.md");
  });

  it("rehearses no untrusted commit", async () => {
    const { run, view, github } = await repository();
    const { failed, log } = await run("pull_request").action("plan", { ...view, rehearse: "true" });
    expect(failed, log).toBe(false);
    expect(log).not.toMatch(/^hostform .* rehearse /m);
    expect(github.comments[0]?.body).toContain("Not rehearsed: a rehearsal needs a trusted commit.");
  });
});

describe("the conditions of the action plan", () => {
  /** A pull request without changes, while an unpaid site is suspended. */
  async function unpaid() {
    const { run, view, full, files, sandbox } = await repository();
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    files["hosting.tfstate"] = readFileSync(path.join(job.workspace, "hosting.tfstate"), "utf8");
    const [site] = sandbox.control.list("services").filter(({ domain }) => domain === "www.acme.example");
    sandbox.control.suspendService(site?.id ?? 0);
    return (conditions: string) =>
      run("pull_request").action("plan", { ...view, "plan-args": `--fail-on=${conditions}` });
  }

  it("fail with a view token if they cannot be checked", async () => {
    const plan = await unpaid();
    for (const [name, shown] of [
      ["unpaid", "unpaid (not fully checked)"],
      ["offline", "offline"],
      ["unread", "unread"],
    ] as const) {
      const { failed, log } = await plan(name);
      expect(failed).toBe(true);
      expect(log).toContain(`Exit code 4 because of --fail-on: ${shown}.`);
    }
  });
});

describe("the action plan with a view token", () => {
  it("lists recorded grants as not checked, counts them as conditions, and saves no plan of main", async () => {
    const { run, view, full, files } = await repository();
    const grants = { "dev@acme.example": "view" };
    const www = { ...service("www.acme.example"), grants };
    files["hosting.yaml"] = JSON.stringify({ project: "acme", services: { www } });
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    files["hosting.tfstate"] = readFileSync(path.join(job.workspace, "hosting.tfstate"), "utf8");
    const request = await run("pull_request").action("plan", view);
    expect(request.failed, request.log).toBe(false);
    expect(request.outputs).toMatchObject({ "has-changes": "false", "needs-attention": "1" });
    expect(request.summary).toMatch(/not checked/i);
    const save = await run("push").action("plan", view);
    expect(save.failed).toBe(true);
    expect(save.outputs.digest).toBe("");
    expect(save.log).toContain("The plan was not saved");
  });
});

describe("the action plan on a commit of a stranger", () => {
  it("validates without a token, and writes no comment with the token of a fork", async () => {
    const { run, github } = await repository();
    const options = { payload: pullRequest("mallory/sites"), token: "ghs_read" };
    const job = run("pull_request", options);
    const { failed, log, summary, outputs } = await job.action("plan", { untrusted: "false" });
    expect(failed, log).toBe(false);
    expect(outputs).toEqual(UNKNOWN);
    expect(log).toContain("hostform -C . validate --untrusted --no-color");
    expect(log).toContain("The token of a fork cannot comment.");
    expect(summary).toContain("The declaration is valid: 1 resource");
    expect(github.comments).toEqual([]);
  });

  it.each([
    ["pull_request_target", pullRequest("mallory/sites")],
    ["pull_request", pullRequest(null)],
    ["issue_comment", {}],
    ["workflow_run", {}],
  ])("stays untrusted on %s, whatever the input untrusted is", async (event, payload) => {
    const { run, view, sandbox, files } = await repository();
    files["hosting.yaml"] = JSON.stringify({
      ...JSON.parse(declaration("www")),
      providers: { default: { base_url: "https://evil.example" } },
    });
    const { failed, summary } = await run(event, { payload }).action("plan", { ...view, untrusted: "false" });
    expect(failed).toBe(true);
    expect(summary).toContain("trust.untrusted");
    expect(sandbox.control.requests()).toEqual([]);
  });

  it("trusts a pull request of the team only if the input untrusted is false", async () => {
    const { run, view } = await repository();
    const trusted = await run("pull_request").action("plan", { ...view, untrusted: "false" });
    expect(trusted.log).not.toContain("--untrusted");
    const push = await run("push").action("plan", { ...view, untrusted: "true" });
    expect(push.log).toContain("plan --no-color --untrusted");
  });

  it("validates a pull request of Dependabot, whose token may be unable to comment", async () => {
    const { run } = await repository();
    const options = { actor: "dependabot[bot]", token: "ghs_read" };
    const { failed, log } = await run("pull_request", options).action("plan", { token: "" });
    expect(failed, log).toBe(false);
    expect(log).toContain("hostform -C . validate --untrusted --no-color");
    expect(log).toMatch(/^::notice::The token of Dependabot cannot comment\./m);
  });

  it.each(["yes", "True", "TRUE", "1"])("rejects untrusted: %s before hostform starts", async (untrusted) => {
    const { run, full } = await repository();
    const { failed, log } = await run("push").action("plan", { ...full, untrusted });
    expect(failed).toBe(true);
    expect(log).toContain(`::error::The input untrusted is "${untrusted}". Use true or false.`);
    expect(log).not.toContain("hostform -C");
  });

  it.each([
    ["--fail-on offline", '"--fail-on=offline"'],
    ["-e production", "two lines"],
  ])("rejects two arguments on one line: %s", async (line, remedy) => {
    const { run, view } = await repository();
    const { failed, log } = await run("pull_request").action("plan", { ...view, "plan-args": `--verbose\n${line}` });
    expect(failed).toBe(true);
    expect(log).toContain(`::error::Each line of the input plan-args is one argument. Write "${line}" as ${remedy}.`);
  });

  it("names the login of another account, because the next run could not find the comment", async () => {
    const { run, view, github } = await repository();
    const { failed, log } = await run("pull_request").action("plan", { ...view, "github-token": "ghs_app" });
    expect(failed).toBe(true);
    expect(log).toContain("Set the input comment-author to acme[bot].");
    expect(github.comments).toHaveLength(1);
  });

  it("reads a comment without a body", async () => {
    const { run, view, github } = await repository();
    github.comments.push({ id: 1, user: { login: "github-actions[bot]" }, body: null });
    const { failed, log } = await run("pull_request").action("plan", view);
    expect(failed, log).toBe(false);
    expect(github.comments).toHaveLength(2);
  });

  it.each([
    ["an invalid token", { token: "wrong" }, /GitHub responded 401 .*`github-token`/],
    [
      "no access",
      { payload: { pull_request: { ...pullRequest().pull_request, number: 8 } } },
      /GitHub responded 404 .*`github-token`/,
    ],
  ])("explains a comment that fails because of %s", async (_, options, message) => {
    const { run, view } = await repository();
    const { failed, log } = await run("pull_request", options).action("plan", view);
    expect(failed).toBe(true);
    expect(log).toMatch(message);
  });

  it("fails if the token of the repository's own workflow cannot comment", async () => {
    const { run, view } = await repository();
    const { failed, log } = await run("pull_request", { token: "ghs_read" }).action("plan", view);
    expect(failed).toBe(true);
    expect(log).toMatch(/^::error::GitHub responded 403 .*pull-requests: write/m);
  });

  it("fails if GitHub does not respond, because an earlier comment shows another plan", async () => {
    const { run, view } = await repository();
    const { failed, log } = await run("pull_request", { api: "http://127.0.0.1:2" }).action("plan", view);
    expect(failed).toBe(true);
    expect(log).toMatch(/^::error::GitHub did not respond, so the comment is not up to date: /m);
  });

  it("plans the commit of a merge queue without a comment", async () => {
    const { run, view, github } = await repository();
    const { failed, log, outputs } = await run("merge_group").action("plan", view);
    expect(failed, log).toBe(false);
    expect(log).toMatch(/plan --no-color --untrusted/);
    expect(outputs.orders).toBe("1");
    expect(github.comments).toEqual([]);
  });
});

describe("the action apply", () => {
  it("applies exactly the plan of the artifact, and says so in the summary", async () => {
    const { run, full, orders } = await repository();
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    expect(outputs).toMatchObject({ "has-changes": "true", digest: expect.stringMatching(/^[\da-f]{64}$/) });
    const { failed, log, summary } = await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    expect(failed, log).toBe(false);
    expect(summary).toContain("### hostform apply is complete");
    expect(summary).toContain("Apply complete! 1 added");
    expect(orders()).toHaveLength(1);
    const again = await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    expect(again.failed).toBe(true);
    expect(again.summary).toContain("The state has changed since the plan was created");
    expect(orders()).toHaveLength(1);
  });

  it("applies the plan only with the mandate that an approver signed for its digest", async () => {
    const { run, full, orders } = await repository();
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    const plan = readFileSync(path.join(job.artifacts.get("hostform") ?? "", "hostform.plan"), "utf8");
    const { key, trusted } = newKey();
    const given = { ...full, digest: outputs.digest ?? "", approvers: `ana=${trusted}` };
    const without = await job.action("apply", given);
    expect([without.failed, without.log]).toEqual([true, expect.stringContaining("[mandate.required]")]);
    const other = mandateFor(plan, newKey().key);
    const forged = await job.action("apply", { ...given, mandate: other });
    expect([forged.failed, forged.log]).toEqual([true, expect.stringContaining("[mandate.signature]")]);
    expect(orders()).toEqual([]);
    const { failed, log } = await job.action("apply", { ...given, mandate: mandateFor(plan, key).trimEnd() });
    expect(failed, log).toBe(false);
    expect(log).toContain("use 1. Left: 0 uses");
    expect(orders()).toHaveLength(1);
  });

  it("refuses a plan with another digest before any request", async () => {
    const { run, full, orders, sandbox } = await repository();
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    appendFileSync(path.join(job.artifacts.get("hostform") ?? "", "hostform.plan"), "\n");
    const before = sandbox.control.requests().length;
    const { failed, log } = await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    expect(failed).toBe(true);
    expect(log).toMatch(
      /^::error::The digest of the plan is [\da-f]{64}, not the approved [\da-f]{64}\. No request was sent\.$/m,
    );
    expect(sandbox.control.requests()).toHaveLength(before);
    expect(orders()).toEqual([]);
  });

  it("passes its limits to hostform", async () => {
    const { run, full, orders } = await repository();
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    const limits = { "lock-timeout": "2s", "apply-args": "--max-orders\n0", args: "--verbose" };
    const { failed, log, summary } = await job.action("apply", { ...full, digest: outputs.digest ?? "", ...limits });
    expect(failed).toBe(true);
    expect(log).toMatch(/^hostform -C \. --verbose apply \S+ --no-color --lock-timeout 2s --max-orders 0$/m);
    expect(summary).toContain("### hostform apply failed (exit code 1)");
    expect(summary).toContain("--max-orders");
    expect(orders()).toEqual([]);
  });

  it("keeps new secrets out of the summary, and masks them in the log", async () => {
    const { run, full, files } = await repository();
    files["hosting.yaml"] = JSON.stringify({
      project: "acme",
      webhooks: {
        hook: { url: "https://hooks.acme.example/x", events: ["invoice.paid"], secret_output: { file: "secret" } },
      },
    });
    const job = run("push");
    const { outputs, log: planned } = await job.action("plan", full);
    expect(outputs.digest, planned).not.toBe("");
    const { failed, log, summary } = await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    expect(failed, log).toBe(false);
    const secret = readFileSync(path.join(job.workspace, "secret"), "utf8").trim();
    expect(secret.length).toBeGreaterThan(10);
    expect(log.split("\n").filter((line) => line.includes(secret))).toEqual([`::add-mask::${secret}`]);
    expect(summary).not.toContain(secret);
  });
});

describe("the action status", () => {
  it("writes the status to the summary, and fails on a condition", async () => {
    const { run, full, sandbox } = await repository();
    const job = run("push");
    const { outputs } = await job.action("plan", full);
    await job.action("apply", { ...full, digest: outputs.digest ?? "" });
    const green = await job.action("status", { ...full, "status-args": "--section=services" });
    expect(green.failed, green.log).toBe(false);
    expect(green.summary).toContain("Synced 1 of 1");
    const [site] = sandbox.control.list("services").filter(({ domain }) => domain === "www.acme.example");
    sandbox.control.suspendService(site?.id ?? 0);
    const red = await job.action("status", full);
    expect(red.failed).toBe(true);
    expect(red.summary).toContain("www.acme.example");
    expect(red.summary).toContain("Exit code 4 because of --fail-on: offline");
    expect(await job.action("status", { ...full, "fail-on": "gone" })).toMatchObject({ failed: false });
    const refused = await job.action("status", { token: "refused" });
    expect(refused.failed).toBe(true);
    expect(refused.summary).toMatch(/token/);
  });
});

describe("a cancelled job", () => {
  it("lets hostform record the answer to its order, although the runner sends two signals", async () => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const { run, full, sandbox, orders } = await repository({
      sleep: () => {
        arrived.resolve();
        return gate.promise;
      },
    });
    let pid = 0;
    const job = run("push", { onStart: (started) => (pid = started) });
    const { outputs } = await job.action("plan", full);
    sandbox.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 1 });
    const apply = job.action("apply", { ...full, digest: outputs.digest ?? "" });
    await arrived.promise;
    process.kill(pid, "SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    process.kill(pid, "SIGTERM");
    gate.resolve();
    const { log, summary } = await apply;
    expect(log).toContain("sends no more requests");
    expect(summary).not.toContain("no known outcome");
    const [order] = orders();
    expect(readFileSync(path.join(job.workspace, "hosting.tfstate"), "utf8")).toContain(`"${order?.id}"`);
  });
});
