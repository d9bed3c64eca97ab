/** What is said when something is made: every way in which a create goes wrong. */
import type { Mutation } from "../../../../../src/core/api/index.ts";
import type { Kind } from "../../../../../src/core/kinds/index.ts";
import {
  type Diagnostic,
  HostformError,
  type JsonObject,
  type Phase,
  type PrivateMark,
} from "../../../../../src/core/model/index.ts";
import { accountElsewhere, type Context, changeOf, fakeRun, outcomeOf } from "../../../../support/changes.ts";
import { START } from "../../../../support/clock.ts";
import {
  failure,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  remote,
} from "../../../../support/subjects.ts";

export const LONG_AGO = "2026-11-20T10:00:00Z";
export const PENDING: PrivateMark = {
  pending: { since: LONG_AGO, operation: "createService", body: { domain: "hush" } },
};
export const OUTPUT = { file: "no-such-folder/secret" };

export interface Spoken {
  readonly kind: Kind;
  readonly diagnostic: Diagnostic;
}

/** The diagnostics of what fails or ends. */
export async function saidBy(work: () => unknown): Promise<readonly Diagnostic[]> {
  try {
    const outcome = (await work()) as { diagnostics?: readonly Diagnostic[] } | readonly Diagnostic[] | undefined;
    return Array.isArray(outcome) ? outcome : ((outcome as { diagnostics?: readonly Diagnostic[] })?.diagnostics ?? []);
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  }
}

interface Creation {
  readonly config: JsonObject;
  answer?(mutation: Mutation, nth: number): unknown;
  readonly live?: readonly JsonObject[];
  readonly phase?: Phase;
  readonly mark?: PrivateMark;
  readonly over?: Context;
}

async function creation(type: string, { config, answer, live = [], phase = "live", mark = {}, over }: Creation) {
  const fake = fakeAccount(kindOf(type), ...live.map((each) => remote(each, phase)));
  const { account, kind } = fake;
  let time = START;
  fake.now = () => time;
  const writer = fakeWriter(answer ?? (() => Promise.reject(failure("maybe"))));
  const { context } = fakeRun(account, writer, {
    pause: async (ms) => {
      time += ms;
    },
    ...over,
  });
  const change = changeOf(type, config, { address: `${type}.x`, private: mark });
  return (await outcomeOf(kind, change, context)).diagnostics;
}

export const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
export const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
export const GRANT = { service_id: "1001", email: "dev@acme.example", permission: "view" };
const refuse = () => Promise.reject(failure("answered", 422));
const ordered = (record: JsonObject) => () => ({
  service: { ...liveService, plan_id: null, raw: {}, ...record },
  invoice: null,
});
/** A job. */
const BARE = Object.fromEntries(Object.keys(liveService).map((name) => [name, name === "id" ? "7" : null]));
const long = { ...liveService, created_at: LONG_AGO };
const silent = { ...liveWebhook, raw: {}, secret: null };

/** A machine on which another run has asked for the same thing. */
const elsewhere = (outcome: "made" | "unknown"): Context => ({ account: accountElsewhere(outcome) });

const CREATIONS: readonly (readonly [type: string, creation: Creation])[] = [
  ["hosting_service", { config: ORDER, live: [liveService] }],
  ["hosting_service", { config: ORDER, answer: refuse, mark: PENDING }],
  ["hosting_service", { config: ORDER, live: [liveService], mark: PENDING }],
  ["hosting_service", { config: ORDER, answer: ordered({ created_at: LONG_AGO }) }],
  ["hosting_service", { config: ORDER, answer: ordered({}), live: [long], phase: "gone" }],
  ["hosting_service", { config: ORDER, answer: ordered({}), live: [{ ...long, domain: "other.example" }] }],
  ["hosting_service", { config: ORDER, answer: ordered({}), over: { claimId: () => "hosting_service.other" } }],
  ["hosting_service", { config: ORDER, over: { claim: () => "hosting_service.other" } }],
  ["hosting_grant", { config: GRANT, live: [liveGrant] }],
  ["hosting_grant", { config: GRANT, live: [liveGrant, { ...liveGrant, id: "302" }], mark: PENDING }],
  ["hosting_grant", { config: GRANT, answer: refuse, mark: PENDING }],
  ["hosting_grant", { config: GRANT, answer: () => null }],
  ["hosting_webhook", { config: HOOK, answer: () => silent }],
  ["hosting_webhook", { config: HOOK, live: [{ ...liveWebhook, events: [] }] }],
  ["hosting_service", { config: ORDER, answer: ordered({ ...liveService, ...BARE }) }],
  ["hosting_webhook", { config: { ...HOOK, secret_output: OUTPUT } }],
  ["hosting_domain", { config: { domain: "acme.example" } }],
  ["hosting_domain", { config: { domain: "acme.example" }, mark: PENDING }],
  ["hosting_domain", { config: { domain: "acme.example" }, over: elsewhere("made") }],
  ["hosting_domain", { config: { domain: "acme.example" }, over: elsewhere("unknown") }],
];

/** Everything that creates have to say. */
export async function saidByCreations(): Promise<readonly Spoken[]> {
  const all = CREATIONS.map(async ([type, one]) =>
    (await creation(type, one)).map((diagnostic) => ({ kind: kindOf(type), diagnostic })),
  );
  return (await Promise.all(all)).flat();
}
