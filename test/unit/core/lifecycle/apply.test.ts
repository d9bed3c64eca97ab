// Requests, state records and other events of each change, in order. A crash can lose every fact that has no line
// before it.
import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../../src/core/api/index.ts";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import type { Applied } from "../../../../src/core/lifecycle/index.ts";
import {
  ApiError,
  type Change,
  HostformError,
  type JsonObject,
  type Phase,
  type PrivateMark,
  type ResourceState,
} from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import {
  complete,
  failure,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveService,
  liveWebhook,
  notFound,
  recorded,
  remote,
} from "../../../support/subjects.ts";

interface Case {
  readonly type: string;
  readonly actions: Change["actions"];
  readonly before?: JsonObject;
  readonly config?: JsonObject;
  readonly mark?: PrivateMark;
  readonly removal?: Change["removal"];
  readonly prior?: PrivateMark;
  readonly over?: Partial<Change>;
  /** Objects in the account's lists. */
  readonly live?: readonly Remote[];
  /** Responses by endpoint. Default: an empty success. */
  readonly answers?: Readonly<Record<string, (nth: number) => unknown>>;
  /** Status and phase of the service at the end of its job; undefined: the job does not end within the time limit. */
  readonly shows?: { readonly status: string; readonly phase: Phase };
  /** True if a search confirms that the account has a service that looks too old to be new. */
  readonly confirms?: boolean;
  /** Number of requests after which the run stops. */
  readonly stopsAfter?: number;
  /** Fields that replace fields of the kind. */
  readonly kind?: Partial<Kind>;
}

/** Formats a mark, for example `[attempt suspendService, job suspended from "active", deposed 201]`. */
function markText({ pending, attempt, deposed, generation, job, emptied, created: _, ...rest }: PrivateMark): string {
  const parts = [
    pending && `${pending.accepted ? "accepted" : "pending"} ${pending.operation}`,
    attempt && `attempt ${attempt.operation}${attempt.body === undefined ? "" : " with its body"}`,
    deposed && `deposed ${deposed.id}`,
    generation && `generation ${generation}`,
    emptied && `emptied ${emptied}`,
    job && `job ${job.toward} from ${JSON.stringify(job.before)} since ${Date.parse(job.since) - START}`,
    ...Object.keys(rest),
  ].filter(Boolean);
  return parts.length === 0 ? "" : ` [${parts.join(", ")}]`;
}

const service = (over: JsonObject = {}) =>
  complete(kindOf("hosting_service"), { ...liveService, plan_id: 11, ...over });
const webhook = (over: JsonObject = {}) =>
  complete(kindOf("hosting_webhook"), { ...liveWebhook, secret: "whsec_old", ...over });

async function trace(one: Case) {
  const { type, before, config = {}, mark = {}, live = [], answers = {}, shows, stopsAfter } = one;
  const { account, kind } = fakeAccount({ ...kindOf(type), ...one.kind }, ...live);
  const lines: string[] = [];
  const stop = new AbortController();
  if (stopsAfter === 0) stop.abort();
  const writer = fakeWriter(async ({ endpoint, params, body }: Mutation, nth) => {
    if (nth === stopsAfter) stop.abort();
    lines.push([endpoint, ...Object.values(params ?? {}), ...(body ? [JSON.stringify(body)] : [])].join(" "));
    return answers[endpoint]?.(nth);
  });
  const address = `${type}.a`;
  const prior = before && recorded(address, before, { private: one.prior ?? mark });
  const { context } = fakeRun(account, writer, {
    prior,
    stop: stop.signal,
    outputs: {
      check: async () => undefined,
      write: async (_, __, secret) => void lines.push(`write ${secret}`),
    },
    save: async ({ attributes, private: saved }: ResourceState) => {
      const { id, status, suspended, secret, generated_password } = attributes;
      const values = { status, suspended, secret, generated_password };
      const shown = Object.entries(values).flatMap(([name, value]) => (value == null ? [] : [`${name}=${value}`]));
      const isMade = saved.pending ?? saved.generation;
      if (isMade) shown.push(...Object.keys(config).flatMap((name) => (name in attributes ? [] : [`lacks ${name}`])));
      lines.push(`save ${[id ?? "-", ...shown].join(" ")}${markText(saved)}`);
    },
    confirm: async (_, looked, id) => {
      lines.push(`look for ${looked} ${id}`);
      return one.confirms === true;
    },
    drop: async (dropped) => void lines.push(`drop ${dropped}`),
    wait: async (_kind, waited, id, parent, done) => {
      lines.push(`wait ${waited} ${id}${parent === undefined ? "" : ` of ${parent}`}`);
      if (shows === undefined) return undefined;
      const { suspended: _, ...others } = liveService;
      const suspended: JsonObject = shows.phase === "unknown" ? {} : { suspended: shows.phase === "suspended" };
      const found = remote({ ...others, status: shows.status, ...suspended }, shows.phase);
      expect(done({ ...found, phase: "pending" }), "a pending one is never done").toBe(false);
      return found;
    },
  });
  const change = changeOf(type, config, {
    address,
    actions: one.actions,
    before: before ?? null,
    after: complete(kind, { ...before, ...config }),
    private: mark,
    ...(one.removal && { removal: one.removal }),
    ...one.over,
  });
  const outcome = await outcomeOf(kind, change, context);
  return durable([...lines, ...endOf(outcome)]);
}

