/** What the lifecycle and the kinds have to say, in all the ways in which they say it: each function of theirs is called. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { PlanRecord } from "../../../../../src/core/api/index.ts";
import { systemSecretFiles } from "../../../../../src/core/files/index.ts";
import { type Kind, kinds } from "../../../../../src/core/kinds/index.ts";
import { goneCondition } from "../../../../../src/core/lifecycle/attention.ts";
import { explain, type Observation, planRemoval, planResource, read } from "../../../../../src/core/lifecycle/index.ts";
import * as refusals from "../../../../../src/core/lifecycle/refusals.ts";
import * as statuses from "../../../../../src/core/lifecycle/status.ts";
import {
  ApiError,
  conditionWarning,
  type Diagnostic,
  type Json,
  type JsonObject,
  type Phase,
} from "../../../../../src/core/model/index.ts";
import { validateResource } from "../../../../../src/fronts/terraform/resource/validate.ts";
import { START } from "../../../../support/clock.ts";
import {
  complete,
  fakeAccount,
  kindOf,
  liveService,
  liveWebhook,
  recorded,
  remote,
} from "../../../../support/subjects.ts";
import {
  GRANT,
  HOOK,
  LONG_AGO,
  ORDER,
  OUTPUT,
  PENDING,
  type Spoken,
  saidBy,
  saidByCreations,
} from "./messages-creates.ts";

const PLAN: PlanRecord = {
  plan_id: 12,
  name: "Other",
  product_type: "vps",
  billing_cycle: "monthly",
  currency: "USD",
  price: 500,
  prices: {},
  price_after_discount: null,
  manage_discount_percent: null,
} as unknown as PlanRecord;

const SENT = { attributes: {}, private: { pending: { since: LONG_AGO, operation: "createService" } } };

function refusalsOf(kind: Kind): Diagnostic[] {
  const subject = { kind, address: `${kind.noun} x` };
  const [one, two] = ["1", "2"].map((id) => remote({ id, ...(kind.parent && { [kind.parent]: "7" }) }));
  if (one === undefined || two === undefined) throw new Error("no objects");
  const held = { ...subject, holder: () => `${kind.type}.other` };
  const before = { ...subject, prior: { attributes: { id: "9" } } };
  return [
    ...[true, false].map((secret) => refusals.immutable(subject, "name", { before: "a", after: "b", secret })),
    refusals.existing(subject, [one]),
    refusals.existing(subject, [one, two]),
    refusals.existing(held, [one]),
    refusals.existing(before, [one]),
    conditionWarning(goneCondition(subject, { attributes: { id: "9" }, sensitive: [] }, "no longer exists")),
    refusals.questionOf(subject, SENT, { row: "blind", objects: [], rows: [] }),
    refusals.questionOf(subject, SENT, { row: "twice", objects: [one], rows: [] }),
    refusals.questionOf(subject, SENT, { row: "twice", objects: [one, two], rows: [] }),
    refusals.lookalike(subject, [one]),
    refusals.lookalike(subject, [one, two]),
    refusals.lookalike(held, [one]),
    ...(kind.phase === undefined ? [] : statusesOf(kind)),
  ];
}

function statusesOf(kind: Kind): Diagnostic[] {
  const words: Json[] = ['a "word"', "PARKED_BY_OWNER", "7", null];
  const jobs = [
    undefined,
    ...(["suspended", "live"] as const).map((toward) => ({ since: LONG_AGO, toward, before: "ACTIVE" })),
  ];
  return words.flatMap((status) =>
    jobs.flatMap((job) => {
      const subject = { kind, address: `${kind.noun} x`, provider: "default", attributes: { status }, job };
      return [
        conditionWarning(statuses.unknownStatus(subject, { left: ["suspended"], unseen: [] })),
        conditionWarning(statuses.unknownStatus(subject, { left: [], unseen: ["suspended"] })),
        statuses.notRemovable(subject, "error"),
        statuses.unknownAtOnce(subject, ["suspended"]),
        ...(job
          ? [
              statuses.unclearEnd({ ...subject, job }),
              statuses.unclearEnd({ ...subject, job: { ...job, before: null } }),
            ]
          : []),
      ];
    }),
  );
}

function removalsOf(kind: Kind): Diagnostic[] {
  const policies: Json[] = ["prevent", "forget", "suspend", null];
  const phases: Phase[] = ["live", "pending", "unknown"];
  return policies.flatMap((deletion_policy) =>
    phases.flatMap((phase) =>
      [{}, PENDING].flatMap((mark) => {
        const attributes = complete(kind, { id: "1", deletion_policy, status: "odd", service_id: "7" });
        const observed: Observation =
          mark === PENDING ? { status: "absent", matches: [] } : { status: "present", attributes, phase };
        const prior = recorded(`${kind.type}.x`, attributes, { private: mark });
        return (["apply", "destroy"] as const).flatMap((mode) => [
          ...planRemoval({ kind, prior, observed, mode, now: START }).diagnostics,
        ]);
      }),
    ),
  );
}

/** Two secrets of which one has left the state and is to be elsewhere now; an expired grant; a plan that nobody sells. */
function planned(): Spoken[] {
  const of = (type: string, config: JsonObject, before?: JsonObject): Spoken[] => {
    const kind = kindOf(type);
    const attributes = before && complete(kind, before);
    const { diagnostics } = planResource({
      kind,
      address: `${kind.noun} x`,
      provider: "default",
      declared: config,
      config,
      prior: attributes && recorded(`${type}.x`, attributes),
      observed: attributes ? { status: "present", attributes, phase: "live" } : { status: "absent", matches: [] },
      dependsOn: [],
      reorder: false,
      orderAnyway: true,
      plans: [PLAN],
      now: START,
    });
    return diagnostics.map((diagnostic) => ({ kind, diagnostic }));
  };
  const live = { ...liveService, plan_id: 11 };
  return [
    ...of("hosting_webhook", { ...HOOK, secret_output: OUTPUT }, { ...liveWebhook, ...HOOK, secret_fingerprint: "x" }),
    ...of("hosting_grant", { ...GRANT, expires_at: LONG_AGO }),
    ...of("hosting_service", ORDER),
    ...of("hosting_service", { ...ORDER, plan_id: 12, password: "long enough", password_version: 1 }),
    ...of("hosting_service", { ...ORDER, password_version: 1 }, live),
    ...of("hosting_service", { ...ORDER, plan_id: 12 }, { ...liveService, plan: "Shared Start" }),
  ];
}

