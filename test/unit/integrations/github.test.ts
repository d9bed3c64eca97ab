/** The actions and workflows in integrations/github, against the schemas that GitHub publishes, and rules for their safety. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { JSONObjectReader } from "@actions/workflow-parser/templates/json-object-reader";
import { TemplateSchema } from "@actions/workflow-parser/templates/schema/index";
import { TemplateContext, TemplateValidationErrors } from "@actions/workflow-parser/templates/template-context";
import { readTemplate } from "@actions/workflow-parser/templates/template-reader";
import { NoOperationTraceWriter } from "@actions/workflow-parser/templates/trace-writer";
import { YamlObjectReader } from "@actions/workflow-parser/workflows/yaml-object-reader";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { FOLDER, type Step } from "../../support/github-runner.ts";

const PARSER = path.dirname(fileURLToPath(import.meta.resolve("@actions/workflow-parser")));
const files = globSync("**/*.yml", { cwd: FOLDER }).sort();
const textOf = (file: string) => readFileSync(path.join(FOLDER, file), "utf8");
const kindOf = (file: string) => (path.basename(file) === "action.yml" ? "action" : "workflow");

/** Returns the errors of a file against GitHub's schema of actions or workflows, also in its expressions. */
function errorsOf(kind: "action" | "workflow", text: string): string[] {
  const schema = readFileSync(path.join(PARSER, `${kind}-v1.0.min.json`), "utf8");
  const errors = new TemplateValidationErrors();
  const loaded = TemplateSchema.load(new JSONObjectReader(undefined, schema));
  const context = new TemplateContext(errors, loaded, new NoOperationTraceWriter());
  const id = context.getFileId("file.yml");
  const reader = new YamlObjectReader(id, text);
  readTemplate(context, `${kind}-root-strict`, reader, id);
  return [...reader.errors, ...errors.getErrors()].map(({ message }) => message);
}

interface Job {
  readonly steps?: readonly Step[];
  readonly concurrency?: { readonly group: string };
  readonly permissions?: Readonly<Record<string, string>>;
}

const jobsOf = (file: string): Job[] => {
  const { runs, jobs } = parse(textOf(file));
  return runs === undefined ? Object.values(jobs) : [runs];
};
const stepsOf = (file: string) => jobsOf(file).flatMap(({ steps = [] }) => steps);

describe.each(files)("%s", (file) => {
  it("is valid for GitHub", () => {
    expect(errorsOf(kindOf(file), textOf(file))).toEqual([]);
  });

  it("has no expression in a script, because an expression can insert code", () => {
    const scripts = stepsOf(file).flatMap(({ run }) => run ?? []);
    expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
  });

  it("pins each action of others to a commit, with the version in a comment", () => {
    const used = [...textOf(file).matchAll(/uses: (.*)/g)].map(([, name = ""]) => name);
    const pin =
      /^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$|^OWNER\/hostform\/integrations\/github\/\w+@vX\.Y\.Z$|^\.\/\.github\/workflows\/hosting-project\.yml$/;
    expect(used.filter((name) => !pin.test(name))).toEqual([]);
  });

  it("keeps the credentials of git out of the checkout", () => {
    const checkouts = stepsOf(file).filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.filter((step) => String(step.with?.["persist-credentials"]) !== "false")).toEqual([]);
  });
});

it("the files are all actions and workflows of the folder", () => {
  expect(files.map(kindOf).filter((kind) => kind === "action")).toHaveLength(4);
  expect(files).toHaveLength(8);
});

it("all files use one commit of each action", () => {
  const pins = files.flatMap((file) => [...textOf(file).matchAll(/uses: (actions\/[\w-]+)@(\S+ # \S+)/g)]);
  const byName = Map.groupBy(pins, ([, name]) => name);
  for (const [name, uses] of byName) expect(new Set(uses.map(([, , pin]) => pin)).size, name).toBe(1);
});

it("the workflows grant write permissions only to the job that needs them", () => {
  const written = files
    .filter((file) => kindOf(file) === "workflow")
    .map((file) => {
      const { permissions, jobs } = parse(textOf(file));
      expect(permissions, file).toEqual({ contents: "read" });
      return Object.entries<Job>(jobs).flatMap(([name, job]) =>
        Object.entries(job.permissions ?? {}).flatMap(([what, level]) => (level === "write" ? `${name} ${what}` : [])),
      );
    });
  expect(written.flat().sort()).toEqual([
    "plan pull-requests",
    "project pull-requests",
    "publish attestations",
    "publish contents",
    "publish id-token",
  ]);
});

it("the workflow of the projects passes each input, all secrets and the permissions, only for the branch main", () => {
  const { on, jobs } = parse(textOf("workflows/hosting.yml"));
  const called = parse(textOf("workflows/hosting-project.yml"));
  const inputs = Object.keys(called.on.workflow_call.inputs);
  expect(jobs.project).toMatchObject({
    name: "${{ matrix.name }}",
    strategy: { "fail-fast": false },
    permissions: called.jobs.plan.permissions,
    with: Object.fromEntries(inputs.map((name) => [name, `\${{ matrix.${name} }}`])),
    secrets: "inherit",
  });
  const main = { branches: ["main"] };
  expect(on).toEqual({ pull_request: main, merge_group: main, push: main });
});

it("each project has its own groups of jobs, so no project cancels a job of another project", () => {
  const groups = jobsOf("workflows/hosting-project.yml").flatMap(({ concurrency }) => concurrency?.group ?? []);
  expect(groups).toEqual(["hosting-plan-${{ inputs.name }}-${{ github.ref }}", "hosting-apply-${{ inputs.name }}"]);
});

it.each([
  ["action", "name: a\ndescription: b\nruns:\n  using: composite\n  steps: [{run: x, shell: bash, foo: 1}]", "'foo'"],
  ["action", "name: a\ndescription: b\nruns:\n  using: composite\n  steps: [{run: x}]", "shell"],
  ["workflow", "on: push\njobs:\n  a:\n    runs-on: x\n    permission: {}\n    steps: [{run: x}]", "'permission'"],
  ["workflow", 'on: push\njobs:\n  a:\n    runs-on: x\n    steps: [{run: "${{ nope() }}"}]', "nope"],
] as const)("the schema of a(n) %s rejects a mistake", (kind, text, word) => {
  expect(errorsOf(kind, text).join("\n")).toContain(word);
});