/** Keeps only the last of consecutive records, because a crash between them leaves one of them. */
function durable(lines: readonly string[]): string[] {
  const isRecord = (line: string | undefined) => /^(?:save|drop) /.test(line ?? "");
  return lines.filter((line, at) => !(isRecord(line) && isRecord(lines[at + 1])));
}

/** Returns the end of a change as lines: diagnostics, wait, invoice, id. Empty parts have no line. */
function endOf(outcome: Applied | HostformError): string[] {
  if (outcome instanceof HostformError) return outcome.diagnostics.map(({ code }) => `failed: ${code}`);
  const { attributes, diagnostics, awaiting, unclear, invoice, ...more } = outcome;
  const optional = Object.entries({ ...outcome, attributes: {} });
  expect(optional.filter(([, value]) => value == null)).toEqual([]);
  expect(more).toEqual({});
  return [
    ...diagnostics.map(({ code, address: of }) => `${code} ${of}`),
    ...(awaiting ? [`awaiting ${awaiting}`] : []),
    ...(unclear ? [`unclear: ${unclear.code}`] : []),
    ...(invoice ? [`invoice ${invoice.id}`] : []),
    attributes === null ? "left the state" : `is ${attributes.id}`,
  ];
}

const HOOK = { url: "https://new.acme.example", events: ["invoice.paid"] };
const hookMade = () => ({ ...liveWebhook, ...HOOK, id: "202", raw: {}, secret: "whsec_new" });
const refused = () => {
  throw failure("answered", 422);
};
const lost = () => {
  throw failure("maybe");
};
const accepted = () => {
  throw new ApiError({ code: "api.accepted", summary: "no service", endpoint: "POST /x", reached: "maybe" });
};
const missing = () => {
  throw notFound();
};
const page = () => {
  throw failure("answered", 404, "api.malformed");
};
const DELETED = "deleteWebhook 201";
const OLD = "save 201 secret=whsec_old";
const NEW = "save 202 secret=whsec_new";
const create = `createWebhook ${JSON.stringify(HOOK)}`;
const replaced = {
  type: "hosting_webhook",
  before: webhook(),
  config: HOOK,
  over: { after: complete(kindOf("hosting_webhook"), HOOK) },
};
const pending: PrivateMark["pending"] = { since: new Date(START).toISOString(), operation: "createWebhook" };

