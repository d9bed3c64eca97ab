import { describe, expect, it } from "vitest";
import type { Intent, JsonObject, PrivateMark } from "../../../../src/model/index.ts";
import type { Note } from "../../../../src/terraform/contract.ts";
import type { Mark } from "../../../../src/terraform/resource/mark.ts";
import { isRecorded, noteOf, onceTold, withNoted } from "../../../../src/terraform/resource/noted.ts";
import { terraformKind } from "../../../../src/terraform/resource/subject.ts";
import { recorded } from "../../../support/subjects.ts";
import { asHeld, surroundings } from "./front.ts";

const service = terraformKind("hosting_service");
const webhook = terraformKind("hosting_webhook");
const PENDING: Intent = { since: "2026-11-21T09:00:00Z", operation: "createService" };

const noteAbout = (type: string, attributes: JsonObject, over: Partial<Note> = {}): Note => ({
  ...recorded(`${type}.x`, attributes),
  ...over,
});

describe("a note of the journal", () => {
  interface Case {
    readonly why: string;
    readonly note: Partial<Note>;
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
      why: "of an ordered end that settled nothing: some state has it in doubt",
      note: { answered: true },
      mark: { pending: PENDING },
      is: "plan.pending",
    },
  ];

  it.each(cases)("$why: $is", ({ note, mark = {}, is }) => {
    const { kind, front, journal } = surroundings("hosting_service");
    const written = noteAbout(kind.type, { id: mark.pending ? null : "1001" }, { ...note, private: mark });
    journal.put(kind.type, "www", written);
    const { note: used, elsewhere } = noteOf(kind, "www", front);
    if (is === "used") expect({ used, elsewhere }).toEqual({ used: written, elsewhere: undefined });
    else
      expect({ used, code: elsewhere?.code, severity: elsewhere?.severity }).toEqual({ code: is, severity: "error" });
  });

  it("is looked for by type and name; what has no name has none", () => {
    const { kind, front, journal } = surroundings("hosting_service");
    journal.put("hosting_webhook", "www", noteAbout("hosting_webhook", { id: "1" }));
    expect(noteOf(kind, "www", front)).toEqual({});
    expect(noteOf(kind, undefined, front)).toEqual({});
  });

  it("of another place names the id in the way that an import takes it", () => {
    const { kind, front, journal } = surroundings("hosting_grant");
    journal.put(
      kind.type,
      "7 a@b.example",
      noteAbout(kind.type, { id: "301", service_id: "7" }, { place: "elsewhere" }),
    );
    expect(noteOf(kind, "7 a@b.example", front).elsewhere?.object).toBe("7/301");
  });
});

describe("what only one answer tells", () => {
  it("is the secret of a webhook, a generated password and how far passwords have come, never an id", () => {
    expect(Object.keys(onceTold(webhook, {})).sort()).toEqual(["secret", "secret_fingerprint"]);
    const names = Object.keys(onceTold(service, {}));
    expect(names).toEqual(expect.arrayContaining(["generated_password", "password_version"]));
    expect(names).not.toContain("id");
    expect(names).not.toContain("plan_id");
    expect(names).not.toContain("coupon_code");
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
    ["of something in doubt keeps its own", { id: null }, null],
  ])("a state %s", (_, state, password) => {
    expect(withNoted(service, asHeld(service, state), noted).generated_password).toBe(password);
  });

  it("of a note takes nothing away", () => {
    const silent = noteAbout("hosting_webhook", { id: "201", secret: null }, { base: { secret: "kept" } });
    const state = asHeld(webhook, { id: "201", secret: "kept" });
    expect(withNoted(webhook, state, silent)).toEqual(state);
    expect(withNoted(webhook, state, undefined)).toBe(state);
  });
});

describe("a note has done its work when Terraform's state", () => {
  const made = (id: string) => noteAbout("hosting_webhook", { id, secret: "s" });
  const begun = (known: readonly string[] = []) =>
    noteAbout("hosting_webhook", { id: null }, { private: { pending: { ...PENDING, known } } });

  it.each<[string, JsonObject, Mark, Note, boolean]>([
    ["holds the object with its secret", { id: "1", secret: "s" }, {}, made("1"), true],
    ["holds it with another secret, of later", { id: "1", secret: "t" }, {}, made("1"), true],
    ["holds it without the secret: not yet", { id: "1", secret: null }, {}, made("1"), false],
    ["holds another object, which this one is to replace: not yet", { id: "2", secret: "s" }, {}, made("1"), false],
    ["holds the same request", { id: null }, { pending: PENDING }, begun(), true],
    [
      "holds an earlier request: not yet",
      { id: null },
      { pending: { ...PENDING, since: "2026-11-20T09:00:00Z" } },
      begun(),
      false,
    ],
    ["holds what came of the request", { id: "1" }, {}, begun(), true],
    ["holds what was there before the request: not yet", { id: "1" }, {}, begun(["1"]), false],
  ])("%s", (_, state, mark, note, done) => {
    expect(isRecorded(webhook, asHeld(webhook, state), mark, note)).toBe(done);
  });
});
