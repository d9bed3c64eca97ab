/** `loadProject({ declaration, state, store })`: a project without files. */
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type {
  Diagnostic,
  LoadOptions,
  OwnState,
  Planned,
  Progress,
  StateLock,
  StateText,
} from "../../../src/project/library.ts";
import {
  type DeclarationValue,
  errorText,
  HostformError,
  loadProject,
  memoryStores,
  type OpenStore,
} from "../../../src/project/library.ts";
import type { SandboxOptions } from "../../../src/sandbox/index.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { watchPaths } from "../../support/watched-paths.ts";

const DECLARED = {
  project: "acme",
  defaults: { services: { currency: "USD", deletion_policy: "forget" } },
  services: { www: { plan_id: 11, domain: "www.acme.example", grants: { "dev@acme.example": "manage" } } },
  webhooks: { paid: { url: "https://hooks.example/in", events: ["invoice.paid"] } },
} as const satisfies DeclarationValue;

const SITE = {
  project: "acme",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } },
} as const satisfies DeclarationValue;

/** Creates a state in memory. */
function memoryState() {
  let text: string | undefined;
  let isHeld = false;
  const writes: string[] = [];
  const state: OwnState = {
    text: {
      name: "the database row acme",
      read: async () => text,
      write: async (next, verify) => {
        verify();
        writes.push(next);
        text = next;
      },
    },
    lock: {
      acquire: async () => {
        if (isHeld) throw new Error("the row is locked");
        isHeld = true;
        return {
          verify: () => undefined,
          release: () => {
            isHeld = false;
          },
        };
      },
      takeOver: async () => ({ holder: undefined, alive: undefined }),
    },
  };
  return { state, writes, text: () => text };
}

async function account(options: SandboxOptions = {}) {
  const { url, tokens, control, close } = await startSandbox(options);
  onTestFinished(close);
  const directory = temporaryFolder();
  const env = { HOSTING_TOKEN: tokens.agency, HOSTING_BASE_URL: url, HOME: directory, HOSTFORM_STATE_HOME: directory };
  const load = (more: LoadOptions) => loadProject({ directory, env, ...more });
  const ordered = () => control.list("services").filter(({ customer_id }) => customer_id === 1).length;
  return { directory, load, ordered };
}

const refused = (declaration: object) =>
  loadProject({ declaration: declaration as DeclarationValue, directory: "/nowhere", env: {} }).catch((error) => error);

