/** The front of an account that is a map, with a store in memory, for unit tests of the provider's core. */
import type { HostingClient, Mutation } from "../../../../../src/core/api/index.ts";
import type { Kind, Remote } from "../../../../../src/core/kinds/kind.ts";
import { MemoryStore } from "../../../../../src/core/local/index.ts";
import { type Diagnostic, HostformError, type JsonObject } from "../../../../../src/core/model/index.ts";
import { Entries } from "../../../../../src/fronts/terraform/entries.ts";
import type { ProviderSession } from "../../../../../src/fronts/terraform/index.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { Holdings } from "../../../../../src/fronts/terraform/resource/holdings.ts";
import { ProviderScope } from "../../../../../src/fronts/terraform/resource/provider-scope.ts";
import { schemaOf } from "../../../../../src/fronts/terraform/schema/of-kind.ts";
import { type TestClock, testClock } from "../../../../support/clock.ts";
import { complete, type FakeAccount, fakeAccount, fakeWriter } from "../../../../support/subjects.ts";

export interface FakeScope {
  readonly front: ProviderScope;
  readonly session: ProviderSession;
  readonly kind: Kind;
  readonly fake: FakeAccount;
  readonly clock: TestClock;
  readonly entries: Entries;
  /** Sent changes. */
  readonly sent: readonly Mutation[];
}

export interface Options {
  readonly objects?: readonly Remote[];
  /** Returns the API's response to a change. Default: any change fails the test. */
  answer?(mutation: Mutation, nth: number): unknown;
  readonly session?: Partial<ProviderSession>;
  /** The store with the holdings of other processes. */
  readonly store?: MemoryStore;
}

export function fakeScope(type: string, { objects = [], answer, session, store }: Options = {}): FakeScope {
  const fake = fakeAccount(terraformKind(type), ...objects);
  fake.isWhole = true;
  const writer = fakeWriter(
    answer ??
      (({ endpoint }) => {
        throw new Error(`${endpoint} was not to be sent`);
      }),
  );
  const clock = testClock();
  const entries = memoryEntries();
  const whole: ProviderSession = {
    isOpen: true,
    client: writer as unknown as HostingClient,
    account: fake.account,
    settings: { statusWords: {} },
    project: "acme",
    moneyScale: undefined,
    access: "http://127.0.0.1:8080, token from HOSTING_TOKEN",
    host: "here",
    place: "this folder",
    self: {
      mark: "this process",
      parent: "this terraform",
      isRunning: (mark) => ["this process", "a living process"].includes(mark),
    },
    clock,
    browse: async () => "there is no browser",
    stop: new AbortController().signal,
    entries,
    holdings: new Holdings({
      store: store ?? new MemoryStore({ clock }),
      place: { mark: "this folder", label: "the Terraform workspace default in this folder" },
      run: "this plan",
      clock,
      onWarning: ({ summary }) => {
        throw new Error(summary);
      },
    }),
    secretOutputs: { check: async () => undefined, write: async () => undefined },
    secretDestination: async () => ({ real: "/p/secret", inside: true, shown: "secret" }),
    close: async () => undefined,
    ...session,
  };
  const front = new ProviderScope(whole);
  return { front, session: whole, kind: fake.kind, fake, clock, entries, sent: writer.sent };
}

export const memoryEntries = (store = new MemoryStore()): Entries =>
  new Entries({
    store,
    project: "acme",
    onWarning: ({ summary }) => {
      throw new Error(summary);
    },
  });

/** Returns an object in Terraform's form: every attribute of the schema, null by default. */
export function asHeld(kind: Kind, attributes: JsonObject): JsonObject {
  const front = Object.keys(schemaOf(kind).attributes).map((name) => [name, null] as const);
  return { ...Object.fromEntries(front), ...complete(kind, attributes) };
}

/** Formats each diagnostic as `error plan.exists`. */
export const codesOf = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(({ severity, code }) => `${severity} ${code}`);

/**
 * Returns the diagnostic of failing work.
 * @throws if the work succeeds.
 */
export async function refusalOf(work: Promise<unknown>): Promise<Diagnostic> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof HostformError)) throw new Error(`a refusal was expected, not ${String(error)}`);
  const [first] = error.diagnostics;
  if (first === undefined) throw new Error("an error without a diagnostic");
  return first;
}
