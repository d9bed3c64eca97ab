import { describe, expect, it } from "vitest";
import { type AccountStore, MemoryStore, MemoryTables } from "../../../../src/core/local/index.ts";
import { type Diagnostic, errorOf, HostformError } from "../../../../src/core/model/index.ts";
import { Entries, type Entry } from "../../../../src/fronts/terraform/entries.ts";
import { recorded } from "../../../support/subjects.ts";

const TYPE = "hosting_webhook";
const SECRET = "whsec_canary_5Kd0";
const entry = (id: string | null, more: Partial<Entry> = {}): Entry => ({ ...recorded(`${TYPE}.a`, { id }), ...more });
const idOf = (found: Entry | undefined) => found?.attributes.id;

function open(store: AccountStore = new MemoryStore(), project: string | undefined = "acme") {
  const warnings: Diagnostic[] = [];
  const entries = new Entries({ store, project, onWarning: (warning) => warnings.push(warning) });
  const ids = async () => Object.fromEntries([...(await entries.all(TYPE))].map(([name, one]) => [name, idOf(one)]));
  return Object.assign(entries, { warnings, ids });
}

/** Opens the entries of one process after the other on one machine. */
function machine() {
  const tables = new MemoryTables();
  return (project?: string, account?: string) =>
    open(new MemoryStore({ tables, ...(account !== undefined && { account }) }), project);
}

/** A store that refuses some of its methods while the list names them. */
function refusing(methods: ("note" | "notes" | "forget")[]) {
  const store = new MemoryStore();
  const refuse = async (): Promise<never> => {
    const detail = "/home/ada/x.store: read-only.";
    throw new HostformError([
      errorOf("store.unwritable", "The store cannot be used", { detail, remedies: ["Fix it."] }),
    ]);
  };
  const call = (name: "note" | "notes" | "forget") =>
    ((...args: never[]) =>
      methods.includes(name)
        ? refuse()
        : (MemoryStore.prototype[name] as typeof refuse).apply(store, args as never)) as never;
  return Object.assign(store, { note: call("note"), notes: call("notes"), forget: call("forget") });
}

describe("an entry", () => {
  it("of a plan has its secrets encrypted, and transfers nothing for another token", async () => {
    const store = new MemoryStore();
    const of = (token: string) => new Entries({ store, token, project: "acme", onWarning: () => undefined });
    const passes = { plan: { owner: "p", noted: 1, is: true, isShown: true } };
    const object = { ...recorded(`${TYPE}.a`, { id: "7", secret: SECRET }), sensitive: ["secret"], passes };
    await of("one").put(`${TYPE} passed`, "7", object);
    const [note] = await store.notes(JSON.stringify(["entries", store.account, "acme", `${TYPE} passed`]));
    expect(JSON.stringify(note)).not.toContain(SECRET);
    expect(await of("one").get(`${TYPE} passed`, "7")).toEqual(object);
    const closed = await of("two").get(`${TYPE} passed`, "7");
    expect(closed).toMatchObject({ attributes: { id: "7", secret: null } });
    expect(closed?.passes).toBeUndefined();
  });

  it("is found by the next process as it was written", async () => {
    const process = machine();
    const written = entry("201", { place: "here", owner: "me", base: { secret: SECRET } });
    await process().put(TYPE, "a", written);
    expect(await process().get(TYPE, "a")).toStrictEqual(written);
    expect(await process().get(TYPE, "b")).toBeUndefined();
    expect(await process().get("hosting_grant", "a")).toBeUndefined();
  });

  it.each([
    ["another project", "other", undefined],
    ["no project", "", undefined],
    ["another account", "acme", "another"],
  ])("is hidden from %s", async (_, project, account) => {
    const process = machine();
    await process().put(TYPE, "a", entry("201"));
    const other = process(project, account);
    expect(await other.ids()).toEqual({});
    await other.remove(TYPE, "a");
    expect(await other.insert(TYPE, "a", entry("301"))).toBeUndefined();
    expect(await process().ids()).toEqual({ a: "201" });
  });

  it("is replaced when it is written again, and gone for all when it is removed", async () => {
    const process = machine();
    const [one, other] = [process(), process()];
    await one.put(TYPE, "a", entry(null));
    await one.put(TYPE, "a", entry("201"));
    expect(await other.ids()).toEqual({ a: "201" });
    await other.remove(TYPE, "a");
    expect(await one.get(TYPE, "a")).toBeUndefined();
  });

  it("is removed for an id only if it is that of its object", async () => {
    const entries = open();
    await entries.put(TYPE, "a", entry("201"));
    await entries.remove(TYPE, "a", "202");
    expect(await entries.ids()).toEqual({ a: "201" });
    await entries.remove(TYPE, "a", "201");
    expect(await entries.ids()).toEqual({});
  });

  it("is inserted by one of two processes, and the other gets it", async () => {
    const process = machine();
    const [one, other] = [process(), process()];
    const answers = await Promise.all([one.insert(TYPE, "a", entry("1")), other.insert(TYPE, "a", entry("2"))]);
    expect(answers.map(idOf).sort()).toEqual(["1", undefined]);
    expect(await other.ids()).toEqual({ a: "1" });
  });
});