describe("a declaration as a value", () => {
  it("is planned and applied without a file: no path of the folder or of the home folder is used", async () => {
    const { directory, load, ordered } = await account();
    const { state, writes, text } = memoryState();
    const [stores, opened] = [memoryStores(), new Set<string>()];
    const store: OpenStore = (of) => {
      opened.add(of.origin);
      return stores(of);
    };
    const watched = watchPaths();
    watched.begin();
    try {
      const project = await load({ declaration: DECLARED, state, store });
      expect(await project.apply(await project.plan())).toMatchObject({ complete: true });
      expect(await project.plan()).toMatchObject({ hasChanges: false, diagnostics: [] });
    } finally {
      watched.end();
    }
    expect(watched.changes()).toEqual([]);
    expect(watched.with(directory)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
    expect(ordered()).toBe(1);
    expect(text()).toContain("hosting_service");
    // The id of the order is written before the grant and the end of the run.
    expect(writes.length).toBeGreaterThan(3);
    expect(opened.size).toBe(1);
  });

  it("orders once if two projects of a program share stores in memory, also at a slow host", async () => {
    const { load, ordered } = await account({ processingMs: 100 });
    const store = memoryStores();
    const projects = ["a", "b"].map((project) =>
      load({ declaration: { ...SITE, project }, state: memoryState().state, store }),
    );
    const planned = await Promise.all(projects.map(async (project) => (await project).plan()));
    const applied = await Promise.all(
      projects.map(async (project, at) => (await project).apply(planned[at] as Planned).catch((error) => error)),
    );
    expect(ordered()).toBe(1);
    expect(applied.map(({ complete }) => complete === true).sort()).toEqual([false, true]);
  });

  it("rejects a store that another project has, because creates of one store run simultaneously", async () => {
    const { load } = await account();
    const one = memoryStores()({ account: "" });
    const plan = async () => (await load({ declaration: SITE, state: memoryState().state, store: () => one })).plan();
    await plan();
    await expect(plan()).rejects.toThrow("return a new one for each project");
  });

  it("throws the reason if the account no longer matches the plan, or no plan can be applied", async () => {
    const { load, ordered } = await account();
    const store = memoryStores();
    const of = (declaration: DeclarationValue) => load({ declaration, state: memoryState().state, store });
    const [first, second] = [await of(SITE), await of({ ...SITE, project: "other" })];
    const plans = [await first.plan(), await second.plan()] as const;
    expect(await first.apply(plans[0])).toMatchObject({ complete: true });
    await expect(second.apply(plans[1])).rejects.toMatchObject({ diagnostics: [{ code: "plan.exists" }] });
    const services = { www: { ...SITE.services.www, plan_id: 999, domain: "new.acme.example" } };
    const unfit = await of({ ...SITE, services });
    const plan = await unfit.plan();
    expect(plan).toMatchObject({ applicable: false, hasChanges: false });
    await expect(unfit.apply(plan)).rejects.toThrow("999");
    await expect(unfit.apply(plan, { partial: true })).rejects.toThrow("999");
    expect(ordered()).toBe(1);
  });

  it("gives the plan of the same declaration in YAML", async () => {
    const { directory, load } = await account();
    const { state } = memoryState();
    const byValue = await (await load({ declaration: DECLARED, state })).plan();
    writeFileSync(path.join(directory, "hosting.yaml"), JSON.stringify(DECLARED));
    const byFile = await (await load({})).plan();
    const comparable = ({ json }: typeof byFile) => ({
      ...json,
      timestamp: "",
      hostform: { ...json.hostform, requests: 0 },
    });
    expect(comparable(byValue)).toEqual(comparable(byFile));
  });

  it.each([
    [
      { project: "acme", services: { www: { plan_id: "x", currency: "USD", domain: "www.acme.example" } } },
      "services.www.plan_id",
    ],
    [{ project: "acme", services: { www: { plan_idd: 1 } } }, "services.www.plan_idd"],
    [
      { project: "acme", webhooks: { a: { url: "https://a.example/", events: ["invoice.paid", "none"] } } },
      "webhooks.a.events[1]",
    ],
    [
      {
        project: "acme",
        services: { www: { plan_id: 11, currency: "USD", domain: "a.example", grants: { "dev@a.example": "own" } } },
      },
      'services.www.grants["dev@a.example"]',
    ],
    [{ services: {} }, "in declaration"],
  ])("names the path of a mistake, and no line: %j", async (declaration, place) => {
    const error = await refused(declaration);
    expect(error).toBeInstanceOf(HostformError);
    const text = errorText(error);
    expect(text).toContain(place);
    expect(text).not.toMatch(/declaration:\d|\n +\d+ \|/);
  });

  const cycle: { services: object } = { services: {} };
  cycle.services = cycle;
  it.each<[object, string]>([
    [{ project: "acme", services: { www: { plan_id: () => 11 } } }, "services.www.plan_id"],
    [{ project: "acme", services: { www: { plan_id: 11n } } }, "services.www.plan_id"],
    [{ project: "acme", services: { www: { plan_id: Number.NaN } } }, "services.www.plan_id"],
    [{ project: "acme", services: { www: { domain: new Date() } } }, "services.www.domain"],
    [{ project: "acme", webhooks: { a: { events: [undefined] } } }, "webhooks.a.events[0]"],
    [{ project: "acme", services: new Map() }, "services"],
    [{ project: "acme", "my services": Number.NaN }, '["my services"]'],
    [cycle, "services"],
  ])("names the path of a value that is not JSON: %#", async (declaration, place) => {
    const error = await refused(declaration);
    expect(error.diagnostics).toMatchObject([
      { code: "config.invalid_value", summary: "This value is not JSON", range: { path: place } },
    ]);
    expect(errorText(error)).toContain(place);
  });

  it("omits attributes that are undefined", async () => {
    const { load } = await account();
    const { state } = memoryState();
    const declaration = { ...DECLARED, webhooks: undefined } as unknown as DeclarationValue;
    expect((await load({ declaration, state })).addresses).not.toContain("hosting_webhook.paid");
  });

  it("is part of a saved plan: after a change the plan is refused", async () => {
    const { load } = await account();
    const { state } = memoryState();
    const plan = await (await load({ declaration: DECLARED, state })).plan();
    const changed = await load({ declaration: { ...DECLARED, services: {} }, state });
    await expect(changed.apply(plan)).rejects.toThrow(/declaration has changed/);
    await expect(changed.adopt({ approve: () => true })).rejects.toThrow(/adopt writes files/);
  });

  it("cannot declare a backend beside a given state", async () => {
    const { load } = await account();
    const { state } = memoryState();
    const declaration = { ...DECLARED, backend: { pg: {} } } satisfies DeclarationValue;
    const plan = load({ declaration, state }).then((project) => project.plan());
    await expect(plan).rejects.toMatchObject({ diagnostics: [{ code: "usage" }] });
  });
});

describe("a state of a program", () => {
  it("is empty if `read` returns null, and is read by methods of a class with private fields", async () => {
    const { load, ordered } = await account();
    class Row implements StateText {
      readonly name = "row";
      #text: string | null = null;
      async read() {
        return this.#text as string;
      }
      async write(text: string, verify: () => void | Promise<void>) {
        await verify();
        this.#text = text;
      }
    }
    const state = { ...memoryState().state, text: new Row() };
    const project = await load({ declaration: DECLARED, state });
    expect(await project.apply(await project.plan())).toMatchObject({ complete: true });
    expect(await project.plan()).toMatchObject({ hasChanges: false });
    expect(ordered()).toBe(1);
  });

  it("that cannot be read is an error with its name", async () => {
    const { load } = await account();
    const { state } = memoryState();
    const read = async () => Promise.reject(new Error("no database"));
    const project = await load({ declaration: DECLARED, state: { ...state, text: { ...state.text, read } } });
    const error = await project.plan().catch((caught: { diagnostics: Diagnostic[] }) => caught);
    if (!(error instanceof HostformError)) throw error;
    expect(error.diagnostics).toMatchObject([{ code: "state.backend", detail: "the database row acme: no database." }]);
  });

  it("keeps the outcome of an apply if its lock cannot be released, and warns", async () => {
    const { load, ordered } = await account();
    const { state, text } = memoryState();
    const release = () => {
      throw new Error("connection lost");
    };
    const lock: StateLock = { ...state.lock, acquire: async () => ({ verify: () => undefined, release }) };
    const project = await load({ declaration: DECLARED, state: { ...state, lock } });
    const progress: Progress[] = [];
    const onProgress = (one: Progress) => progress.push(one);
    expect(await project.apply(await project.plan(), { onProgress })).toMatchObject({ complete: true });
    const warning = { code: "state.backend", detail: "the database row acme: connection lost." };
    expect(progress).toContainEqual({ type: "diagnostic", diagnostic: expect.objectContaining(warning) });
    expect(ordered()).toBe(1);
    expect(text()).toContain("hosting_service");
  });
});
