import { describe, expect, it } from "vitest";
import { type Change, HostformError, type JsonObject, type Plan } from "../../../src/core/model/index.ts";
import type { Origin } from "../../../src/project/plan-origin.ts";
import { checkOrigin, differences } from "../../../src/project/plan-origin.ts";
import { Redaction } from "../../../src/project/redaction.ts";
import {
  decodeSavedPlan,
  encodeSavedPlan,
  type PlanRequest,
  provedPlan,
  type SavedPlan,
} from "../../../src/project/saved-plan.ts";
import fc, { character, runs } from "../../support/fc.ts";

import { keyOf, passphraseKey, quick, rawKey } from "../core/record/keys.ts";
import { change, drift, order, plan, reason, update } from "../report/builders.ts";

const origin: Origin = {
  lineage: "l",
  serial: 4,
  state: "s",
  project: "acme",
  declaration: [{ file: "hosting.yaml", digest: "d" }],
  accounts: { default: "https://api.example" },
  identities: {},
};
const request: PlanRequest = { mode: "apply", targets: [], reorder: [], replace: [], orderAnyway: [], guards: {} };
const saved = (of: Plan, over: Partial<SavedPlan> = {}): SavedPlan => ({ request, origin, plan: of, ...over });

const none = new Redaction();
const knowing = (...secrets: string[]) => {
  const redaction = new Redaction();
  redaction.learn("env.PW", secrets);
  return redaction;
};
const json = (value: unknown) => JSON.parse(JSON.stringify(value));