describe("a webhook that replaces another", () => {
  it.each<[string, Case, string[]]>([
    [
      "is there before the old one goes, and the old one is remembered until it has gone",
      { ...replaced, actions: ["create", "delete"], answers: { createWebhook: hookMade } },
      [
        "save - [pending createWebhook, deposed 201]",
        create,
        `${NEW} [attempt deleteWebhook, deposed 201]`,
        DELETED,
        NEW,
        "is 202",
      ],
    ],
    [
      "goes itself first if an earlier replacement left one behind: there is room for one",
      {
        ...replaced,
        actions: ["create", "delete"],
        mark: { deposed: { id: "200" } },
        answers: { createWebhook: hookMade },
      },
      [
        `${OLD} [attempt deleteWebhook, deposed 200]`,
        "deleteWebhook 200",
        "save - [pending createWebhook, deposed 201]",
        create,
        `${NEW} [attempt deleteWebhook, deposed 201]`,
        DELETED,
        NEW,
        "is 202",
      ],
    ],
    [
      "is there, and the old one cannot be deleted: both are remembered",
      { ...replaced, actions: ["create", "delete"], answers: { createWebhook: hookMade, deleteWebhook: refused } },
      [
        "save - [pending createWebhook, deposed 201]",
        create,
        `${NEW} [attempt deleteWebhook, deposed 201]`,
        DELETED,
        `${NEW} [deposed 201]`,
        "failed: api.server",
      ],
    ],
    [
      "that goes first is forgotten before another is made",
      { ...replaced, actions: ["delete", "create"], answers: { createWebhook: hookMade } },
      [`${OLD} [attempt deleteWebhook]`, DELETED, "save - [pending createWebhook]", create, NEW, "is 202"],
    ],
    [
      "keeps every other mark meanwhile",
      { ...replaced, actions: ["create", "delete"], mark: { waiting: [] }, answers: { createWebhook: hookMade } },
      [
        "save - [pending createWebhook, deposed 201, waiting]",
        create,
        `${NEW} [attempt deleteWebhook, deposed 201, waiting]`,
        DELETED,
        `${NEW} [waiting]`,
        "is 202",
      ],
    ],
    [
      "that goes first, and then the run is stopped, is gone",
      { ...replaced, actions: ["delete", "create"], stopsAfter: 1 },
      [`${OLD} [attempt deleteWebhook]`, DELETED, "drop hosting_webhook.a", "failed: interrupted"],
    ],
  ])("%s", async (_, one, expected) => expect(await trace(one)).toEqual(expected));
});

describe("a new webhook", () => {
  const hook = { type: "hosting_webhook", actions: ["create"] as const, config: HOOK };
  const made = remote({ ...liveWebhook, ...HOOK, created_at: pending?.since ?? null });

  it.each<[string, Case, string[]]>([
    [
      "of which another is left from an earlier replacement deletes that when it is there",
      { ...hook, mark: { deposed: { id: "200" } }, answers: { createWebhook: hookMade } },
      [
        "save - [pending createWebhook, deposed 200]",
        create,
        `${NEW} [attempt deleteWebhook, deposed 200]`,
        "deleteWebhook 200",
        NEW,
        "is 202",
      ],
    ],
    [
      "made by a run whose answer was lost goes, is refused as another, and what it was to replace is kept",
      {
        ...hook,
        before: webhook({ ...HOOK, id: null, secret: null }),
        mark: { pending, deposed: webhook() },
        over: { before: null },
        live: [made],
        answers: { createWebhook: refused },
      },
      [
        `save - [pending createWebhook, attempt deleteWebhook, deposed 201]`,
        DELETED,
        "save - [pending createWebhook, deposed 201]",
        create,
        OLD,
        "failed: api.server",
      ],
    ],
    [
      "of which the answer names no id, and then the run is stopped, keeps the secret that came with it",
      {
        ...hook,
        live: [remote({ ...liveWebhook, id: "150" })],
        answers: { createWebhook: () => ({ ...hookMade(), id: null }) },
        stopsAfter: 1,
      },
      [
        "save - [pending createWebhook]",
        create,
        "save - secret=whsec_new [accepted createWebhook]",
        "failed: plan.pending",
      ],
    ],
  ])("%s", async (_, one, expected) => expect(await trace(one)).toEqual(expected));
});

