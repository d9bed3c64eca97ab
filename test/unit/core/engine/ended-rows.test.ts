// Ended objects in a list, for each kind with a list, each form of an end, and each use of the object.
import { describe, expect, it } from "vitest";
import { readRecord } from "../../../../src/core/api/decoder.ts";
import { decoders, type RecordName } from "../../../../src/core/api/records.ts";
import { observe, plan } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { Account } from "../../../../src/core/lifecycle/index.ts";
import type {
  DesiredResource,
  JsonObject,
  Plan,
  PrivateMark,
  ResourceState,
} from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { declared, desiredOf, notFound, recorded, stateOf } from "../../../support/subjects.ts";

const DAY = 86_400_000;
const past = new Date(START - DAY).toISOString();
const made = new Date(START - 2 * DAY).toISOString();
const PLANS = [
  { plan_id: 11, name: "Start", product_type: "shared", currency: "USD", price: 500, prices: {}, billing_cycle: null },
];

interface Subject {
  readonly record: RecordName;
  readonly operation: string;
  readonly config: JsonObject;
  /** List item while the object is live. */
  readonly row: JsonObject;
  /** Id for the import. */
  readonly importId?: string;
  /** Names of ENDS that do not end an object of this kind, because a wrong end would order or run something twice. */
  readonly lacks?: readonly string[];
}

const SUBJECTS: Readonly<Record<string, Subject>> = {
  hosting_webhook: {
    record: "webhook",
    operation: "createWebhook",
    config: { url: "https://hooks.acme.example/", events: ["invoice.paid"] },
    row: { id: 7, url: "https://hooks.acme.example/", events: ["invoice.paid"], created_at: made },
  },
  hosting_grant: {
    record: "grant",
    operation: "createGrant",
    config: { service_id: "1001", email: "dev@acme.example", permission: "view" },
    row: { id: 7, email: "dev@acme.example", permission: "view", expires_at: null, created_at: made },
    importId: "1001/dev@acme.example",
  },
  hosting_client_account: {
    record: "account",
    operation: "createAccount",
    config: { name: "Acme" },
    row: { id: 7, name: "Acme", company_name: null, company_number: null, created_at: made },
  },
  hosting_migration_request: {
    record: "migration_request",
    operation: "createMigrationRequest",
    config: { domain: "www.acme.example" },
    row: { id: 7, domain: "www.acme.example", order_id: null, status: "draft", created_at: made },
    lacks: ["closed", "ended_at", "archived", "expired", "expired_at", "is_expired"],
  },
  hosting_service: {
    record: "service",
    operation: "createService",
    config: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
    row: {
      ...{ id: 7, plan: "Start", product_type: "shared", status: "active", domain: "www.acme.example", price: 500 },
      ...{ billing_cycle: "monthly", currency: "USD", next_due_date: "2026-12-21", provisioning_status: "provisioned" },
      created_at: made,
    },
    lacks: ["revoked_at", "cancelled_at", "ended_at", "archived", "expired_at", "is_expired"],
  },
};

const ENDS: Readonly<Record<string, JsonObject>> = {
  deleted_at: { deleted_at: past },
  removed_at: { removedAt: past },
  terminated_at: { terminated_at: (START - DAY) / 1000 },
  revoked_at: { revoked_at: past },
  cancelled_at: { cancelled_at: past },
  ended_at: { ended_at: past },
  archived: { archived: true },
  is_deleted: { is_deleted: 1 },
  unreadable: { deleted_at: "yesterday" },
  deleted: { status: "deleted" },
  closed: { status: "Closed" },
  expired: { status: "EXPIRED" },
  expired_at: { expired_at: past },
  is_expired: { isExpired: true },
};

const ALIVE: Readonly<Record<string, JsonObject>> = {
  "no end": { deleted_at: null, is_deleted: false, revoked_at: "0000-00-00 00:00:00" },
  "an end in the future": { deleted_at: new Date(START + DAY).toISOString() },
};

