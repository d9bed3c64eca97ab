/**
 * Complete histories of a pending create: each history ends, and an intent of an earlier version gets the same
 * decision.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Mutation } from "../../../../src/core/api/index.ts";
import type { Kind, Remote } from "../../../../src/core/kinds/kind.ts";
import { decide, foresee } from "../../../../src/core/lifecycle/decide.ts";
import {
  adopt,
  isPendingCreate,
  type PendingCreate,
  planResource,
  read,
} from "../../../../src/core/lifecycle/index.ts";
import { decidePending } from "../../../../src/core/lifecycle/pending-facts.ts";
import { withdraw } from "../../../../src/core/lifecycle/resolve.ts";
import {
  type Diagnostic,
  HostformError,
  isNoOp,
  type JsonObject,
  type ResourceState,
} from "../../../../src/core/model/index.ts";
import { changeOf, fakeRun, outcomeOf } from "../../../support/changes.ts";
import { START } from "../../../support/clock.ts";
import fc, { runs } from "../../../support/fc.ts";
import {
  failure,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveGrant,
  liveService,
  liveWebhook,
  remote,
} from "../../../support/subjects.ts";

const HOUR = 3_600_000;
const CONFIGS: Readonly<Record<string, JsonObject>> = {
  hosting_webhook: { url: "https://hooks.acme.example", events: ["invoice.paid"] },
  hosting_grant: { service_id: "1001", email: "dev@acme.example", permission: "view" },
  hosting_service: { plan_id: 11, currency: "USD", domain: "www.acme.example" },
  hosting_domain: {
    domain: "acme.example",
    years: 1,
    currency: "USD",
    nameserver_mode: "default",
    registrant_contact: {},
  },
};

/** Fault of an apply: a crash before its nth operation, or a lost response. */
interface Fault {
  readonly killAt: number;
  readonly isLost: boolean;
  /** Time until the next run, in milliseconds. */
  readonly pauseMs: number;
}

interface History {
  readonly type: string;
  readonly lagMs: number;
  /** True if the host changes the form of the natural key. */
  readonly rewrites: boolean;
  readonly faults: readonly Fault[];
}