describe("a removal", () => {
  const hook = { type: "hosting_webhook", actions: ["delete"] as const, before: webhook(), removal: "delete" as const };
  const paid = { type: "hosting_service", actions: ["forget"] as const, before: service() };

  it.each<[string, Case, string[]]>([
    [
      "is written down, sent, and forgotten",
      hook,
      [`${OLD} [attempt deleteWebhook]`, DELETED, "drop hosting_webhook.a", "left the state"],
    ],
    [
      "takes what a replacement left behind along, that first",
      { ...hook, mark: { deposed: { id: "200" } } },
      [
        `${OLD} [attempt deleteWebhook, deposed 200]`,
        "deleteWebhook 200",
        `${OLD} [attempt deleteWebhook]`,
        DELETED,
        "drop hosting_webhook.a",
        "left the state",
      ],
    ],
    [
      "of what is gone already is done",
      { ...hook, answers: { deleteWebhook: missing } },
      [`${OLD} [attempt deleteWebhook]`, DELETED, "drop hosting_webhook.a", "left the state"],
    ],
    [
      "of what is still listed is done when the API says twice that it does not know it, with a warning",
      { ...hook, live: [remote(liveWebhook)], answers: { deleteWebhook: missing } },
      [
        ...[`${OLD} [attempt deleteWebhook]`, DELETED, `${OLD} [attempt deleteWebhook]`, DELETED],
        ...["drop hosting_webhook.a", "plan.gone hosting_webhook.a", "left the state"],
      ],
    ],
    [
      "of what is still listed is sent again when somebody said not found, and is done by its answer",
      { ...hook, live: [remote(liveWebhook)], answers: { deleteWebhook: (nth) => (nth === 1 ? missing() : {}) } },
      [
        ...[`${OLD} [attempt deleteWebhook]`, DELETED, `${OLD} [attempt deleteWebhook]`, DELETED],
        ...["drop hosting_webhook.a", "left the state"],
      ],
    ],
    [
      "of what is still listed is not done when the second answer is lost",
      { ...hook, live: [remote(liveWebhook)], answers: { deleteWebhook: (nth) => (nth === 1 ? missing() : lost()) } },
      [...[`${OLD} [attempt deleteWebhook]`, DELETED, `${OLD} [attempt deleteWebhook]`, DELETED], "failed: api.server"],
    ],
    [
      "is not done because a page says not found of what is still listed",
      { ...hook, live: [remote(liveWebhook)], answers: { deleteWebhook: page } },
      [`${OLD} [attempt deleteWebhook]`, DELETED, OLD, "failed: api.malformed"],
    ],
    [
      "of what was just created is done when the API says that it does not know it: an earlier run may have deleted it",
      { ...hook, mark: { created: new Date(START - 1000).toISOString() }, answers: { deleteWebhook: missing } },
      [`${OLD} [attempt deleteWebhook]`, DELETED, "drop hosting_webhook.a", "left the state"],
    ],
    [
      "of what was just created is not done when a page says so, which no list that lags can confirm",
      { ...hook, mark: { created: new Date(START - 1000).toISOString() }, answers: { deleteWebhook: page } },
      [`${OLD} [attempt deleteWebhook]`, DELETED, OLD, "failed: api.malformed"],
    ],
    [
      "of what was created a while ago is, also when a page says so",
      { ...hook, mark: { created: new Date(START - 90_000).toISOString() }, answers: { deleteWebhook: page } },
      [`${OLD} [attempt deleteWebhook]`, DELETED, "drop hosting_webhook.a", "left the state"],
    ],
    ["that only forgets sends nothing", { ...paid, removal: "forget" }, ["drop hosting_service.a", "left the state"]],
    [
      "that suspends is seen to be done before it forgets",
      { ...paid, removal: "suspend", shows: { status: "Suspended", phase: "suspended" } },
      [
        'save 1001 status=active suspended=false [attempt suspendService, job suspended from "active" since 0, suspended]',
        "suspendService 1001",
        'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended]',
        "wait hosting_service.a 1001",
        "drop hosting_service.a",
        "left the state",
      ],
    ],
    [
      "that suspends, and is not seen to be done, is looked at again by the next run",
      { ...paid, removal: "suspend" },
      [
        'save 1001 status=active suspended=false [attempt suspendService, job suspended from "active" since 0, suspended]',
        "suspendService 1001",
        'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended]',
        "wait hosting_service.a 1001",
        'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended]',
        "awaiting job",
        "is 1001",
      ],
    ],
  ])("%s", async (_, one, expected) => expect(await trace(one)).toEqual(expected));
});