const every = Object.entries(SUBJECTS).flatMap(([type, subject]) =>
  Object.entries(ENDS).flatMap(([end, fields]) =>
    subject.lacks?.includes(end) || (type === "hosting_service" && end === "expired")
      ? []
      : [{ type, subject, end, row: { ...subject.row, ...fields } }],
  ),
);
const alive = Object.entries(SUBJECTS).flatMap(([type, subject]) => [
  ...Object.entries(ALIVE).map(([end, fields]) => ({ type, subject, end, row: { ...subject.row, ...fields } })),
  ...(subject.lacks ?? []).map((end) => ({ type, subject, end, row: { ...subject.row, ...ENDS[end] } })),
]);

/** Creates a reader of one account whose lists contain these rows. */
function accountOf(record: RecordName, rows: readonly JsonObject[]) {
  const asked: string[] = [];
  const records = rows.map((row) => {
    const read = readRecord(decoders[record] as (typeof decoders)["grant"], row);
    if (!("record" in read)) throw new Error(read.problem);
    return read.record;
  });
  const listing = (name: string, of: readonly object[]) => ({
    list: () => ({
      all: async () => of,
      async *[Symbol.asyncIterator]() {
        asked.push(name);
        yield* of;
      },
    }),
    get: async (id: string) => of.find((one) => "id" in one && one.id === id) ?? Promise.reject(notFound()),
  });
  const held = (name: RecordName) => listing(name, name === record ? records : []);
  const reader = {
    hostNow: () => START,
    plans: listing("plan", PLANS),
    services: held("service"),
    grants: held("grant"),
    webhooks: held("webhook"),
    accounts: held("account"),
    migrationRequests: held("migration_request"),
  };
  return new Account(reader as never, { statusWords: {} });
}

interface Place {
  readonly resource?: Partial<DesiredResource> | undefined;
  /** Default: the subject's config. */
  readonly config?: JsonObject;
  readonly prior?: JsonObject;
  readonly mark?: PrivateMark;
  readonly mode?: Plan["mode"];
}

async function planOf({ type, subject, row }: (typeof every)[number], place: Place): Promise<Plan> {
  const address = `${type}.a`;
  const resources =
    place.resource === undefined ? [] : [declared(address, place.config ?? subject.config, place.resource)];
  const { id, ...shown } = subject.row;
  const prior: ResourceState[] =
    place.prior === undefined
      ? []
      : [recorded(address, { ...shown, ...subject.config, ...place.prior }, { private: place.mark ?? {} })];
  const account = accountOf(subject.record, [row]);
  const shared = {
    desired: desiredOf(...resources),
    state: stateOf(...prior),
    kinds,
    env: {},
    reorder: new Set<string>(),
  };
  const observed = await observe({ ...shared, accounts: () => account });
  return plan({ ...shared, mode: place.mode ?? "apply", now: START, observed, readRequests: 0 });
}

const isPaid = (type: string) => type === "hosting_service";
const codesOf = ({ diagnostics }: Plan) => diagnostics.map(({ severity, code }) => `${severity} ${code}`);