describe("the file of a saved plan", () => {
  const names = fc.oneof(fc.constantFrom("__proto__", "1", "constructor", "\u001b[2J", "\ud800"), fc.string());
  const values = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<JsonObject>;

  it("returns the same plan for any values", () => {
    fc.assert(
      fc.property(values, values, fc.string({ unit: character }), (before, after, text) => {
        const of = saved(plan([change({ address: text, actions: ["update"], before, after })], { project: text }));
        expect(decodeSavedPlan(encodeSavedPlan(of, none), "f").plan).toEqual(json(of.plan));
      }),
      { numRuns: runs(50) },
    );
  });

  it("gets the words of its kinds, which no file can replace", () => {
    const { words: _, ...earlier } = change();
    const forged = { ...change(), words: { noun: "present", plural: "presents", name: "id" } };
    for (const one of [earlier as Change, forged]) {
      const text = encodeSavedPlan(saved(plan([one])), none);
      expect(decodeSavedPlan(text, "f").plan.changes).toEqual([change()]);
    }
  });

  it("is plain text on a terminal", () => {
    const text = encodeSavedPlan(saved(plan([], { project: "\u001b[2J\u202e" })), none);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it("never holds a sensitive value: before, after, drifted, declared, deposed or pending", () => {
    const sides = { a: "SECRET-1", b: { c: ["SECRET-2"] }, d: "plain" };
    const pending = { since: "2026-11-21T10:00:00Z", operation: "createWebhook", body: { key: "SECRET-3" } };
    const of = plan(
      [
        update(sides, {
          before: sides,
          config: { a: "SECRET-1", d: "plain" },
          sensitive: ["a", "b"],
          private: { generation: 2, deposed: sides, pending },
        }),
      ],
      { drift: [drift(sides), drift(null, { address: "hosting_webhook.unknown", before: { secret: "SECRET-4" } })] },
    );
    const text = encodeSavedPlan(saved(of), none);
    expect(text).not.toContain("SECRET");
    expect(decodeSavedPlan(text, "f").plan.changes[0]).toMatchObject({
      before: { a: null, b: null, d: "plain" },
      config: { a: true, d: "plain" },
      private: { generation: 2 },
    });
  });

  it("marks known secrets in all other values and names", () => {
    const of = plan([change({ after: { reference: "token-4711", map: { "token-4711": 1 } }, actions: ["create"] })]);
    const text = encodeSavedPlan(saved(of), knowing("token-4711"));
    expect(text).not.toContain("token-4711");
    expect(decodeSavedPlan(text, "f").plan.changes[0]?.after).toEqual({
      reference: "(sensitive: env.PW)",
      map: { "(sensitive: env.PW)": 1 },
    });
  });

  it("is refused after any change of its content", () => {
    const text = encodeSavedPlan(saved(plan([order()])), none);
    const at = [...text.matchAll(/[a-z0-9]/g)].map(({ index }) => index);
    fc.assert(
      fc.property(fc.constantFrom(...at), (index) => {
        const other = `${text.slice(0, index)}${text[index] === "x" ? "y" : "x"}${text.slice(index + 1)}`;
        expect(() => decodeSavedPlan(other, "f")).toThrow(/is damaged|is not a plan|does not know/);
      }),
    );
  });

  it.each([
    ["an unknown guard", { guards: { allowEverything: true } }],
    ["another command", { command: "destroy" }],
    ["no targets", { targets: undefined }],
  ])("is refused with a right checksum and a wrong form: %s", (_, over) => {
    const forged = saved(plan([order()]), { request: { ...request, ...over } as unknown as PlanRequest });
    // The test forges the file: hostform itself never writes unknown fields.
    const { createHash } = process.getBuiltinModule("node:crypto");
    const body = json({ request: forged.request, origin, plan: forged.plan });
    const checksum = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    const text = JSON.stringify({ form: "hostform plan", version: 1, checksum, ...body });
    expect(() => decodeSavedPlan(text, "f")).toThrow("is damaged");
  });

  it("is damaged if it is nested more deeply than the stack allows", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const text = `{"form":"hostform plan","version":1,"checksum":"x","request":${deep}}`;
    expect(() => decodeSavedPlan(text, "f")).toThrow("f is damaged");
  });

  it("is damaged if it was cut off, even within the first number", () => {
    const text = encodeSavedPlan(saved(plan([order()])), none);
    for (const length of [30, 60, text.length - 10]) {
      expect(() => decodeSavedPlan(text.slice(0, length), "f")).toThrow("f is damaged: it was cut off, or edited");
    }
  });

  it.each([
    ["at the top", '"plan":', '"plan":{},"plan":'],
    ["in a change, before the signed value", '"address"', '"address":"hosting_service.other","address"'],
    ["with an escaped name", '"address"', '"\\u0061ddress":"hosting_service.other","address"'],
  ])("is refused with a key twice: %s", (_, key, twice) => {
    const text = encodeSavedPlan(saved(plan([order()])), none);
    expect(JSON.parse(text.replace(key, twice))).toEqual(JSON.parse(text));
    expect(() => decodeSavedPlan(text.replace(key, twice), "f")).toThrow("f was edited");
  });

  describe("with a key", () => {
    const of = saved(plan([order()]));
    const sealed = async () => encodeSavedPlan(of, none, await quick(rawKey).fresh());
    const { createHash } = process.getBuiltinModule("node:crypto");
    const digest = (body: object) => createHash("sha256").update(JSON.stringify(body)).digest("hex");

    it("is proved by the key, and returns the same plan", async () => {
      expect((await provedPlan(await sealed(), "f", quick(rawKey))).plan).toEqual(json(of.plan));
      const passphrase = encodeSavedPlan(of, none, await quick(passphraseKey).fresh());
      expect((await provedPlan(passphrase, "f", quick(passphraseKey))).request).toEqual(request);
      const changed = quick(keyOf(2), { old: async () => [rawKey] });
      expect((await provedPlan(await sealed(), "f", changed)).plan).toEqual(json(of.plan));
    });

    it("is refused without a proof, with another key, and without a key", async () => {
      const clear = encodeSavedPlan(of, none);
      expect(await provedPlan(clear, "f", quick(undefined))).toEqual(decodeSavedPlan(clear, "f"));
      await expect(provedPlan(clear, "f", quick(rawKey))).rejects.toThrow("f is not signed with the key of the state");
      await expect(provedPlan(clear, "f", quick(rawKey, { acceptsClear: true }))).rejects.toThrow("is not signed");
      for (const key of [undefined, passphraseKey, keyOf(2)])
        await expect(provedPlan(await sealed(), "f", quick(key))).rejects.toMatchObject({
          diagnostics: [{ code: "state.key" }],
        });
    });

    it("is refused with any changed byte, except for its layout", async () => {
      const text = await sealed();
      const intact = await provedPlan(text, "f", quick(rawKey));
      for (let index = 0; index < text.length; index++) {
        const other = `${text.slice(0, index)}${text[index] === "x" ? "y" : "x"}${text.slice(index + 1)}`;
        await expect(provedPlan(other, "f", quick(rawKey)), `byte ${index}`).rejects.toBeInstanceOf(HostformError);
        if (text[index] === " ") continue;
        const blank = `${text.slice(0, index)} ${text.slice(index + 1)}`;
        const read = await provedPlan(blank, "f", quick(rawKey)).catch((error: unknown) => {
          expect(error).toBeInstanceOf(HostformError);
        });
        if (read !== undefined) expect([text[index], read]).toEqual(["\n", intact]);
      }
    });

    it("is refused with other content and a right checksum", async () => {
      const { form, version, checksum: _, key, proof, ...body } = JSON.parse(await sealed());
      const forged = (over: object, head: object = { version, key, proof }) =>
        JSON.stringify({ form, ...head, checksum: digest({ ...body, ...over }), ...body, ...over });
      expect(await provedPlan(forged({}), "f", quick(rawKey))).toMatchObject({ origin });
      const table: [what: string, text: string][] = [
        ["another request", forged({ request: { ...request, guards: { maxOrders: 100 } } })],
        ["another origin", forged({ origin: { ...origin, serial: 5 } })],
        ["another plan", forged({ plan: { ...body.plan, changes: [] } })],
        ["a member more", forged({ more: 1 })],
        ["no proof", forged({}, { version, key })],
        ["the earlier version", forged({}, { version: 1, key, proof })],
        ["the earlier version, without a proof", forged({}, { version: 1 })],
        [
          "the proof of something else",
          forged({}, { version, key, proof: (await quick(rawKey).fresh()).seal("", "x") }),
        ],
      ];
      for (const [what, text] of table)
        await expect(provedPlan(text, "f", quick(rawKey)), what).rejects.toMatchObject({
          diagnostics: [{ code: "plan.saved" }],
        });
    });
  });

  it.each(["", "null", "[]", "1", '"x"', "{", '{"form":"hostform plan"}', '{"form":"hostform plan","version":1}'])(
    "is refused as %j",
    (text) => {
      expect(() => decodeSavedPlan(text, "f")).toThrow(/is not a plan|is damaged|does not know/);
    },
  );
});

describe("the origin of a saved plan", () => {
  const files = (...names: string[]) => names.map((name) => ({ file: name.slice(2), digest: name.slice(0, 1) }));
  const reported = (then: Origin["declaration"], now: Origin["declaration"]) => {
    try {
      checkOrigin({ ...origin, declaration: then }, { ...origin, declaration: now });
      return undefined;
    } catch (error) {
      return error instanceof HostformError ? error.diagnostics[0]?.detail : error;
    }
  };

  it.each([
    ["nothing", files("1 a", "2 b"), files("1 a", "2 b"), undefined],
    ["a changed file", files("1 a", "2 b"), files("1 a", "3 b"), "Changed: b."],
    ["each sort", files("1 a", "2 b"), files("3 a", "2 c"), "Changed: a. New: c. Removed: b."],
    ["the order", files("1 a", "2 b"), files("2 b", "1 a"), "Its files are read in another order."],
    [
      "no more than can be read",
      [],
      files(...[..."abcdefghijkl"].map((name) => `1 ${name}`)),
      "New: a, b, c, d, e, f, g, h, i, j and 2 more.",
    ],
  ])("names the different files: %s", (_, then, now, detail) => expect(reported(then, now)).toBe(detail));

  it("names another project", () => {
    expect(() => checkOrigin(origin, { ...origin, project: "beta" })).toThrow("created for another project");
  });
});

describe("a difference between a saved plan and a new one", () => {
  const scale = () => undefined;
  const base = update({ suspended: true }, { reasons: [reason("declared", "suspended", "suspended")] });
  const reported = (was: Change, is: Change | undefined) => differences(plan([was]), plan(is ? [is] : []), none, scale);

  it.each<[why: string, is: Change]>([
    ["a due date has moved on", { ...base, before: { ...base.before, next_due_date: "2028-01-01" } }],
    ["it is worded otherwise", { ...base, reasons: [reason("declared", "in other words", "suspended")] }],
    ["it takes another number of requests", { ...base, requests: 7 }],
    ["a secret is another one", { ...base, after: { ...base.after, password: "other" } }],
  ])("is ignored when %s", (_, is) => expect(reported(base, is)).toEqual([]));

  it.each<[what: string, is: Change]>([
    ["actions", { ...base, actions: ["delete", "create"] }],
    ["provider", { ...base, provider: "beta" }],
    ["object", { ...base, before: { ...base.before, id: "1002" } }],
    ["removal", { ...base, removal: "suspend" }],
    ["causes", { ...base, reasons: [reason("declared", "term", "term")] }],
    ["values", { ...base, after: { ...base.after, suspended: false } }],
    ["values", { ...base, before: { ...base.before, suspended: null } }],
    ["generation", { ...base, private: { generation: 2 } }],
  ])("%s", (what, is) => expect(reported(base, is).join()).toContain(what));

  it("names both prices", () => {
    const dearer = order({ quote: { currency: "USD", list: 2500, billed: 2500, most: 2500 } });
    expect(reported(order(), dearer)).toEqual([
      "hosting_service.acme: differs in price. The price was 1800 (USD, API's unit) and is 2500 (USD, API's unit).",
    ]);
    expect(differences(plan([order()]), plan([dearer]), none, () => 2)).toEqual([
      "hosting_service.acme: differs in price. The price was 18.00 USD and is 25.00 USD.",
    ]);
  });

  it("names changes that only one of them has", () => {
    const other = order({ address: "hosting_service.b" });
    expect(differences(plan([base]), plan([other]), none, scale)).toEqual([
      "hosting_service.acme: it no longer needs a change.",
      "hosting_service.b: the plan does not change it, and now it would be changed.",
    ]);
  });

  it("is none for a value that the file hides", () => {
    const of = order({ after: { reference: "token-4711" }, config: { reference: "x" } });
    const redaction = knowing("token-4711");
    const read = decodeSavedPlan(encodeSavedPlan(saved(plan([of])), redaction), "f");
    expect(differences(read.plan, plan([of]), redaction, scale)).toEqual([]);
  });
});