const histories: fc.Arbitrary<History> = fc.record({
  type: fc.constantFrom(...Object.keys(CONFIGS)),
  lagMs: fc.constantFrom(0, 0, 30_000, 60_000),
  rewrites: fc.constantFrom(false, false, false, false, true),
  faults: fc.array(
    fc.record({
      killAt: fc.integer({ min: 1, max: 7 }),
      isLost: fc.constantFrom(false, false, true),
      pauseMs: fc.constantFrom(0, 4_000, 30_000, 81_000, HOUR, 72 * HOUR),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

class Killed extends Error {}

/** Account, state of one resource, and a user who knows the objects of the account. */
class Course {
  state: ResourceState | undefined;
  now = START;
  questions = 0;
  kills = 0;
  readonly created: string[] = [];
  readonly #history: History;
  readonly #fake: ReturnType<typeof fakeAccount>;
  readonly #kind: Kind;
  readonly #born = new Map<string, number>();

  constructor(history: History) {
    this.#history = history;
    const fake = fakeAccount(kindOf(history.type));
    fake.isWhole = true;
    fake.now = () => this.now;
    this.#fake = fake;
    const list = fake.kind.list;
    const isListed = ({ id }: Remote) => this.now - (this.#born.get(id) ?? 0) >= history.lagMs;
    this.#kind = {
      ...fake.kind,
      ...(list && {
        async *list(...given) {
          for await (const one of list(...given)) if (isListed(one)) yield one;
        },
      }),
    };
  }

  get address(): string {
    return `${this.#history.type}.acme`;
  }

  get isPending(): boolean {
    return isPendingCreate(this.state);
  }

  /** Ids of the existing objects. A webhook without its secret may be created again. */
  get live(): readonly string[] {
    return [...this.#fake.objects.keys()];
  }

  async apply(fault?: Fault): Promise<void> {
    const { type } = this.#history;
    const [kind, config] = [this.#kind, CONFIGS[type] ?? {}];
    const { account } = this.#fake;
    account.refresh();
    let left = fault?.isLost === false ? fault.killAt : Number.POSITIVE_INFINITY;
    const step = () => {
      left -= 1;
      if (left > 0) return;
      this.kills += 1;
      throw new Killed();
    };
    const prior = this.state;
    const isPending = isPendingCreate(prior);
    const query = isPending ? { prior: undefined, config: prior.attributes, isPending } : { prior, config };
    const observed = await read(account, { kind, ...query });
    const { change, diagnostics } = planResource({
      kind,
      address: this.address,
      provider: "default",
      declared: config,
      config,
      prior,
      observed,
      dependsOn: [],
      reorder: false,
      plans: [],
      now: this.now,
    });
    if (diagnostics.some(({ code }) => code === "plan.pending")) return this.#answer(diagnostics);
    if (isNoOp(change)) return;
    let isLost = fault?.isLost === true;
    const writer = fakeWriter((mutation) => {
      step();
      const answer = this.#carryOut(mutation);
      step();
      if (!isLost) return answer;
      isLost = false;
      throw failure("maybe");
    });
    const { context } = fakeRun(account, writer, {
      ...(prior && { prior }),
      pause: async (ms) => {
        step();
        this.now += ms;
      },
      save: async (resource) => {
        step();
        this.state = structuredClone(resource);
      },
      drop: async () => {
        step();
        this.state = undefined;
      },
    });
    try {
      const outcome = await outcomeOf(kind, { ...change, config }, context);
      if (outcome instanceof HostformError && this.isPending) await this.#answer(outcome.diagnostics);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }

  /** Resolves a pending create as a user who knows that it created this object, or nothing. */
  async #answer(diagnostics: readonly Diagnostic[]): Promise<void> {
    if (!diagnostics.some(({ code }) => code === "plan.pending")) return;
    const prior = this.state as PendingCreate;
    this.questions += 1;
    const [id] = this.live;
    if (id === undefined) this.state = withdraw(prior);
    else this.state = await adopt(this.#fake.account, this.#fake.kind, prior, id);
  }

  #carryOut({ endpoint, params, body }: Mutation): unknown {
    if (endpoint.startsWith("delete")) {
      this.#fake.objects.delete(String(Object.values(params ?? {}).at(-1)));
      return null;
    }
    if (!/^(?:create|register)/.test(endpoint)) return {};
    const { type, rewrites } = this.#history;
    const id = String(201 + this.created.length);
    const created_at = new Date(this.now).toISOString();
    const shown = (live: JsonObject) => {
      const other: JsonObject = rewrites && type === "hosting_webhook" ? { events: ["invoice_paid"] } : {};
      this.#fake.objects.set(id, remote({ ...live, ...body, ...other, id, created_at }));
      this.#born.set(id, this.now);
      return { ...live, ...body, ...other, id, created_at, raw: {} };
    };
    this.created.push(id);
    if (type === "hosting_domain") {
      shown({});
      return { id, status: "active", invoice: null, raw: { domain: "acme.example" } };
    }
    if (type === "hosting_service") return { service: shown(liveService), invoice: null };
    if (type === "hosting_grant") return shown(liveGrant);
    return { ...shown(liveWebhook), secret: "whsec" };
  }
}

/** Applies with each fault, then twice without faults. */
async function play(history: History): Promise<Course> {
  const course = new Course(history);
  for (const fault of history.faults) {
    await course.apply(fault);
    course.now += fault.pauseMs;
  }
  await course.apply();
  await course.apply();
  return course;
}

describe("a create that was killed or lost its response", () => {
  it("ends within two applies without faults if the user answers: one object, and no intent", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const course = await play(history);
        expect(course.isPending).toBe(false);
        expect(course.live).toEqual([String(course.state?.attributes.id)]);
        // hostform deletes and recreates a webhook whose secret was lost. It never creates any other object twice.
        if (history.type !== "hosting_webhook") expect(course.created).toHaveLength(1);
      }),
      { numRuns: runs(600) },
    );
  });

  it.each([
    ["writes the values as they were sent", false, 0],
    ["rewrites the events of each webhook", true, 52],
  ])(
    "asks the user only if necessary: over 114 kills of creates that lists show, at a host that %s",
    async (_, rewrites, questions) => {
      let [kills, asked] = [0, 0];
      for (const history of fc.sample(histories, { numRuns: 1_000, seed: 1 })) {
        if (history.type === "hosting_domain" || kills >= 114) continue;
        const course = await play({ ...history, rewrites });
        kills += course.kills;
        asked += course.questions;
      }
      expect({ kills, asked }).toEqual({ kills: 114, asked: questions });
    },
  );
});

/** Intents in the format of c6bd9028, one for each kind. */
const EARLIER = globSync("plain/*/intent/hosting.tfstate.journal", {
  cwd: path.resolve(import.meta.dirname, "../../../fixtures/c6bd9028"),
}).flatMap((file) => {
  const text = readFileSync(path.resolve(import.meta.dirname, "../../../fixtures/c6bd9028", file), "utf8");
  const puts = text.split("\n").flatMap((line): PendingCreate[] => {
    const [, , json] = /^(\S+) \d+ (\{.*\})$/.exec(line) ?? [];
    return json === undefined ? [] : (JSON.parse(json).put ?? []);
  });
  return puts.filter(({ private: mark }) => mark.pending !== undefined && mark.deposed === undefined);
});

/** Returns the record that this version writes for the same create before it sends the request. */
async function recordedNow({ address, attributes, private: { pending } }: PendingCreate): Promise<PendingCreate> {
  const [type = ""] = address.split(".");
  const fake = fakeAccount(kindOf(type));
  fake.isWhole = true;
  fake.now = () => Date.parse(pending.since);
  const writer = fakeWriter(() => {
    throw new Killed();
  });
  const { context, records } = fakeRun(fake.account, writer);
  const change = changeOf(type, attributes, { address, after: attributes });
  await outcomeOf(fake.kind, change, context).catch(() => {});
  // JSON form, as in the record that the next run reads.
  return JSON.parse(JSON.stringify(records[0]));
}

describe("an intent of c6bd9028", () => {
  it("exists for each kind that has one", () => {
    expect(new Set(EARLIER.map(({ address }) => address.split(".")[0]))).toEqual(
      new Set([...Object.keys(CONFIGS), "hosting_client_account", "hosting_migration_request"]),
    );
  });

  it("has the same decision as the intent that this version writes, except for its fence, whatever the account shows", async () => {
    const pairs = await Promise.all(EARLIER.map(async (before) => ({ before, now: await recordedNow(before) })));
    const row = fc.record({
      is: fc.constantFrom("same", "other"),
      isEnded: fc.constantFrom(false, false, true),
      isOld: fc.constantFrom(false, false, true),
      owner: fc.constantFrom(undefined, undefined, "x.other"),
    });
    const drawn = fc.record({
      pair: fc.constantFrom(...pairs),
      age: fc.constantFrom(0, 4_000, 79_000, 81_000, 601_000, 679_000, 681_000, 72 * HOUR),
      rows: fc.array(row, { maxLength: 3 }),
      more: fc.constantFrom<{ accepted?: true; resent?: number }>({}, {}, { accepted: true }, { resent: 60_000 }),
      want: fc.constantFrom<("it" | "nothing")[]>("it", "nothing"),
      by: fc.constantFrom(decide, foresee),
    });
    const reached = new Set<string>();
    fc.assert(
      fc.property(drawn, ({ pair, age, rows, more, want, by }) => {
        const since = Date.parse(pair.before.private.pending.since);
        const now = since + age;
        const at = (ms: number) => new Date(since + ms).toISOString();
        const kind = kindOf(pair.before.address.split(".")[0] ?? "");
        const objects = rows.map(({ is, isEnded, isOld }, nth): Remote => {
          const named =
            kind.naturalKey(pair.before.attributes) === undefined ? "plan_id" : (kind.identity?.[0] ?? "url");
          const other = is === "other" ? { [named]: "other.example" } : {};
          const created_at = at(isOld ? -HOUR : 0);
          const attributes = { ...pair.before.attributes, ...other, id: String(nth), created_at };
          return remote(attributes, isEnded ? "gone" : "live");
        });
        const decided = ({ attributes, private: { pending } }: PendingCreate) =>
          decidePending(
            {
              kind,
              sent: {
                attributes,
                private: {
                  pending: { ...pending, ...more, ...(more.resent !== undefined && { resent: at(more.resent) }) },
                },
              } as PendingCreate,
              listed: kind.list && { objects, plans: [], readAt: now },
              now,
              want,
              ownerOf: ({ id }) => rows[Number(id)]?.owner,
            },
            by,
          );
        const decision = decided(pair.before);
        reached.add(decision.row);
        const { fenced, ...pending } = pair.now.private.pending;
        expect(fenced).toBe(true);
        expect(decided({ ...pair.now, private: { pending } })).toEqual(decision);
      }),
      { numRuns: runs(3_000) },
    );
    expect([...reached].sort()).toEqual([
      "accepted",
      "again",
      "blind",
      "found",
      "held",
      "rewritten",
      "twice",
      "unwanted",
      "young",
    ]);
  });
});