describe.each(every)("a $type that ended by $end", (one) => {
  const { type } = one;

  it("counts as deleted if it is declared and in the state, and the plan gives the reason", async () => {
    const made = await planOf(one, { resource: {}, prior: { id: "7" } });
    const [change] = made.changes;
    const why = /^(?:\w+ )*7 (?:\(www\.acme\.example\) )?(?:was \w+ on 20\d\d-\d\d-\d\d|is "\w+"|is listed with )/;
    if (isPaid(type)) {
      expect(change?.actions).toEqual(["no-op"]);
      expect(codesOf(made)).toEqual([]);
      expect(made.conditions?.map(({ condition }) => condition)).toEqual(["gone"]);
      expect(made.conditions?.[0]?.summary.replace(`${type}.a: `, "")).toMatch(why);
    } else {
      expect(change?.actions).toEqual(["create"]);
      expect(change?.reasons).toEqual([{ why: "gone", text: expect.stringMatching(why) }]);
    }
  });

  it("does not prevent a create", async () => {
    const made = await planOf(one, { resource: {} });
    expect(codesOf(made)).toEqual([]);
    expect(made.changes.map(({ actions }) => actions)).toEqual([["create"]]);
  });

  it("is not the result of a pending create; an order is not repeated automatically", async () => {
    const pending = {
      since: new Date(START - DAY * 1.9).toISOString(),
      operation: one.subject.operation,
      known: [],
      knowsAll: true as const,
    };
    const made = await planOf(
      { ...one, row: { ...one.row, created_at: new Date(START - DAY * 1.9).toISOString() } },
      { resource: {}, prior: { id: null, created_at: null }, mark: { pending } },
    );
    if (isPaid(type)) expect(codesOf(made)).toEqual(["warning plan.pending"]);
    else
      expect(made.changes.map(({ actions, private: mark }) => [actions, mark.pending?.since])).toEqual([
        [["create"], pending.since],
      ]);
  });

  it.each(["apply", "destroy"] as const)("leaves the state without a request in a plan to %s", async (mode) => {
    const made = await planOf(one, { prior: { id: "7", deletion_policy: "prevent" }, mode });
    expect(made.changes.map(({ actions, requests }) => [actions, requests])).toEqual([[["forget"], 0]]);
    expect(codesOf(made)).toEqual([]);
  });

  it("cannot be imported, and the error says that it has ended", async () => {
    const made = await planOf(one, { resource: { importId: one.subject.importId ?? "7" } });
    expect(codesOf(made)).toEqual(["error plan.gone"]);
    expect(made.diagnostics[0]?.summary).toMatch(/: it (?:was \w+ on|is )/);
  });
});

describe("a webhook that the host disabled", () => {
  const { hosting_webhook: subject } = SUBJECTS;
  if (subject === undefined) throw new Error("no webhook");
  const off = { type: "hosting_webhook", subject, end: "", row: { ...subject.row, is_active: false } };

  it("stays unchanged, and a condition names it and the fix", async () => {
    const made = await planOf(off, { resource: {}, prior: { id: "7" } });
    expect([made.changes[0]?.actions, codesOf(made)]).toEqual([["no-op"], []]);
    expect(made.conditions).toEqual([
      {
        ...{ address: "hosting_webhook.a", condition: "off" },
        summary: "hosting_webhook.a: the host has disabled webhook 7 (https://hooks.acme.example/): is_active is false",
        ...{
          detail: expect.any(String),
          remedies: [expect.stringContaining("enable the webhook"), expect.any(String)],
        },
      },
    ]);
  });

  it("prevents a second webhook, and its condition is shown at its import", async () => {
    expect(codesOf(await planOf(off, { resource: {} }))).toEqual(["error plan.exists"]);
    const imported = await planOf(off, { resource: { importId: "7" } });
    expect(imported.conditions?.map(({ condition }) => condition)).toEqual(["off"]);
  });

  it("has no condition if the plan recreates it", async () => {
    const made = await planOf(off, {
      resource: {},
      config: { ...subject.config, url: "https://hooks.acme.example/2" },
      prior: { id: "7" },
    });
    expect([made.changes[0]?.actions, made.conditions]).toEqual([["create", "delete"], undefined]);
  });
});

describe.each(alive)("a $type with $end", (one) => {
  it("is live in the state, prevents a second create, and can be imported", async () => {
    const policy: JsonObject =
      one.subject.record === "webhook" || one.subject.record === "grant" ? {} : { deletion_policy: "prevent" };
    const kept = await planOf(one, { resource: {}, prior: { id: "7", ...policy } });
    expect([kept.changes[0]?.actions, codesOf(kept)]).toEqual([["no-op"], []]);
    expect(codesOf(await planOf(one, { resource: {} }))).toEqual(["error plan.exists"]);
    const imported = await planOf(one, { resource: { importId: one.subject.importId ?? "7" } });
    expect(codesOf(imported)).toEqual([]);
    expect(imported.changes[0]?.importing).toEqual({ id: "7" });
  });
});
