/**
 * Grant that the API rejects because its service is not live: the run waits if the service can become live soon,
 * or defers the grant.
 */
import { describe, expect, it } from "vitest";
import type { InvoiceRecord } from "../../../../src/core/api/index.ts";
import type { Kind } from "../../../../src/core/kinds/kind.ts";
import {
  applyChange,
  NotLiveYet,
  type PlanInput,
  planResource,
  read,
  signOnRefused,
} from "../../../../src/core/lifecycle/index.ts";
import { ApiError, type Code, type JsonObject, type Phase, type Reached } from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import { saying } from "../../../support/remedies.ts";
import {
  fakeAccount,
  fakeWriter,
  kindOf,
  liveGrant,
  liveService,
  recorded,
  remote,
} from "../../../support/subjects.ts";

const GRANT = { service_id: "1001", email: "dev@acme.example", permission: "view" };
const WHERE = "hosting_grant.acme";

interface Host {
  /** Phase of the service at each read. The last phase repeats. */
  readonly phases: readonly Phase[];
  /** For each read, true if the invoices are paid; absent: invoices cannot be read. */
  readonly paid?: readonly boolean[];
  /** Number of rejections. Default: every create until the service is live. */
  readonly times?: number;
  readonly status?: number;
  readonly code?: Code;
  readonly reached?: Reached;
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /** True if the host creates a grant for each request, whatever it returns. */
  readonly made?: boolean;
  /** True if the host accepts each request, and its response contains no id. */
  readonly terse?: true;
  /**
   * Status with which the list of grants fails, the number of sent creates from which it fails, and the number of
   * failures. Default: the list succeeds; it fails always.
   */
  readonly hides?: readonly [status: number, sent: number, times?: number];
  /** True if this run ordered the service. Default: true if the list succeeds. */
  readonly isNew?: true;
  /** True if an earlier run's create is pending. */
  readonly earlier?: true;
  /** Attributes that replace the service's attributes. */
  readonly service?: JsonObject;
  /** Result of `wait`. Default: the current service. */
  readonly waits?: "in vain";
}

async function grant(host: Host) {
  const { phases, paid, status = 409, code = "api.rejected", reached = "answered", fields, made } = host;
  let looks = 0;
  let waits = 0;
  const fake = fakeAccount(kindOf("hosting_grant"));
  const phase = () => phases[Math.min(looks, phases.length) - 1] ?? "pending";
  const service = {
    ...kindOf("hosting_service"),
    get: async () => {
      looks += 1;
      return remote({ ...liveService, ...host.service }, phase());
    },
  };
  const account = Object.assign(fake.account, {
    invoices: {
      forget: () => undefined,
      all: async () => {
        if (paid === undefined) throw new ApiError({ ...refusal, status: 403 });
        const own = paid.map((one) => ({ order_id: "1001", paid_at: null, status: one ? "Paid" : "due" }));
        return [{ order_id: "9", paid_at: null, status: "due" }, ...own] as unknown as InvoiceRecord[];
      },
    },
  });
  if (host.hides === undefined || host.isNew) account.noteNew("1001");
  const refusal = {
    code,
    summary: "not now",
    endpoint: "POST /x",
    reached,
    status,
    serverMessage: "not now",
    ...(fields && { fieldErrors: fields }),
  };
  let sent = 0;
  let hidden = 0;
  const writer = fakeWriter(() => {
    sent += 1;
    const refused = host.times === undefined ? phase() !== "live" : sent <= host.times;
    if (made) fake.objects.set(String(300 + sent), remote({ ...liveGrant, id: String(300 + sent) }));
    if (host.terse) return { raw: {} };
    if (refused) throw new ApiError(refusal);
    return { ...liveGrant, raw: {} };
  });
  const { context, records } = fakeRun(account, writer, {
    parentKind: service,
    wait: async (kind, _address, id, _parent, done) => {
      waits += 1;
      const found = await account.get(kind, id);
      return host.waits === undefined && found !== undefined && done(found) ? found : undefined;
    },
  });
  const pending = { since: new Date(START).toISOString(), operation: "createGrant" };
  const change = changeOf("hosting_grant", GRANT, { address: WHERE, private: host.earlier ? { pending } : {} });
  const kind = {
    ...fake.kind,
    async *list(...args: Parameters<NonNullable<Kind["list"]>>) {
      const [by, since = 0, times = Number.POSITIVE_INFINITY] = host.hides ?? [];
      if (by !== undefined && sent >= since && ++hidden <= times)
        throw new ApiError({ ...refusal, endpoint: "GET /x", reached: "answered", status: by });
      yield* fake.kind.list?.(...args) ?? [];
    },
  };
  const outcome = await applyChange(kind, change, GRANT, context).catch((error: unknown) => error);
  const isWait = outcome instanceof NotLiveYet;
  const says = isWait ? outcome.message : undefined;
  return { isWait, says, outcome, sent, waits, last: records.at(-1), looks, asked: fake.asked };
}

