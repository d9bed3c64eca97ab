/** Applies one change with the lifecycle. The records stay in memory. */
import type { Reader, Writer } from "../../src/core/api/index.ts";
import { type Kind, wordsOf } from "../../src/core/kinds/kind.ts";
import { Account, type Applied, type ApplyContext, applyChange, Fate } from "../../src/core/lifecycle/index.ts";
import { type AccountStore, type IntentQuery, MemoryStore } from "../../src/core/local/index.ts";
import {
  type Change,
  HostformError,
  type JsonObject,
  type ResourceState,
  type ValueObject,
} from "../../src/core/model/index.ts";
import { START } from "./clock.ts";
import { complete, kindOf } from "./subjects.ts";

/** Returns a change of `TYPE.acme`. Default: the create of the declared resource. */
export function changeOf(type: string, config: JsonObject, over: Partial<Change> = {}): Change {
  return {
    address: `${type}.acme`,
    type,
    words: wordsOf(kindOf(type)),
    provider: "default",
    actions: ["create"],
    before: null,
    after: complete(kindOf(type), config),
    after_unknown: {},
    sensitive: [],
    config,
    reasons: [],
    deferred: [],
    private: {},
    dependsOn: [],
    requests: 1,
    ...over,
  };
}

/** Returns an account on a machine where another run has just sent the same create. */
export function accountElsewhere(outcome: "made" | "unknown"): Account {
  const state = outcome === "made" ? "answered" : "unknown";
  const store = Object.assign(new MemoryStore(), {
    count: async () => 1,
    newest: async ({ thing }: IntentQuery) =>
      thing === undefined ? undefined : { serial: 1, at: START, state, isOwn: false },
  });
  return new Account({ hostNow: () => START } as Reader, { statusWords: {} }, undefined, store as AccountStore);
}

type Parts = Pick<ApplyContext, "account" | "writer" | "parentKind">;

/** Members of all groups of a context, in one object. */
export type Context = Partial<
  Parts & ApplyContext["run"] & ApplyContext["records"] & ApplyContext["watch"] & NonNullable<ApplyContext["secrets"]>
>;

/** Returns a run of the project `acme` that never waits. `records` keeps each recorded state in order. */
export function fakeRun(own: Account, sender: Writer, over: Context = {}) {
  const records: (ResourceState | "dropped")[] = [];
  let pausedMs = 0;
  const {
    account = own,
    writer = sender,
    project = "acme",
    stop,
    owner,
    adoptsOrders,
    turnTimeoutMs,
    pause = async () => undefined,
    clock = {
      now: () => account.hostNow(),
      monotonic: () => account.hostNow() + pausedMs,
      sleep: async () => undefined,
    },
    ...more
  } = over;
  const paused: typeof pause = async (ms, why) => {
    await pause(ms, why);
    pausedMs += ms;
  };
  const { wait = async () => undefined, confirm, outputs, read, parentKind, ...recorded } = more;
  const context: ApplyContext = {
    account,
    writer,
    parentKind,
    fate: new Fate(),
    run: { project, clock, pause: paused, ...given({ stop, owner, adoptsOrders, turnTimeoutMs }) },
    records: {
      save: async (resource) => void records.push(structuredClone(resource)),
      drop: async () => void records.push("dropped"),
      ...recorded,
    },
    watch: { wait, ...given({ confirm }) },
    secrets: given({ outputs, read }),
  };
  return { context, records };
}

/** Returns the members that are not undefined. */
const given = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/**
 * Applies a change with its declaration.
 * @returns The result, or the HostformError of a failed change.
 */
export async function outcomeOf(kind: Kind, change: Change, context: ApplyContext): Promise<Applied | HostformError> {
  const config = change.removal === undefined ? (change.config as ValueObject | null) : null;
  return applyChange(kind, change, config, context).catch((error: unknown) => {
    if (error instanceof HostformError) return error;
    throw error;
  });
}