describe("a change in place", () => {
  const update = {
    type: "hosting_service",
    actions: ["update"] as const,
    before: service(),
    config: { suspended: true },
  };
  const asked =
    'save 1001 status=active suspended=false [attempt suspendService, job suspended from "active" since 0, suspended]';
  const answered = 'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended]';

  it.each<[string, Case, string[]]>([
    [
      "is written down, sent, awaited, and recorded as it is seen",
      { ...update, shows: { status: "suspended", phase: "suspended" } },
      [
        asked,
        "suspendService 1001",
        answered,
        "wait hosting_service.a 1001",
        "save 1001 status=suspended suspended=true [suspended]",
        "is 1001",
      ],
    ],
    [
      "that is not seen to be done keeps what was asked for",
      update,
      [
        asked,
        "suspendService 1001",
        answered,
        "wait hosting_service.a 1001",
        answered.replace("]", ", shown]"),
        "awaiting job",
        "is 1001",
      ],
    ],
    [
      "that ends in a word that is not understood says so, and keeps what was asked for",
      { ...update, shows: { status: "SUSPENDED_BY_OWNER", phase: "unknown" } },
      [
        asked,
        "suspendService 1001",
        answered,
        "wait hosting_service.a 1001",
        'save 1001 status=SUSPENDED_BY_OWNER suspended=false [job suspended from "active" since 0, suspended]',
        "awaiting status",
        "unclear: plan.unknown_status",
        "is 1001",
      ],
    ],
    [
      "that is refused takes back what was asked for",
      { ...update, answers: { suspendService: refused } },
      [asked, "suspendService 1001", "save 1001 status=active suspended=false", "failed: api.server"],
    ],
    [
      "whose answer is lost keeps it",
      { ...update, answers: { suspendService: lost } },
      [asked, "suspendService 1001", "failed: api.server"],
    ],
    ...[null, 3, {}].map((status): [string, Case, string[]] => {
      const shown = status === null ? "" : ` status=${status}`;
      const asks = `save 1001${shown} suspended=false [attempt suspendService, job suspended from null since 0, suspended]`;
      return [
        `of a service whose status is no word (${JSON.stringify(status)}) has none before`,
        { ...update, before: service({ status }), answers: { suspendService: lost } },
        [asks, "suspendService 1001", "failed: api.server"],
      ];
    }),
    [
      "sends nothing more to an object whose status is not understood by then",
      {
        ...update,
        before: service({ suspended: true, status: "suspended" }),
        config: { suspended: false, password_version: 2 },
        shows: { status: "Odd", phase: "unknown" },
      },
      [
        'save 1001 status=suspended suspended=true [attempt unsuspendService, job live from "suspended" since 0]',
        "unsuspendService 1001",
        'save 1001 status=suspended suspended=true [job live from "suspended" since 0]',
        "wait hosting_service.a 1001",
        'save 1001 status=Odd suspended=true [job live from "suspended" since 0]',
        "awaiting status",
        "unclear: plan.unknown_status",
        "is 1001",
      ],
    ],
    [
      "with a password does not write the password down",
      { ...update, config: { password: "hunter2", password_version: 2 }, answers: { resetPassword: () => ({}) } },
      [
        "save 1001 status=active suspended=false [attempt resetPassword]",
        'resetPassword 1001 {"password":"hunter2"}',
        "save 1001 status=active suspended=false",
        "is 1001",
      ],
    ],
    [
      "that generates a password which does not come says so",
      {
        ...update,
        before: service({ product_type: "vps" }),
        config: { password_version: 2 },
        answers: { resetPassword: () => ({ password: null, names: "" }) },
      },
      [
        "save 1001 status=active suspended=false [attempt resetPassword]",
        "resetPassword 1001",
        "save 1001 status=active suspended=false",
        "failed: secret.lost",
      ],
    ],
    [
      "that generates a password records it, and what was asked for before is asked for still",
      {
        ...update,
        before: service({ product_type: "vps", password_version: 1 }),
        config: { password_version: 2 },
        mark: { job: { since: new Date(START).toISOString(), toward: "suspended", before: "active" } },
        answers: { resetPassword: () => ({ password: "made-up", names: "" }) },
      },
      [
        'save 1001 status=active suspended=false [attempt resetPassword, job suspended from "active" since 0]',
        "resetPassword 1001",
        'save 1001 status=active suspended=false generated_password=made-up [job suspended from "active" since 0]',
        "is 1001",
      ],
    ],
    ["is not begun by a run that was stopped", { ...update, stopsAfter: 0 }, ["failed: interrupted"]],
    [
      "of what hostform alone knows sends nothing",
      { ...update, config: { deletion_policy: "forget" } },
      ["save 1001 status=active suspended=false", "is 1001"],
    ],
    [
      "of the record alone (an import) sends nothing, whatever is declared",
      { ...update, actions: ["no-op"], config: { suspended: true } },
      ["save 1001 status=active suspended=false", "is 1001"],
    ],
    [
      "settles the marks of earlier requests",
      { ...update, actions: ["no-op"], config: {}, mark: { attempt: pending, generation: 2 } as PrivateMark },
      ["save 1001 status=active suspended=false [generation 2]", "is 1001"],
    ],
  ])("%s", async (_, one, expected) => expect(await trace(one)).toEqual(expected));
});