describe("the mark of answered entries", () => {
  const marks = async (entries: Entries) =>
    Object.fromEntries([...(await entries.all(TYPE))].map(([name, one]) => [name, one.answered === true]));

  it("is set on the entries of this process alone", async () => {
    const process = machine();
    await process().put(TYPE, "earlier", entry("0"));
    const own = process();
    await own.put(TYPE, "written", entry("1"));
    await own.insert(TYPE, "inserted", entry("2"));
    await own.insert(TYPE, "earlier", entry("9"));
    await own.put(TYPE, "removed", entry("3"));
    await own.remove(TYPE, "removed");
    await process().put(TYPE, "by another", entry("4"));
    await own.answered();
    expect(await marks(own)).toEqual({ earlier: false, inserted: true, written: true, "by another": false });
    expect(idOf(await own.get(TYPE, "written"))).toBe("1");
  });

  it("is set once for each time that an entry is written", async () => {
    const process = machine();
    const own = process();
    await own.put(TYPE, "a", entry("1"));
    await own.answered();
    await process().put(TYPE, "a", entry("2"));
    await own.answered();
    expect(await marks(own)).toEqual({ a: false });
  });

  it("brings back no entry that another process has removed", async () => {
    const process = machine();
    const own = process();
    await own.put(TYPE, "a", entry("1"));
    await process().remove(TYPE, "a");
    await own.answered();
    expect(await own.ids()).toEqual({});
  });

  it("needs no store and no project if this process wrote nothing", async () => {
    const entries = new Entries({
      store: refusing(["note"]),
      get project(): string {
        throw new Error("is not known yet");
      },
      onWarning: ({ summary }) => expect.unreachable(summary),
    });
    await entries.answered();
  });
});

describe("without a usable store", () => {
  it("this process keeps its entries in memory, with one warning that holds no value", async () => {
    const entries = open(refusing(["note"]));
    await entries.put(TYPE, "a", entry("1", { base: { secret: SECRET } }));
    expect(await entries.insert(TYPE, "b", entry("2"))).toBeUndefined();
    expect(idOf(await entries.insert(TYPE, "b", entry("3")))).toBe("2");
    expect(await entries.ids()).toEqual({ a: "1", b: "2" });
    await entries.remove(TYPE, "a");
    expect(await entries.ids()).toEqual({ b: "2" });
    expect(entries.warnings).toMatchObject([
      {
        severity: "warning",
        code: "provider.journal",
        detail: expect.stringMatching(
          /^The store cannot be used\. \/home\/ada\/x\.store: read-only\. If Terraform is killed/,
        ),
        remedies: ["Fix it."],
      },
    ]);
    expect(JSON.stringify(entries.warnings)).not.toContain(SECRET);
  });

  it("the entries of earlier processes are still found if the store can be read", async () => {
    const refused: ("note" | "notes" | "forget")[] = [];
    const store = refusing(refused);
    await open(store).put(TYPE, "earlier", entry("1"));
    refused.push("note", "forget");
    const entries = open(store);
    await entries.put(TYPE, "own", entry("2"));
    await entries.put(TYPE, "earlier", entry("3"));
    expect(await entries.ids()).toEqual({ earlier: "3", own: "2" });
  });

  it("an unreadable store counts as empty, with one warning", async () => {
    const entries = open(refusing(["notes", "forget"]));
    expect(await entries.get(TYPE, "a")).toBeUndefined();
    expect(await entries.ids()).toEqual({});
    await entries.remove(TYPE, "a");
    expect(entries.warnings.map(({ summary }) => summary)).toEqual([
      "The Terraform provider cannot read its entries in the store",
    ]);
  });

  it("an entry that the store takes later replaces the one in memory", async () => {
    const refused: ("note" | "notes" | "forget")[] = ["note"];
    const store = refusing(refused);
    const entries = open(store);
    await entries.put(TYPE, "a", entry("1"));
    refused.pop();
    await entries.put(TYPE, "a", entry("2"));
    await open(store).put(TYPE, "a", entry("3"));
    expect(await entries.ids()).toEqual({ a: "3" });
  });
});

describe("an entry that must be durable", () => {
  it("is refused by a store that cannot be written, and an answer is kept in memory", async () => {
    const entries = open(refusing(["note"]));
    await expect(entries.insert(TYPE, "a", entry(null), { isDurable: true })).rejects.toMatchObject({
      diagnostics: [{ code: "store.unwritable" }],
    });
    await entries.put(TYPE, "b", entry("201"));
    expect(await entries.ids()).toEqual({ b: "201" });
    expect(await entries.refusals()).toMatchObject([{ code: "store.unwritable" }]);
  });

  it("is kept in memory if the user accepts that a kill may lose it", async () => {
    const onWarning = () => undefined;
    const entries = new Entries({ store: refusing(["note"]), project: "acme", mayForget: true, onWarning });
    await entries.put(TYPE, "a", entry(null), { isDurable: true });
    expect([...(await entries.all(TYPE)).keys()]).toEqual(["a"]);
    expect(await entries.refusals()).toEqual([]);
  });
});
