import { describe, expect, it } from "vitest";
import type { Kind } from "../../../../../src/core/kinds/kind.ts";
import type { Intent, JsonObject, Phase, PrivateMark } from "../../../../../src/core/model/index.ts";
import type { Entry } from "../../../../../src/fronts/terraform/entries.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import {
  activeEntry,
  isRecorded,
  mergeEntry,
  shownOnce,
} from "../../../../../src/fronts/terraform/resource/entry-lookup.ts";
import { START } from "../../../../support/clock.ts";
import { liveService, recorded, remote } from "../../../../support/subjects.ts";
import { asHeld, fakeScope } from "./fake-scope.ts";

const service = terraformKind("hosting_service");
const webhook = terraformKind("hosting_webhook");
const PENDING: Intent = { since: "2026-11-21T09:00:00Z", operation: "createService" };

const noteAbout = (type: string, attributes: JsonObject, over: Partial<Entry> = {}): Entry => ({
  ...recorded(`${type}.x`, attributes),
  ...over,
});

describe("an entry", () => {
  interface Case {
    readonly why: string;
    readonly note: Partial<Entry>;
    readonly mark?: PrivateMark;
    /** `used`, or the code of the refusal. */
    readonly is: string;
  }
  const cases: readonly Case[] = [
    {
      why: "of this place, whose process has ended",
      note: { place: "this folder", owner: "a dead process" },
      is: "used",
    },
    { why: "of this very process", note: { place: "this folder", owner: "this process" }, is: "used" },
    { why: "of a version that noted neither", note: {}, is: "used" },
    { why: "of a process that is still at it", note: { owner: "a living process" }, is: "config.duplicate" },
    { why: "of another place", note: { place: "elsewhere" }, is: "plan.exists" },
    {
      why: "of another place, even while its process lives",
      note: { place: "elsewhere", owner: "a living process" },
      is: "plan.exists",
    },
    {
      why: "of another place, not settled",
      note: { place: "elsewhere" },
      mark: { pending: PENDING },
      is: "plan.pending",
    },
    { why: "of an apply that came to its ordered end: some state has it", note: { answered: true }, is: "plan.exists" },
    {
      why: "of an ordered end that settled nothing: the create leg settles it",
      note: { answered: true },
      mark: { pending: PENDING },
      is: "used",
    },
  ];

  it.each(cases)("$why: $is", async ({ note, mark = {}, is }) => {
    const { kind, front, entries } = fakeScope("hosting_service", { objects: [remote(liveService)] });
    const written = noteAbout(kind.type, { id: mark.pending ? null : "1001" }, { ...note, private: mark });
    await entries.put(kind.type, "www", written);
    const { entry: used, elsewhere } = await activeEntry(kind, "www", front);
    if (is === "used") expect({ used, elsewhere }).toEqual({ used: written, elsewhere: undefined });
    else
      expect({ used, code: elsewhere?.code, severity: elsewhere?.severity }).toEqual({ code: is, severity: "error" });
  });

  it("of another place names the id in the way that an import takes it", async () => {
    const { kind, front, entries } = fakeScope("hosting_grant", { objects: [remote({ id: "301" })] });
    await entries.put(
      kind.type,
      "7 a@b.example",
      noteAbout(kind.type, { id: "301", service_id: "7" }, { place: "elsewhere" }),
    );
    expect((await activeEntry(kind, "7 a@b.example", front)).elsewhere?.object).toBe("7/301");
  });
});

describe("an entry of another state", () => {
  const young = { created: new Date(START - 1_000).toISOString() };
  const pending = { pending: PENDING };

  it.each<[string, { type?: string; id?: string | null; note?: Partial<Entry>; phase?: Phase | null }, boolean]>([
    ["whose object is there stays", { phase: "live" }, true],
    ["whose object has ended is removed", { phase: "gone" }, false],
    ["whose object is not listed any more is removed", { phase: null }, false],
    ["whose object is not listed yet stays", { phase: null, note: { private: young } }, true],
    ["whose object was made a moment ago and has ended is removed", { phase: "gone", note: { private: young } }, false],
    ["whose object no API can read stays", { type: "hosting_domain", phase: null }, true],
    ["that is not settled stays", { id: null, phase: null, note: { private: pending } }, true],
  ])("%s", async (_, { type = "hosting_service", id = "1001", note = {}, phase = "live" }, stays) => {
    const objects = phase === null ? [] : [remote({ ...liveService }, phase)];
    const { kind, front, entries } = fakeScope(type, { objects });
    await entries.put(type, "www", noteAbout(type, { id }, { place: "elsewhere", ...note }));
    const { entry: used, elsewhere } = await activeEntry(kind, "www", front);
    expect({ used, refused: elsewhere !== undefined }).toEqual({ used: undefined, refused: stays });
    expect((await entries.get(type, "www")) !== undefined).toBe(stays);
  });

  it("is another thing than a note of this one, or of one that is still at it: those stay, whatever the account shows", async () => {
    const { kind, front, entries } = fakeScope("hosting_service");
    for (const owner of ["a dead process", "a living process"]) {
      const note = noteAbout(kind.type, { id: "1001" }, { place: "this folder", owner });
      await entries.put(kind.type, "www", note);
      await activeEntry(kind, "www", front);
      expect(await entries.get(kind.type, "www"), owner).toBe(note);
    }
  });

  it.each(["get", "list"] as const)("has ended also where the API can only %s", async (how) => {
    const { kind, front, entries } = fakeScope("hosting_migration_request");
    const { get, list, ...rest } = kind;
    const only = { ...rest, ...(how === "get" ? { get } : { list }) } as Kind;
    await entries.put(kind.type, "www", noteAbout(kind.type, { id: "7" }, { place: "elsewhere" }));
    expect(await activeEntry(only, "www", front)).toEqual({});
  });
});