describe("a grant of a service that is not live yet", () => {
  it.each<[why: string, host: Host, says: string]>([
    ["not paid", { phases: ["pending"], paid: [false] }, "its invoice is not paid"],
    ["invoices not readable", { phases: ["pending"] }, "no invoice shows its payment"],
    ["no invoice", { phases: ["pending"], paid: [] }, "no invoice shows its payment"],
    ["not paid, status not understood", { phases: ["unknown"], paid: [false] }, "its invoice is not paid"],
  ])("(%s) is deferred at once, and not recorded", async (_, host, why) => {
    const { says, sent, waits, last, asked } = await grant(host);
    expect(says).toBe(`${WHERE} waits until service 1001 is live: ${why}`);
    expect({ sent, waits, last, asked }).toEqual({ sent: 1, waits: 0, last: "dropped", asked: [] });
  });

  it.each<Host>([{ phases: ["unknown"], paid: [true] }])(
    "whose status is not understood, and that is not known to be unpaid, is a failure that names the word: %j",
    async (host) => {
      const { isWait, outcome, sent, last } = await grant(host);
      expect({ isWait, sent, last }).toEqual({ isWait: false, sent: 1, last: "dropped" });
      expect(outcome).toMatchObject({
        message: "not now",
        diagnostics: [
          {
            detail: expect.stringContaining('is "active", which'),
            remedies: saying(expect.stringContaining("status_words")),
          },
        ],
      });
    },
  );

  it("that is paid is waited for, and the grant is created", async () => {
    const { outcome, sent, waits } = await grant({ phases: ["pending", "live"], paid: [true] });
    expect(outcome).toMatchObject({ attributes: { id: "301" } });
    expect({ sent, waits }).toEqual({ sent: 2, waits: 1 });
  });

  it("that is paid but slower than the wait for a job is deferred", async () => {
    const { says, sent, waits } = await grant({ phases: ["pending"], paid: [true], waits: "in vain" });
    expect(says).toBe(`${WHERE} waits until service 1001 is live: it is paid, and still being provisioned`);
    expect({ sent, waits }).toEqual({ sent: 1, waits: 1 });
  });

  it("that became live since the rejection is retried at once, but not without end", async () => {
    expect(await grant({ phases: ["live"], times: 1 })).toMatchObject({
      sent: 2,
      outcome: { attributes: { id: "301" } },
    });
    const refused = await grant({ phases: ["live"], times: 99 });
    expect({ sent: refused.sent, isWait: refused.isWait }).toEqual({ sent: 3, isWait: false });
    expect(refused.outcome).toMatchObject({ message: "not now" });
  });

  it.each([400, 402, 404, 412, 422, 423, 425])("is recognized by a %s response", async (status) => {
    expect((await grant({ phases: ["pending"], paid: [false], status })).isWait).toBe(true);
  });

  it.each<[why: string, host: Partial<Host>]>([
    ["a token that may not", { status: 403, code: "api.forbidden" }],
    ["a value that the API refuses", { status: 422, code: "api.validation", fields: { email: ["is not allowed"] } }],
    ["a page of a proxy", { status: 404, code: "api.malformed" }],
    ["a service that is live", { phases: ["suspended"] }],
  ])("is not confused with %s", async (_, host) => {
    const { isWait, outcome } = await grant({ phases: ["pending"], paid: [false], times: 99, ...host });
    expect(isWait).toBe(false);
    expect(outcome).toBeInstanceOf(ApiError);
  });

  const paidLater = { phases: ["pending"] as const, paid: [false] };
  it.each<[why: string, host: Host, expected: object]>([
    ["before anything is sent", { ...paidLater, hides: [409, 0] }, { isWait: true, sent: 0, last: undefined }],
    [
      "which an earlier run may have made: that stays pending",
      { ...paidLater, hides: [409, 0], earlier: true },
      { isWait: true, sent: 0, last: undefined },
    ],
    [
      "after an answer that leaves the outcome open",
      { ...paidLater, reached: "maybe", hides: [409, 1] },
      { isWait: true, sent: 1, last: "dropped" },
    ],
  ])("whose host does not list it until then is deferred: %s", async (_, host, expected) => {
    expect(await grant(host)).toMatchObject(expected);
  });

  it.each<[why: string, host: Partial<Host>]>([
    ["for another reason", { hides: [500, 1] }],
    ["of a service whose status is not understood", { hides: [409, 1], phases: ["unknown"] }],
    ["after a create whose answer was lost", { hides: [409, 1], status: 500, code: "api.server" }],
  ])("whose list is rejected %s stays pending, because it may exist", async (_, host) => {
    const { isWait, last } = await grant({ ...paidLater, reached: "maybe", ...host });
    expect(isWait).toBe(false);
    expect(last).toMatchObject({ private: { pending: { operation: "createGrant" } } });
  });

  it.each<[why: string, host: Partial<Host>]>([
    ["accepted without an id", { phases: ["live"], terse: true, hides: [403, 1, 1] }],
    [
      "accepted without an id, of a service that is paid",
      { phases: ["pending", "live"], terse: true, hides: [409, 1, 1] },
    ],
    ["with an unknown result", { phases: ["pending", "live"], reached: "maybe", hides: [409, 1, 1] }],
  ])("that the host creates is adopted after its list was rejected, and not created again: %s", async (_, host) => {
    const { sent, outcome } = await grant({ phases: ["live"], paid: [true], made: true, isNew: true, ...host });
    expect(outcome).toMatchObject({ attributes: { id: "301" } });
    expect(sent).toBe(1);
  });

  it("stays pending after the host accepted it, if its list is always rejected", async () => {
    const host = { terse: true, made: true, isNew: true, hides: [403, 1] } as const;
    const live = await grant({ ...host, phases: ["live"] });
    expect(live).toMatchObject({ isWait: false, sent: 1, last: { private: { pending: { accepted: true } } } });
    const unpaid = await grant({ ...host, phases: ["pending"], paid: [false] });
    expect(unpaid).toMatchObject({ isWait: true, sent: 1, last: { private: { pending: { accepted: true } } } });
  });

  it("with an unknown result is deferred only if the list does not show it", async () => {
    const open = { phases: ["pending"] as const, paid: [false], reached: "maybe" as const };
    expect(await grant(open)).toMatchObject({ isWait: true, sent: 1, last: "dropped" });
    expect(await grant({ ...open, made: true })).toMatchObject({
      isWait: false,
      outcome: { attributes: { id: "301" } },
    });
  });
});

