/** The GitLab components, as GitLab interprets them and a runner executes them. */
import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../support/built-once.ts";
import { mandateFor, newKey } from "../support/mandates.ts";
import { gitlabApi, type Note, pipeline, runJob } from "./gitlab-host.ts";
import { CLOSED, host, STATE } from "./host.ts";

const TEMPLATES = path.join(ROOT, "integrations/gitlab/templates");
const MARKER = "<!-- hostform job: hostform-plan -->";
const note = (id: number, author: number, body: string): Note => ({ id, author: { id: author }, body });
const ENVIRONMENT = (url: string) => `variables: {name: www.acme.example}
backend: {http: {address: "${url}", lock_address: "${url}/lock", lock_method: POST, unlock_method: DELETE}}
`;

/** A merge request with its job. `run` runs the job. */
async function mergeRequest(inputs: Readonly<Record<string, unknown>> = {}, notes: Note[] = []) {
  const its = await host("?project=${env.CI_PROJECT_ID}");
  const api = await gitlabApi(notes);
  const { jobs, error } = pipeline(its, [{ component: "plan", inputs }]);
  const job = jobs["hostform-plan"];
  if (job === undefined) throw new Error(error);
  const ci = {
    CI_API_V4_URL: api.url,
    CI_PROJECT_ID: "3",
    CI_JOB_NAME: "hostform-plan",
    CI_JOB_URL: "https://gitlab.example/acme/-/jobs/9",
    CI_COMMIT_SHA: "0123abc",
    CI_MERGE_REQUEST_IID: "5",
    CI_MERGE_REQUEST_PROJECT_ID: "3",
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "3",
    CI_MERGE_REQUEST_PROJECT_URL: `file://${its.base}/origin`,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
    HOSTING_VIEW_TOKEN: its.sandbox.tokens.viewer,
    HOSTFORM_NOTE_TOKEN: "note-token",
  };
  const run = (more: Readonly<Record<string, string>> = {}) => runJob(its, job, { ...ci, ...more });
  const apply = () =>
    its.run(["hostform", "apply", "--auto-approve"], {
      ...STATE,
      CI_PROJECT_ID: "3",
      HOSTING_TOKEN: its.sandbox.tokens.agency,
    });
  return { ...its, api, job, runJob: run, apply };
}