describe("what only one answer contains", () => {
  it("is the secret of a webhook, a generated password and how far passwords have come, never an id", () => {
    expect(Object.keys(shownOnce(webhook, {})).sort()).toEqual(["secret", "secret_fingerprint"]);
    expect(Object.keys(shownOnce(service, {})).sort()).toEqual([
      "generated_password",
      "generated_password_fingerprint",
      "invoice_id",
      "invoice_number",
      "invoice_total",
      "password_version",
    ]);
  });

  const before = { generated_password: null, password_version: null };
  const noted = noteAbout(
    "hosting_service",
    { id: "1001", generated_password: "new", password_version: 1 },
    { base: before },
  );

  it.each([
    ["that is as it was before the change gets it", { id: "1001" }, "new"],
    ["that has gone on since keeps its own", { id: "1001", generated_password: "newer", password_version: 2 }, "newer"],
    ["that has it already keeps it", { id: "1001", generated_password: "new", password_version: 1 }, "new"],
    ["of another object keeps its own", { id: "1002" }, null],
    ["of a pending create keeps its own", { id: null }, null],
  ])("a state %s", (_, state, password) => {
    const held = asHeld(service, { domain: "www.acme.example", ...state });
    const found = mergeEntry(service, held, noted);
    expect(found.generated_password).toBe(password);
    expect(found.domain, "what is recorded of everything else stays").toBe("www.acme.example");
  });

  it("that was changed since replaces the one that was recorded before the change", () => {
    const rotated = noteAbout("hosting_webhook", { id: "201", secret: "second" }, { base: { secret: "first" } });
    const held = (secret: string | null) => asHeld(webhook, { id: "201", secret });
    expect(mergeEntry(webhook, held("first"), rotated).secret).toBe("second");
    expect(mergeEntry(webhook, held("third"), rotated).secret).toBe("third");
    expect(mergeEntry(webhook, held(null), rotated).secret).toBeNull();
  });

  it("is not given to a pending create by an entry that is pending as well", () => {
    const open = noteAbout("hosting_service", { id: null, password_version: 1 });
    expect(mergeEntry(service, asHeld(service, { id: null }), open).password_version).toBeNull();
  });

  it("of a note takes nothing away", () => {
    const silent = noteAbout("hosting_webhook", { id: "201", secret: null }, { base: { secret: "kept" } });
    const state = asHeld(webhook, { id: "201", secret: "kept" });
    expect(mergeEntry(webhook, state, silent)).toEqual(state);
    expect(mergeEntry(webhook, state, undefined)).toBe(state);
  });
});

describe("a note has done its work when Terraform's state", () => {
  const made = (id: string) => noteAbout("hosting_webhook", { id, secret: "s" });
  const begun = (known: readonly string[] = []) =>
    noteAbout("hosting_webhook", { id: null }, { private: { pending: { ...PENDING, known } } });

  it.each<[string, JsonObject, Entry, boolean]>([
    ["holds the object with its secret", { id: "1", secret: "s" }, made("1"), true],
    ["holds it with another secret, of later", { id: "1", secret: "t" }, made("1"), true],
    ["holds it without the secret: not yet", { id: "1", secret: null }, made("1"), false],
    ["holds another object, which this one is to replace: not yet", { id: "2", secret: "s" }, made("1"), false],
    ["holds the same request: not yet, because the create leg finds it in the store", { id: null }, begun(), false],
    ["holds what came of the request", { id: "1" }, begun(), true],
    ["holds what was there before the request: not yet", { id: "1" }, begun(["1"]), false],
  ])("%s", (_, state, note, done) => {
    expect(isRecorded(webhook, asHeld(webhook, state), note)).toBe(done);
  });
});
