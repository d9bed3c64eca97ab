/** `loadProject({ declaration, state, store })`: a project without files. */
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type {
  Diagnostic,
  LoadOptions,
  OwnState,
  Progress,
  StateLock,
  StateText,
} from "../../../src/project/library.ts";
import {
  type DeclarationValue,
  errorText,
  HostformError,
  loadProject,
  MemoryStore,
} from "../../../src/project/library.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { watchPaths } from "../../support/watched-paths.ts";

const DECLARED = {
  project: "acme",
  defaults: { services: { currency: "USD", deletion_policy: "forget" } },
  services: { www: { plan_id: 11, domain: "www.acme.example", grants: { "dev@acme.example": "manage" } } },
  webhooks: { paid: { url: "https://hooks.example/in", events: ["invoice.paid"] } },
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

async function account() {
  const { url, tokens, control } = await startSandbox();
  const directory = mkdtempSync(path.join(tmpdir(), "hostform-value-"));
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
    const stores = new Map<string, MemoryStore>();
    const opened: string[] = [];
    const store = ({ account, origin }: { account: string; origin: string }) => {
      opened.push(origin);
      const known = stores.get(account) ?? new MemoryStore({ account });
      stores.set(account, known);
      return known;
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
    expect(new Set(opened).size).toBe(1);
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