const INVALID: readonly (readonly [type: string, config: JsonObject])[] = [
  ...[...kinds.keys()].map((type) => [type, {}] as const),
  ["hosting_service", { plan_id: 0, currency: "x", term: 2, suspended: "x", coupon_code: "", deletion_policy: "x" }],
  ["hosting_service", { ...ORDER, reference: "x".repeat(300), plan_id: 1.5 }],
  ["hosting_service", { ...ORDER, password: "long enough" }],
  ["hosting_service", { ...ORDER, secret_output: { file: null, env_file: null, command: null } }],
  ["hosting_service", { ...ORDER, secret_output: { file: "a", env_file: null, command: ["b"] } }],
  ["hosting_service", { ...ORDER, secret_output: { file: null, env_file: { path: "", name: "1" }, command: null } }],
  ["hosting_webhook", { url: "x", events: [], secret_output: { file: null, env_file: null, command: [] } }],
  ["hosting_domain", { domain: "x", years: 11, currency: "USD", nameserver_mode: "", registrant_contact: "x" }],
  ["hosting_grant", { service_id: "", email: "x", permission: "x", expires_at: "x" }],
];

/** A stranger behind a known id. */
const stranger = async () => {
  const { account, kind } = fakeAccount(kindOf("hosting_service"), remote(liveService));
  const prior = recorded("hosting_service.x", { ...liveService, created_at: LONG_AGO });
  return saidBy(() => read(account, { kind, prior, config: undefined }));
};

async function secretPlaces(): Promise<readonly Diagnostic[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "words-"));
  const files = systemSecretFiles({ folder, own: [path.join(folder, "own")], owner: "Terraform", env: {} });
  const outputs = [OUTPUT, { file: "own" }, { file: "." }, { command: ["false"] as [string] }];
  const of = { address: "webhook x", attribute: "secret" };
  return (await Promise.all(outputs.map((output) => saidBy(() => files.check(output, of))))).flat();
}

function refusedFields(kind: Kind): Diagnostic[] {
  const error = new ApiError({
    code: "api.validation",
    summary: "The API refused the values",
    endpoint: "POST /x",
    reached: "answered",
    remedies: ["Correct the values named."],
    fieldErrors: { domain: ["The domain is taken."], coupon_code: ["Not valid."], stranger: ["What is this?"] },
  });
  return explain(kind, `${kind.noun} x`, {}, error);
}

/** Everything, as the lifecycle says it. */
export async function everythingSaid(): Promise<readonly Spoken[]> {
  const all: Spoken[] = planned();
  const add = (kind: Kind, said: readonly Diagnostic[]) =>
    void all.push(...said.map((diagnostic) => ({ kind, diagnostic })));
  for (const kind of kinds.values()) add(kind, [...refusalsOf(kind), ...removalsOf(kind), ...refusedFields(kind)]);
  all.push(...(await saidByCreations()));
  for (const [type, config] of INVALID) add(kindOf(type), validateResource(kindOf(type), config, true));
  add(kindOf("hosting_service"), await stranger());
  add(kindOf("hosting_webhook"), await secretPlaces());
  const [step] =
    kindOf("hosting_service").update?.({ ...liveService, product_type: "vps" }, { password_version: 1 }, {}) ?? [];
  const { warning } = step?.accept({ password: null } as never) ?? {};
  add(kindOf("hosting_service"), warning === undefined ? [] : [warning]);
  return all;
}
