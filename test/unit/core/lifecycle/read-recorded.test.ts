// Observation of a resource for each way to identify it, and the messages about wrong values.
import { describe, expect, it } from "vitest";
import type { Remote } from "../../../../src/core/kinds/kind.ts";
import { notSent, wasRefused } from "../../../../src/core/lifecycle/context.ts";
import { type Observation, parentOf, read, validate } from "../../../../src/core/lifecycle/index.ts";
import { intentOf, mutationOf, refusedAgain, usesUpKey } from "../../../../src/core/lifecycle/intents.ts";
import { likeness, sameInUse } from "../../../../src/core/lifecycle/read.ts";
import { mayPass, notLiveYet, signOnRefused } from "../../../../src/core/lifecycle/status.ts";
import {
  ApiError,
  type Change,
  HostformError,
  type JsonObject,
  type PrivateMark,
  type ValueObject,
} from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { fixOf, saying } from "../../../support/remedies.ts";
import {
  failure,
  fakeAccount,
  kindOf,
  liveService,
  liveWebhook,
  notFound,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const at = (ms: number) => new Date(START + ms).toISOString();

interface Reading {
  readonly objects?: readonly Remote[];
  readonly prior?: JsonObject;
  readonly mark?: PrivateMark;
  readonly importId?: string;
  readonly config?: ValueObject;
  readonly alone?: boolean;
  readonly plans?: readonly object[];
}

async function observe(type: string, { objects = [], prior, mark = {}, importId, config, alone, plans = [] }: Reading) {
  const fake = fakeAccount(kindOf(type), ...objects);
  fake.now = () => START;
  fake.plans = plans as never;
  const found = await read(fake.account, {
    kind: fake.kind,
    prior: prior && recorded(`${type}.a`, prior, { private: mark }),
    config,
    ...(importId !== undefined && { importId }),
    ...(alone && { alone }),
  }).catch((error: unknown) =>
    error instanceof HostformError
      ? { status: error.diagnostics[0]?.code, ...error.diagnostics[0] }
      : Promise.reject(error),
  );
  return { ...(found as Observation & { detail?: string }), asked: fake.asked };
}

describe("the observation of a recorded resource", () => {
  const service = (over: JsonObject = {}, phase: Remote["phase"] = "live") =>
    remote({ ...liveService, created_at: at(0), ...over }, phase);
  const prior = { ...liveService, created_at: at(0) };

  it.each<[string, Reading, object]>([
    [
      "is gone without a word",
      { objects: [service({ status: null }, "gone")], prior },
      { status: "gone", how: 'is "gone"' },
    ],
    [
      "is gone, and another with its name is there",
      { objects: [service({ id: "1002" })], prior, config: { domain: "www.acme.example" } },
      { status: "gone", matches: [{ id: "1002" }], alike: [{ id: "1002" }] },
    ],
    ["is absent while it has no id", { prior: { ...prior, id: null } }, { status: "absent", matches: [] }],
    [
      "is there while lists may lag, though none shows it",
      { prior, mark: { created: at(-1000) } },
      { status: "present", phase: "live", attributes: { id: "1001" } },
    ],
    [
      "is another one when it was made later",
      { objects: [service({ created_at: at(2001) })], prior },
      { status: "state.stranger" },
    ],
    [
      "is the same when a host rounds the time",
      { objects: [service({ created_at: at(2000) })], prior },
      { status: "present" },
    ],
    [
      "is the same when a host rounds the time down",
      { objects: [service({ created_at: at(-2000) })], prior },
      { status: "present" },
    ],
  ])("%s", async (_, reading, expected) => expect(await observe("hosting_service", reading)).toMatchObject(expected));
});

describe("the observation of a resource to adopt", () => {
  it.each<[string, string, Reading, object]>([
    ["does not exist", "hosting_service", { importId: "9" }, { status: "gone", how: "does not exist" }],
  ])("%s (%s)", async (_, type, reading, expected) => expect(await observe(type, reading)).toMatchObject(expected));
});

describe("the observation of objects like a declaration", () => {
  const like = async (type: string, config: ValueObject | undefined, ...objects: Remote[]) => {
    const { account, kind, asked } = fakeAccount(kindOf(type), ...objects);
    const { matches, alike = [] } = await likeness(account, kind, config);
    return { matches: matches.map(({ id }) => id), alike: alike.map(({ id }) => id), asked };
  };
  const server = (id: string) => remote({ ...liveService, id, domain: null, product_type: "vps" });

  it.each<[string, string, ValueObject | undefined, Remote[], object]>([
    [
      "may be it without a name",
      "hosting_service",
      { plan_id: 31 },
      [server("1"), remote(liveService)],
      { matches: [], alike: ["1"] },
    ],
  ])("%s", async (_, type, config, objects, expected) =>
    expect(await like(type, config, ...objects)).toMatchObject(expected),
  );

  it.each<[ValueObject | undefined, string | undefined]>([[{ service_id: null }, undefined]])(
    "the parent in %j is %j",
    (attributes, parent) => expect(parentOf(kindOf("hosting_grant"), attributes)).toBe(parent),
  );
});

describe("two services with one domain", () => {
  const service = (id: string, domain: string | null, phase: Remote["phase"] = "live") =>
    remote({ ...liveService, id, domain }, phase);
  const groups = (...objects: Remote[]) =>
    sameInUse(kindOf("hosting_service"), objects).map((same) => same.map(({ id }) => id));

  it("are both billed, unless one has ended or its status is unknown", () => {
    expect(groups(service("1", "a.example"), service("2", "A.example"), service("3", "b.example"))).toEqual([
      ["1", "2"],
    ]);
    expect(groups(service("1", "a.example", "pending"), service("2", "a.example", "suspended"))).toEqual([["1", "2"]]);
    expect(
      groups(service("1", "a.example"), service("2", "a.example", "gone"), service("3", "a.example", "unknown")),
    ).toEqual([]);
    expect(groups(service("1", null), service("2", null)), "servers have none").toEqual([]);
    expect(
      sameInUse(kindOf("hosting_webhook"), [remote(liveWebhook), remote({ ...liveWebhook, id: "2" })]),
      "and cost nothing",
    ).toEqual([]);
  });
});

describe("a rejection that may end when the service is live", () => {
  const refused = (status: number, over: object = {}) =>
    new ApiError({ code: "api.conflict", summary: "no", endpoint: "POST /x", reached: "answered", status, ...over });

  it("excludes a page, a failure without a status, a defect of hostform, and a rejected value", () => {
    expect(mayPass(refused(422, { code: "api.malformed" }))).toBe(false);
    expect(mayPass(failure("maybe"))).toBe(false);
    expect(mayPass(Object.assign(new Error("x"), { status: 422 }))).toBe(false);
    const fields = (name: string) => refused(422, { fieldErrors: { [name]: ["is wrong"] } });
    expect(mayPass(fields("email"), kindOf("hosting_grant"))).toBe(false);
    expect(mayPass(fields("email.0"), kindOf("hosting_grant"))).toBe(false);
    expect(mayPass(fields("service"), kindOf("hosting_grant"))).toBe(true);
    expect(mayPass(fields("email"))).toBe(true);
  });

  const early = async (
    phase: Remote["phase"],
    {
      isNew = false,
      parent = true,
      planned = { service_id: "1001" } as JsonObject,
      error = refused(422) as unknown,
    } = {},
  ) => {
    const { account, kind, asked } = fakeAccount(kindOf("hosting_service"), remote(liveService, phase));
    if (isNew) account.noteNew("1001");
    const found = await notLiveYet(kindOf("hosting_grant"), "hosting_grant.a", planned, error, {
      account,
      ...(parent && { parentKind: kind }),
    });
    return { said: found?.diagnostics[0]?.summary, asked };
  };

  it.each<[string, Parameters<typeof early>, string | undefined]>([
    ["is a refusal where the service is not found", ["pending", { planned: { service_id: "9" } }], undefined],
  ])("%s", async (_, args, expected) => expect((await early(...args)).said).toBe(expected));

  it.each<[string, readonly object[], string | undefined]>([
    ["paid by its date", [{ order_id: "1001", paid_at: "2026-11-21", status: null }], undefined],
  ])("with an invoice that is %s", async (_, invoices, why) => {
    const { account, kind } = fakeAccount(kindOf("hosting_service"), remote(liveService, "pending"));
    Object.assign(account, { invoices: { all: async () => invoices } });
    const said = await signOnRefused(account, kind, "1001", refused(422));
    const summary = `The single sign-on waits until service 1001 is live${why === undefined ? "" : `: ${why}`}`;
    expect(said).toMatchObject({ diagnostics: [{ severity: "error", code: "apply.waiting", summary, detail: "no" }] });
    expect(await signOnRefused(account, kind, "1001", "else"), "as it came").toBe("else");
  });
});

describe("a pending create", () => {
  const mutation = { endpoint: "createWebhook", params: { id: "1" }, body: { url: "x" }, idempotencyKey: "k" } as never;

  it("is recorded with all its fields, and no others", () => {
    const since = at(0);
    expect(intentOf(mutation, START, { known: ["7"], knowsAll: true })).toEqual({
      since,
      operation: "createWebhook",
      params: { id: "1" },
      body: { url: "x" },
      idempotencyKey: "k",
      fenced: true,
      known: ["7"],
      knowsAll: true,
    });
    const bare = { since, operation: "createWebhook", fenced: true };
    expect(intentOf({ endpoint: "createWebhook" } as never, START, { known: [] })).toEqual(bare);
    expect(intentOf({ endpoint: "createWebhook" } as never, START)).toEqual(bare);
  });

  it("is repeated byte for byte, with new values if nothing was recorded", () => {
    const fresh = { endpoint: "createWebhook", params: { id: "2" }, body: { url: "y" }, idempotencyKey: "l" } as never;
    expect(mutationOf(intentOf(mutation, START), fresh)).toEqual(mutation);
    expect(mutationOf({ since: at(0), operation: "createWebhook" }, fresh)).toEqual(fresh);
  });

  it.each([["no", true, true]] as const)(
    "that reached %s was refused: %s, not sent: %s",
    (reached, refused, unsent) => {
      expect([wasRefused(failure(reached)), notSent(failure(reached))]).toEqual([refused, unsent]);
      expect([
        wasRefused(Object.assign(new Error("x"), { reached })),
        notSent(Object.assign(new Error("x"), { reached })),
      ]).toEqual([false, false]);
    },
  );

  it.each<[string, number, string | undefined, string[], boolean]>([
    ["its values", 422, "The plan is not offered.", ["plan_id"], true],
  ])("and refused for %s (%i) uses up its key, or not", (_, status, serverMessage, fields, expected) => {
    const fieldErrors = Object.fromEntries(fields.map((field) => [field, ["is invalid"]]));
    const reached = "answered" as const;
    const more = { ...(serverMessage && { serverMessage }), fieldErrors, status, reached };
    expect(usesUpKey(new ApiError({ code: "api.validation", summary: "no", endpoint: "POST /x", ...more }))).toBe(
      expected,
    );
    expect(usesUpKey(Object.assign(new Error("no"), more)), "of the API alone").toBe(false);
  });

  it("that is rejected at its repetition reports the sent values and the next step", () => {
    const change = { address: "hosting_webhook.a" } as Change;
    const error = refusedAgain(change, { since: at(0), operation: "x", body: { url: "u" } }, notFound());
    expect(error.diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "error api.not_found",
      "error plan.pending",
    ]);
    expect(error.diagnostics[1]).toMatchObject({
      remedies: saying(expect.stringMatching(/--absent`.*\{"url":"u"\}/)),
      address: "hosting_webhook.a",
    });
    expect(refusedAgain(change, { since: at(0), operation: "x" }, "else").diagnostics).toHaveLength(1);
  });
});

describe("an invalid value", () => {
  const words = (type: string, config: ValueObject) =>
    validate(kindOf(type), config, `${type}.a`).diagnostics.map(({ severity, summary, detail, remedies = [] }) =>
      [severity, summary, detail, fixOf({ remedies })].filter(Boolean).join(" | "),
    );
  const order = { plan_id: 11, currency: "USD" };

  it.each<[string, ValueObject, RegExp]>([
    [
      "hosting_service",
      { ...order, plan_id: 1.5 },
      /^error \| plan_id: expected a whole number \| The value is 1\.5\.$/,
    ],
    ["hosting_service", { ...order, password: "short", password_version: 1 }, /^error \| password: [^|]*$/],
  ])("of %s %j is named with the expected value", (type, config, expected) => {
    const found = words(type, config);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });
});