describe("an order", () => {
  const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
  const invoice = (paid: boolean) => ({
    id: "31",
    raw: {},
    status: paid ? "paid" : "unpaid",
    total: 500,
    currency: "USD",
    paid_at: paid ? "2026-11-21T10:00:00Z" : null,
  });
  const made =
    (status: string, bill: unknown = null, product = "shared") =>
    () => ({
      service: {
        ...liveService,
        status,
        product_type: product,
        raw: {},
        plan_id: 11,
        created_at: new Date(START).toISOString(),
      },
      invoice: bill,
    });
  const dateless = (status: string) => {
    const { service: shown, ...answer } = made(status)();
    return { ...answer, service: { ...shown, created_at: null } };
  };
  const order = { type: "hosting_service", actions: ["create"] as const, config: ORDER };
  /** Returns SENT with the recorded value of `suspended` in its first line. */
  const sentWith = (suspended: string) => [`save -${suspended} [pending createService]`, SENT[1] ?? ""];
  const SENT = [
    "save - [pending createService]",
    `createService ${JSON.stringify({ plan_id: 11, currency: "USD", domain: "www.acme.example" })}`,
  ];

  it.each<[string, Case, string[]]>([
    [
      "that is live at once is done",
      { ...order, answers: { createService: made("active") } },
      [...SENT, "save 1001 status=active suspended=false", "is 1001"],
    ],
    [
      "that waits for its payment says so",
      { ...order, answers: { createService: made("pending", invoice(false)) } },
      [...SENT, "save 1001 status=pending suspended=false", "awaiting payment", "invoice 31", "is 1001"],
    ],
    [
      "that is paid waits for the host",
      { ...order, answers: { createService: made("pending", invoice(true)) } },
      [...SENT, "save 1001 status=pending suspended=false", "awaiting provisioning", "invoice 31", "is 1001"],
    ],
    [
      "that waits does not suspend yet",
      { ...order, config: { ...ORDER, suspended: true }, answers: { createService: made("pending", invoice(false)) } },
      [
        ...sentWith(" suspended=true"),
        "save 1001 status=pending suspended=false",
        "awaiting payment",
        "invoice 31",
        "is 1001",
      ],
    ],
    [
      "that is live is suspended as declared",
      {
        ...order,
        config: { ...ORDER, suspended: true },
        answers: { createService: made("active") },
        shows: { status: "suspended", phase: "suspended" },
      },
      [
        ...sentWith(" suspended=true"),
        'save 1001 status=active suspended=false [attempt suspendService, job suspended from "active" since 0, suspended]',
        "suspendService 1001",
        'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended]',
        "wait hosting_service.a 1001",
        "save 1001 status=suspended suspended=true [suspended]",
        "is 1001",
      ],
    ],
    [
      "whose status is not understood is left alone: what is declared for a live one is not done",
      { ...order, config: { ...ORDER, suspended: true }, answers: { createService: made("Odd", invoice(true)) } },
      [
        ...sentWith(" suspended=true"),
        "save 1001 status=Odd suspended=true",
        "plan.unknown_status hosting_service.a",
        "awaiting status",
        "invoice 31",
        "is 1001",
      ],
    ],
    [
      "whose status is not understood waits for its payment first",
      { ...order, config: { ...ORDER, suspended: true }, answers: { createService: made("Odd", invoice(false)) } },
      [
        ...sentWith(" suspended=true"),
        "save 1001 status=Odd suspended=true",
        "plan.unknown_status hosting_service.a",
        "awaiting payment",
        "invoice 31",
        "is 1001",
      ],
    ],
    [
      "whose status is not understood, and of which nothing is declared that waits, is done",
      { ...order, config: { ...ORDER, suspended: false }, answers: { createService: made("Odd", invoice(true)) } },
      [...sentWith(" suspended=false"), "save 1001 status=Odd suspended=false", "invoice 31", "is 1001"],
    ],
    [
      "that makes a password as well writes it to where it is to go",
      {
        ...order,
        config: { ...ORDER, password_version: 1, secret_output: { file: "password" } },
        over: { after: complete(kindOf("hosting_service"), { ...ORDER, secret_output: { file: "password" } }) },
        answers: {
          createService: made("active", null, "vps"),
          resetPassword: () => ({ password: "made-up", names: "" }),
        },
      },
      [
        ...SENT,
        "save 1001 status=active suspended=false [attempt resetPassword]",
        "resetPassword 1001",
        "save 1001 status=active suspended=false generated_password=made-up",
        "write made-up",
        "save 1001 status=active suspended=false",
        "is 1001",
      ],
    ],
    [
      "of an earlier run that is found in the list is adopted: nothing is done to it along with that",
      {
        ...order,
        config: { ...ORDER, suspended: true },
        mark: { pending: { ...pending, operation: "createService" } } as PrivateMark,
        live: [remote({ ...liveService, plan_id: 11 })],
      },
      ["save 1001 status=active suspended=false", "apply.replayed hosting_service.a", "is 1001"],
    ],
    [
      "that repeats the answer of one that is gone records that its key is used up",
      {
        ...order,
        mark: { waiting: [] },
        live: [remote(liveService, "gone")],
        answers: { createService: made("active") },
      },
      [
        "save - [pending createService, waiting]",
        SENT[1] ?? "",
        "save 1001 [generation 1, waiting]",
        "failed: apply.replayed",
      ],
    ],
    [
      "that looks too old to be new is recorded at once, looked for, and changed only then",
      {
        ...order,
        config: { ...ORDER, suspended: true },
        answers: { createService: () => dateless("active") },
        confirms: true,
      },
      [
        ...sentWith(" suspended=true"),
        "save 1001 status=active suspended=false",
        "look for hosting_service.a 1001",
        'save 1001 status=active suspended=false [attempt suspendService, job suspended from "active" since 0, suspended]',
        "suspendService 1001",
        'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended]',
        "wait hosting_service.a 1001",
        'save 1001 status=active suspended=false [job suspended from "active" since 0, suspended, shown]',
        "awaiting job",
        "is 1001",
      ],
    ],
    [
      "that is accepted by an answer which names nothing, and then the run is stopped, is recorded as accepted: it is never sent again",
      { ...order, answers: { createService: accepted }, stopsAfter: 1 },
      [...SENT, "save - [accepted createService]", "failed: plan.pending"],
    ],
    [
      "that is refused with 422 leaves the generation of the next order: its key is used up",
      { ...order, answers: { createService: refused } },
      [...SENT, "save - [generation 2]", "failed: api.server"],
    ],
  ])("%s", async (_, one, expected) => expect(await trace(one)).toEqual(expected));

  it.each<[string, JsonObject, unknown, string]>([
    [
      "no longer exists",
      service({ status: "terminated" }),
      422,
      "save 1001 status=terminated suspended=false [generation 2, waiting]",
    ],
    ["was never created", service({ id: null, status: null }), 422, "save - suspended=false [generation 3, waiting]"],
    [
      "no longer exists, with a token without the ability",
      service({ status: "terminated" }),
      403,
      "save 1001 status=terminated suspended=false [generation 1, waiting]",
    ],
  ])(
    "of a service that %s is rejected: the state stays as before, and a used key is not used again",
    async (_, before, status, saved) => {
      const lines = await trace({
        ...order,
        before,
        mark: { generation: 2 },
        prior: { generation: 1, waiting: ["suspended"] },
        over: { before: null },
        answers: {
          createService: () => {
            throw failure("answered", Number(status));
          },
        },
      });
      expect(lines.slice(-2)).toEqual([saved, "failed: api.server"]);
    },
  );
});

describe("a response without its one-time value", () => {
  const RESET = { password_version: 2 };
  const nothing = () => ({ password: null });

  it.each<[string, JsonObject, PrivateMark, () => unknown, string]>([
    [
      "is remembered: the request is sent for once more",
      RESET,
      { shown: {} },
      nothing,
      "[emptied resetPassword, shown]",
    ],
    ["for the second time is not", RESET, { shown: {}, emptied: "resetPassword" }, nothing, "[shown]"],
    [
      "to another request before is another matter",
      RESET,
      { emptied: "suspendService" },
      nothing,
      "[emptied resetPassword]",
    ],
    [
      "is not forgotten over another request",
      { password: "hunter2", ...RESET },
      { emptied: "suspendService" },
      () => ({}),
      "[emptied suspendService]",
    ],
  ])("%s", async (_, config, mark, resetPassword, end) => {
    const before = service({ product_type: "vps", password_version: 1 });
    const lines = await trace({
      type: "hosting_service",
      actions: ["update"],
      before,
      config,
      mark,
      answers: { resetPassword },
    });
    expect(lines.findLast((line) => line.startsWith("save"))?.endsWith(end), lines.join("\n")).toBe(true);
  });
});