describe("lists of a service, at a host that does not show them before the service is live", () => {
  const shownAs = async (phase: Phase, status: number, prior?: JsonObject, isDeclared = true) => {
    const { account, kind } = fakeAccount(kindOf("hosting_grant"));
    const refused = new ApiError({
      code: "api.rejected",
      summary: "no",
      endpoint: "GET /x",
      reached: "answered",
      serverMessage: "no",
      status,
    });
    const query = {
      kind: {
        ...kind,
        // biome-ignore lint/correctness/useYield: it is refused
        async *list() {
          throw refused;
        },
      },
      parentKind: {
        ...kindOf("hosting_service"),
        async *list() {
          yield remote(liveService, phase);
        },
      },
      prior: prior && recorded(WHERE, prior),
      config: isDeclared ? GRANT : undefined,
    };
    return read(account, query).catch((error: unknown) => (error === refused ? "refused" : error));
  };

  it.each([409])(
    "make the run wait after a %s: a new object is absent, and a recorded object keeps its state",
    async (s) => {
      expect(await shownAs("pending", s)).toEqual({ status: "absent", matches: [], waitsFor: "service 1001" });
      const seen = await shownAs("pending", s, liveGrant);
      expect(seen).toMatchObject({ status: "present", attributes: liveGrant, phase: "live", waitsFor: "service 1001" });
      expect(await shownAs("pending", s, liveGrant, false), "declared or not").toEqual(seen);
    },
  );

  it.each([
    ["live", 409],
    ["live", 403],
    ["pending", 500],
  ] as const)("of a service that is %s fail with a %i", async (phase, status) => {
    expect(await shownAs(phase, status)).toBe("refused");
  });

  it.each(["pending", "suspended"] as const)(
    "count a 403 as the service's and not the token's if the service is %s: the message names its domain",
    async (phase) => {
      const waitsFor = `service 1001 (${liveService.domain})`;
      expect(await shownAs(phase, 403)).toEqual({ status: "absent", matches: [], waitsFor });
      expect(await shownAs(phase, 403, liveGrant)).toMatchObject({ attributes: liveGrant, waitsFor });
    },
  );

  it("plan a new object, adopt none unseen, and both are reported", () => {
    const input: PlanInput = {
      kind: kindOf("hosting_grant"),
      address: WHERE,
      provider: "default",
      declared: GRANT,
      config: GRANT,
      prior: undefined,
      observed: { status: "absent", matches: [], waitsFor: "service 1001" },
      dependsOn: [],
      reorder: false,
      plans: [],
      now: START,
    };
    const made = planResource(input);
    expect(made.change.actions).toEqual(["create"]);
    expect(made.change.reasons[0]?.text).toContain("the API shows no grants of service 1001 until that is live");
    const adopted = planResource({ ...input, importId: "1001/301" });
    expect(adopted.change.actions).toEqual(["no-op"]);
    expect(adopted.diagnostics).toMatchObject([{ severity: "warning", code: "apply.waiting" }]);
  });
});

describe("a single sign-on", () => {
  const refused = (status: number) =>
    new ApiError({ code: "api.rejected", summary: "not now", endpoint: "GET /x", reached: "answered", status });
  const host = (phase: Phase) => {
    const fake = fakeAccount(kindOf("hosting_service"), remote(liveService, phase));
    Object.assign(fake.account, {
      invoices: { forget: () => undefined, all: async () => [{ order_id: "1001", paid_at: null, status: "due" }] },
    });
    return fake;
  };

  it("to a service that is not live yet is reported with the reason", async () => {
    const { account, kind } = host("pending");
    expect(await signOnRefused(account, kind, "1001", refused(409))).toMatchObject({
      message: "The single sign-on waits until service 1001 is live: its invoice is not paid",
    });
  });

  it.each([
    ["live", 409],
    ["pending", 403],
  ] as const)("to a service that is %s and returns %i fails with the API's message", async (phase, status) => {
    const { account, kind } = host(phase);
    const error = refused(status);
    expect(await signOnRefused(account, kind, "1001", error)).toBe(error);
  });
});
