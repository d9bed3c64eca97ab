import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import * as cliParts from "../../../src/cli/parts.ts";
import { UNKNOWN, type ValueObject } from "../../../src/core/model/index.ts";
import type { RemoteState } from "../../../src/fronts/stacks/index.ts";
import { readSiblings } from "../../../src/project/stacks/read.ts";
import type { ActiveStack, LoadedStack, Purpose } from "../../../src/project/stacks/stack.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { HttpBackend } from "../../support/http-backend.ts";
import { fakeIo } from "../../support/io.ts";
import { openedOn } from "../../support/opened.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

const stateText = (outputs: Record<string, unknown>) =>
  JSON.stringify({
    version: 4,
    terraform_version: "1.11.4",
    serial: 3,
    lineage: "b9a7d0c2-4a36-4d2f-8f4c-0d4a5cf2a8b1",
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { value, type: "string" }])),
    resources: [],
    check_results: null,
  });

const loaded = (name: string, settings: Record<string, string>, type = "local"): LoadedStack => ({
  name,
  constructPath: name,
  folder,
  dependencies: [],
  annotations: [],
  files: [],
  outline: { backend: { type, settings }, variables: new Map(), outputs: ["id", "domain"] },
});

interface Case {
  readonly purpose?: Purpose;
  readonly planned?: ValueObject;
  readonly all?: readonly LoadedStack[];
}

async function siblings(state: Partial<RemoteState>, { purpose = "apply", planned, all }: Case = {}) {
  const stack: ActiveStack = {
    ...loaded("team", { path: "team.tfstate" }),
    given: [],
    diagnostics: [],
    run: {
      project: "/nowhere",
      purpose,
      source: folder,
      all: all ?? [loaded("sites", { path: "sites.tfstate" })],
      selected: 1,
      options: [],
      planned: new Map(planned === undefined ? [] : [["sites", { values: planned, types: {} }]]),
    },
  };
  const { project } = openedOn(cliParts, fakeIo({ cwd: folder }));
  const range = { file: "cdk.tf.json", line: 1, column: 1, endLine: 1, endColumn: 1 };
  const asked = {
    name: "sites",
    range,
    backend: "local",
    config: { path: path.join(folder, "sites.tfstate") },
    ...state,
  };
  const { outputs, diagnostics } = await readSiblings(project.source, stack, [asked], (backend) =>
    project.state.outputsAt(backend),
  );
  return { outputs: outputs.get("sites"), said: diagnostics.map(({ code, summary }) => `${code}: ${summary}`) };
}

const record = (text = stateText({ id: "1001" })) => writeFileSync(path.join(folder, "sites.tfstate"), text);

describe("the outputs of another stack", () => {
  it("are read at a backend, without a lock", async () => {
    const backend = await HttpBackend.start();
    try {
      backend.state = stateText({ id: "1002" });
      const state = { backend: "http", config: backend.settings, workspace: "${terraform.workspace}" };
      expect(await siblings(state)).toEqual({ outputs: { id: "1002" }, said: [] });
      expect(backend.sent()).toEqual(["GET /state"]);
    } finally {
      await backend.close();
    }
  });

  it("have defaults for unrecorded outputs of a present state", async () => {
    const defaults = { id: "0", more: "y" };
    record();
    expect((await siblings({ defaults })).outputs).toEqual({ id: "1001", more: "y" });
  });

  it("have no defaults without a state, because their dependents would be removed", async () => {
    const defaults = { id: "0", more: "y" };
    for (const all of [undefined, []]) {
      const { outputs, said } = await siblings({ defaults }, { ...(all && { all }) });
      expect(outputs).toBe(UNKNOWN);
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(/^stack\.remote_state: /);
    }
    expect(await siblings({ defaults }, { purpose: "other" })).toEqual({ outputs: defaults, said: [] });
  });

  it("are unknown in a validation and in a removal", async () => {
    const unknown = { id: UNKNOWN, domain: UNKNOWN };
    for (const purpose of ["validate", "destroy"] as const) {
      expect(await siblings({}, { purpose })).toEqual({ outputs: unknown, said: [] });
      expect(await siblings({}, { purpose, all: [] })).toEqual({ outputs: UNKNOWN, said: [] });
    }
    expect(await siblings({}, { purpose: "other" })).toEqual({ outputs: UNKNOWN, said: [] });
  });

  it.each<[string, Partial<RemoteState>, string]>([
    ["another backend", { backend: "gcs" }, 'cannot read a state in the backend "gcs"'],
    ["another workspace", { workspace: "prod" }, "reads only the workspace `default`"],
    ["an expression", { config: { path: "${var.path}" } }, "is an expression"],
    [
      "a password",
      { backend: "http", config: { password: "hidden-password" } },
      'does not support the setting "password"',
    ],
    ["a list", { config: { path: ["x"] } }, "path is not a string"],
    ["a secret key", { backend: "s3", config: { secret_key: "hidden-password" } }, 'the setting "secret_key"'],
    ["no key", { backend: "s3", config: { bucket: "states", region: "eu" } }, "The backend s3 lacks settings"],
    ["no address", { backend: "http", config: {} }, "no address"],
  ])("are refused with %s", async (_, state, words) => {
    const { said } = await siblings(state);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(words);
    expect(said[0]).not.toContain("hidden-password");
  });

  it("are refused when the state is damaged", async () => {
    record("{");
    expect((await siblings({})).said).toHaveLength(1);
  });
});