describe("the component plan", () => {
  it("plans once with the view token, and updates only its own note", async () => {
    const others = [note(1, 1, `${MARKER}\nforged`), note(2, 7, "hello"), note(3, 1, "hello")];
    const request = await mergeRequest({}, [...others]);
    const first = await request.runJob({ HOSTING_TOKEN: "order-token" });
    expect(first).toMatchObject({
      code: 0,
      outputs: [
        "HOSTFORM_HAS_CHANGES=true",
        "HOSTFORM_OFFLINE=0",
        "HOSTFORM_ORDERS=1",
        "HOSTFORM_NOW=4.50 USD",
        "HOSTFORM_NEEDS_ATTENTION=0",
      ],
    });
    expect(first.log).toContain("npm pack --silent hostform@0.1.0\nhostform-0.1.0.tgz: OK\nnpm install --global");
    expect(first.log.match(/^Plan: 1 to add/gm)).toHaveLength(1);
    const own = request.api.notes.at(-1);
    expect(own?.body).toMatch(/^<!-- hostform job: hostform-plan -->\n<!-- hostform plan: acme -->\n### hostform plan/);
    expect(own?.body).toContain("**Orders 1 service for 4.50 USD.**");
    expect(own?.body).toMatch(/\nCommit 0123abc, \[job\]\(https:\/\/gitlab\.example\/acme\/-\/jobs\/9\)\n$/);

    request.write("hosting.yaml", "project: acme\n");
    expect((await request.runJob()).outputs).toContain("HOSTFORM_HAS_CHANGES=false");
    expect(own?.body).toContain("**No changes.");
    expect(request.api.requests).toEqual([
      "POST /api/v4/projects/3/merge_requests/5/notes",
      "PUT /api/v4/projects/3/merge_requests/5/notes/103",
    ]);
    expect(request.api.notes.slice(0, 3)).toEqual(others);
    expect(request.ordered()).toEqual([]);
  });

  it.each([true, false])("reads the state of the target branch (untrusted: %s)", async (untrusted) => {
    const request = await mergeRequest({ untrusted });
    expect((await request.apply()).status).toBe(0);
    request.backend.requests.length = 0;
    const { code, outputs, log } = await request.runJob();
    expect([code, outputs.slice(0, 3)], log).toEqual([
      0,
      ["HOSTFORM_HAS_CHANGES=false", "HOSTFORM_OFFLINE=0", "HOSTFORM_ORDERS=0"],
    ]);
    // The plan takes no lock and writes no state.
    expect([...new Set(request.backend.sent())]).toEqual(["GET /state?project=3"]);
  });

  it("uses the environments of the target branch", async () => {
    const request = await mergeRequest({ environment: "staging" });
    const place = ENVIRONMENT(request.backend.url);
    const yaml =
      "project: acme\nvariables: {name: {}}\nservices:\n  www: {plan_id: 11, currency: USD, domain: '${var.name}'}\n";
    request.write("hosting.yaml", yaml);
    request.write("environments/staging.yaml", place);
    const before = await request.runJob();
    expect([before.code, before.log]).toEqual([
      1,
      expect.stringContaining("The branch main has no ./environments/staging.yaml. Merge this file first.\n"),
    ]);
    await request.push();
    request.write("environments/staging.yaml", `${place}provider: {base_url: "https://evil.example"}\n`);
    const { code, log } = await request.runJob();
    expect(code, log).toBe(0);
    expect(log).toContain("www.acme.example");
    expect((await request.runJob({ CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "8" })).log).toContain("is valid");
  });

  it.each([
    ["a mistake in the declaration", { yaml: "project: acme\nservices: [1" }, "Nothing was planned"],
    ["a mistake in one service", { yaml: `project: acme\nservices:\n  www: {plan_id: one}\n` }, "Nothing was planned"],
    ["a token that the API rejects", { env: { HOSTING_VIEW_TOKEN: "wrong" } }, "401"],
    ["an API that is down", { env: { HOSTING_BASE_URL: CLOSED } }, "ECONNREFUSED"],
  ])(
    "with %s, writes the reason to the note and sets the outputs",
    async (_, { yaml, env }: { readonly yaml?: string; readonly env?: Readonly<Record<string, string>> }, words) => {
      const request = await mergeRequest();
      if (yaml !== undefined) request.write("hosting.yaml", yaml);
      const { code, outputs, log } = await request.runJob(env);
      expect(request.api.notes[0]?.body, log).toContain(words);
      expect([code, outputs[0]]).toEqual([1, "HOSTFORM_HAS_CHANGES=unknown"]);
    },
  );

  it("fails for a condition, after a plan", async () => {
    const request = await mergeRequest({ "fail-on": "unread" });
    await request.apply();
    expect(await request.runJob()).toMatchObject({
      code: 4,
      outputs: expect.arrayContaining(["HOSTFORM_HAS_CHANGES=false", "HOSTFORM_NEEDS_ATTENTION=1"]),
    });
  });

  it("says in the note that the job failed before the plan", async () => {
    const request = await mergeRequest();
    request.program("npm", "#!/bin/sh\nexit 1\n");
    expect(await request.runJob()).toMatchObject({
      code: 1,
      outputs: ["HAS_CHANGES", "OFFLINE", "ORDERS", "NOW", "NEEDS_ATTENTION"].map((name) => `HOSTFORM_${name}=unknown`),
    });
    expect(request.api.notes[0]?.body).toContain("**The job failed before the plan.**");
  });

  it("runs no package with another digest", async () => {
    const request = await mergeRequest({ digest: "0".repeat(64), url: "https://acme.example/hostform-0.1.0.tgz" });
    const { code, log } = await request.runJob();
    expect([code, request.backend.requests]).toEqual([1, []]);
    expect(log).toContain("npm pack --silent https://acme.example/hostform-0.1.0.tgz\nhostform-0.1.0.tgz: FAILED");
    expect(log).not.toContain("npm install");
  });

  it.each([
    ["rejects the token", { HOSTFORM_NOTE_TOKEN: "wrong" }, "GET /user: status 401", "Check HOSTFORM_NOTE_TOKEN: "],
    ["is down", { CI_API_V4_URL: CLOSED }, "bad port", `Check that the runner can reach ${CLOSED}`],
  ])("succeeds with a warning if GitLab %s", async (_, env, reason, fix) => {
    const request = await mergeRequest();
    const { code, log } = await request.runJob(env);
    expect([code, request.api.notes]).toEqual([0, []]);
    for (const words of [`WARNING: The note was not written: ${reason}`, "An earlier note of this job", fix])
      expect(log).toContain(words);
  });

  it("succeeds without a token for notes", async () => {
    const request = await mergeRequest();
    expect((await request.runJob({ HOSTFORM_NOTE_TOKEN: "" })).code).toBe(0);
  });

  it("plans each project of a repository from its own state", async () => {
    const its = await host();
    const folders = ["sites/a", "sites/b"];
    for (const folder of folders) await its.project(folder);
    await its.push();
    const { jobs, error } = pipeline(
      its,
      folders.map((directory) => ({ component: "plan", inputs: { directory, job: path.basename(directory) } })),
    );
    expect([Object.keys(jobs).filter((name) => name.length === 1), error]).toEqual([["a", "b"], ""]);
    const ci = {
      CI_JOB_NAME: "plan",
      CI_MERGE_REQUEST_PROJECT_ID: "3",
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "3",
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      HOSTING_VIEW_TOKEN: its.sandbox.tokens.viewer,
    };
    const results = async () => {
      const ran: Awaited<ReturnType<typeof runJob>>[] = [];
      for (const job of [jobs.a, jobs.b]) if (job !== undefined) ran.push(await runJob(its, job, ci));
      expect(ran).toHaveLength(2);
      return ran;
    };
    for (const { code, log } of await results())
      expect([code, log]).toEqual([0, expect.stringContaining("has no state on the branch main.")]);
    for (const folder of folders)
      await its.run(["hostform", "apply", "--auto-approve", "-C", folder], {
        ...STATE,
        HOSTING_TOKEN: its.sandbox.tokens.agency,
      });
    for (const { code, log, outputs } of await results())
      expect([code, outputs[0]], log).toEqual([0, "HOSTFORM_HAS_CHANGES=false"]);
  });

  it("only validates a merge request from a fork, without any token", async () => {
    const request = await mergeRequest();
    const fork = { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "8", HOSTING_VIEW_TOKEN: "", HOSTFORM_NOTE_TOKEN: "" };
    // The declaration has the backend of the target branch.
    const valid = await request.runJob(fork);
    expect([valid.code, valid.log]).toEqual([0, expect.stringContaining("is valid")]);
    request.write("hosting.yaml", "project: acme\nproviders: {default: {token_env: HOSTFORM_NOTE_TOKEN}}\n");
    const { code, log } = await request.runJob(fork);
    expect([code, log]).toEqual([1, expect.stringContaining("names a credential (token_env)")]);
    expect([request.api.requests, request.backend.requests]).toEqual([[], []]);
  });

  it("executes no Markdown and no command of a declaration", async () => {
    const request = await mergeRequest();
    const hostile =
      "x\\n/approve\\n/merge\\n```\\n````\\n/close\\n@root ![x](https://evil.example/x) $(touch pwned) `touch pwned`";
    for (const yaml of [
      `project: acme\nservices:\n  www: {plan_id: 11, currency: USD, domain: "${hostile}"}\n`,
      `project: acme\nservices:\n  www: {plan_id: 11, currency: USD, reference: "${hostile}"}\n`,
      `project: "${hostile}"\n`,
      `project: acme\noutputs: {x: {value: "${hostile}", description: "${hostile}"}}\n`,
      `project: acme\n/approve\n/merge: [\n/close\n`,
    ]) {
      request.write("hosting.yaml", yaml);
      const { log } = await request.runJob();
      const { body = "" } = request.api.notes[0] ?? {};
      expect(body, log).toContain(MARKER);
      expect(body.split("\n").filter((line) => /^\s*\//.test(line))).toEqual([]);
      const prose = body.replace(/^(`{3,})\w*\n[\s\S]*?^\1$/gm, "").replace(/(`+)[\s\S]*?[^`]\1(?!`)/g, "");
      expect(prose).not.toMatch(/@root|evil|touch/);
    }
    expect((await request.run(["git", "status", "--short"])).stdout).not.toContain("pwned");
  });

  it("shows no token in its reports", async () => {
    const request = await mergeRequest();
    const { log } = await request.runJob();
    const files = ["plan.md", "plan.html", "plan.json", "outputs.env"].map((name) =>
      readFileSync(path.join(request.checkout, "hostform-report", name), "utf8"),
    );
    for (const secret of [request.sandbox.tokens.viewer, "note-token", "job-token"])
      expect([log, ...files].join("\n")).not.toContain(secret);
  });
});

async function defaultBranch(inputs: Readonly<Record<string, unknown>> = {}) {
  const its = await host();
  const { jobs, error } = pipeline(its, [{ component: "apply", inputs }, { component: "status" }]);
  const ci = { HOSTING_TOKEN: its.sandbox.tokens.agency, HOSTING_STATUS_TOKEN: its.sandbox.tokens.agency };
  const run = (name: string, more = {}) => {
    const job = jobs[name];
    if (job === undefined) throw new Error(error);
    return runJob(its, job, { ...ci, ...more });
  };
  return { ...its, jobs, runJob: run };
}

describe("the component apply", () => {
  it("applies exactly the saved plan", async () => {
    const main = await defaultBranch({ "fail-on": "unpaid" });
    const saved = await main.runJob("hostform-apply-plan");
    const [output = ""] = saved.outputs;
    expect([saved.code, output], saved.log).toEqual([0, expect.stringMatching(/^HOSTFORM_PLAN_SHA256=[\da-f]{64}$/)]);
    expect(readFileSync(path.join(main.checkout, "hostform.plan"), "utf8")).not.toContain(main.sandbox.tokens.agency);
    const sum = { HOSTFORM_PLAN_SHA256: output.split("=")[1] };
    // The order waits for its payment.
    const applied = await main.runJob("hostform-apply", sum);
    expect([applied.code, main.ordered()], applied.log).toEqual([4, ["www.acme.example"]]);
    const again = await main.runJob("hostform-apply", sum);
    expect([again.code, again.log]).toEqual([
      1,
      expect.stringContaining("The state has changed since the plan was created"),
    ]);
  });

  it("applies the plan only with the mandate that an approver signed", async () => {
    const { key, trusted } = newKey();
    const main = await defaultBranch({ approvers: `ana=${trusted}` });
    const { outputs } = await main.runJob("hostform-apply-plan");
    const sum = { HOSTFORM_PLAN_SHA256: outputs[0]?.split("=")[1] ?? "" };
    const without = await main.runJob("hostform-apply", sum);
    expect([without.code, without.log]).toEqual([1, expect.stringContaining("[mandate.file]")]);
    expect(main.ordered()).toEqual([]);
    const text = mandateFor(readFileSync(path.join(main.checkout, "hostform.plan"), "utf8"), key);
    const applied = await main.runJob("hostform-apply", { ...sum, HOSTFORM_MANDATE: text });
    expect(applied.log).toContain("use 1. Left: 0 uses");
    expect([applied.code, main.ordered()], applied.log).toEqual([0, ["www.acme.example"]]);
  });

  it("rejects a plan with another digest", async () => {
    const main = await defaultBranch();
    const { outputs } = await main.runJob("hostform-apply-plan");
    appendFileSync(path.join(main.checkout, "hostform.plan"), " ");
    const { code, log } = await main.runJob("hostform-apply", { HOSTFORM_PLAN_SHA256: outputs[0]?.split("=")[1] });
    expect([code, log]).toEqual([1, expect.stringContaining("hostform.plan: FAILED")]);
    expect(main.ordered()).toEqual([]);
  });

  it("runs both jobs on the default branch only, in the protected environment, and waits for an approval", async () => {
    const { jobs } = await defaultBranch();
    const onMain = '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_PIPELINE_SOURCE != "schedule"';
    expect(jobs["hostform-apply-plan"]).toMatchObject({
      rules: [{ if: onMain }],
      environment: { name: "hosting", action: "prepare" },
      artifacts: { access: "developer" },
    });
    expect(jobs["hostform-apply"]).toMatchObject({
      rules: [{ if: onMain, when: "manual" }],
      environment: "hosting",
      resource_group: "hosting",
    });
  });
});

describe("the component status", () => {
  it("reports the account and fails for a condition", async () => {
    const main = await defaultBranch();
    // The documented token cannot read webhooks.
    const { value } = main.sandbox.control.create("tokens", { name: "status", abilities: ["view", "billing"] });
    const before = await main.runJob("hostform-status", { HOSTING_STATUS_TOKEN: value });
    expect([before.code, before.log]).toEqual([0, expect.stringMatching(/Not read: webhooks .*\(403\)/)]);
    await main.run(["hostform", "apply", "--auto-approve"], { ...STATE, HOSTING_TOKEN: main.sandbox.tokens.agency });
    const { code, log } = await main.runJob("hostform-status", { HOSTING_STATUS_TOKEN: value });
    expect([code, log]).toEqual([4, expect.stringContaining("1 unpaid, 4.50 USD")]);
    const blind = await main.runJob("hostform-status", { HOSTING_STATUS_TOKEN: main.sandbox.tokens.viewer });
    expect([blind.code, blind.log]).toEqual([4, expect.stringContaining("unpaid (not fully checked)")]);
    expect(main.jobs["hostform-status"]?.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "schedule"' }]);
  });
});

describe("the inputs of the components", () => {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };

  it("select this version by default", () => {
    for (const component of ["plan", "apply", "status"])
      expect(readFileSync(path.join(TEMPLATES, component, "template.yml"), "utf8")).toContain(
        `version: { description: Version of hostform., default: ${version}, regex`,
      );
  });

  it("accept no shell syntax", async () => {
    for (const component of ["plan", "apply", "status"]) {
      const [header = ""] = readFileSync(path.join(TEMPLATES, component, "template.yml"), "utf8").split(/^---$/m);
      const { spec } = parse(header) as {
        spec: { inputs: Record<string, { regex?: string; options?: string[]; type?: string }> };
      };
      for (const [name, { regex, options, type }] of Object.entries(spec.inputs)) {
        // GitLab accepts only the name of an existing stage.
        if (name === "stage" || type === "boolean" || options !== undefined) continue;
        for (const value of ['"', "$(id)", "a b", "a;b", "`id`", "a\nb"])
          expect(
            RE2JS.compile(regex ?? "")
              .matcher(value)
              .find(),
            `${component}: ${name}`,
          ).toBe(false);
      }
    }
    const { error } = pipeline(await host(), [{ component: "plan", inputs: { directory: "$(id)" } }]);
    expect(error).toContain("directory");
  });
});
