/**
 * Runs that c6bd9028 began and a kill ended. Today's version reads their files and reaches the outcome that c6bd9028
 * itself reached. `test/fixtures/c6bd9028/README.md` describes the files, the derivation of their outcomes, and the
 * files that changed since.
 */
import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/model/index.ts";
import type { RequestEntry, Sandbox } from "../../src/sandbox/index.ts";
import { derive } from "../../src/sandbox/store/store.ts";
import { sampled } from "../reliability/support/long.ts";
import type { TestClock } from "../support/clock.ts";
import {
  declarationOf,
  deriveOutcome,
  expectedOutcome,
  type Fixture,
  fixturesOf,
  type Outcome,
  projectOf,
  terraformOf,
} from "../support/files-of-c6bd9028.ts";
import type { Project } from "../support/project.ts";
import { isRefusal } from "../support/terraform-core-wire.ts";

const HOUR_MS = 3_600_000;
/** Ages of the killed run when the next one begins. A host keeps keys for one day, and lists lag for one minute. */
const AGES = { "at once": 0, "three days later": 72 * HOUR_MS };
/** Only a create without a response depends on the age. One scenario of each class also begins three days later. */
const agesOf = ({ form, scenario, point }: Fixture) => {
  const isOld = /^plain (?:order|server|webhook.*|grant|domain) (?:intent|lost|accepted|secret)$/;
  return Object.entries(AGES).slice(0, isOld.test(`${form} ${scenario} ${point}`) ? 2 : 1);
};
const isDeriving = process.env.DERIVE_OUTCOMES === "c6bd9028";

/** Kinds by their collection in the sandbox. */
const KINDS = {
  services: "hosting_service",
  grants: "hosting_grant",
  webhooks: "hosting_webhook",
  accounts: "hosting_client_account",
  migration_requests: "hosting_migration_request",
  domains: "hosting_domain",
} as const;

interface Recorded {
  readonly type: string;
  readonly attributes: Readonly<Record<string, Json>>;
}

/** Objects of the agency, as `TYPE ID`. */
function objectsIn({ control }: Sandbox): string[] {
  return Object.entries(KINDS).flatMap(([collection, type]) =>
    control
      .list(collection as keyof typeof KINDS)
      .filter((one) => !("customer_id" in one) || one.customer_id === 1)
      .map(({ id }) => `${type} ${id}`),
  );
}

/** Fails unless the account, the state and the keys of all requests agree, with each object exactly once. */
function expectOne(sandbox: Sandbox, recorded: readonly Recorded[], { scenario, killed }: Fixture): void {
  const { control } = sandbox;
  // Its deletion_policy is "forget": the replaced service stays in the account.
  const replaced = scenario === "order-replaced" ? ["hosting_service 1003"] : [];
  const held = [...replaced, ...recorded.map(({ type, attributes }) => `${type} ${attributes.id}`)];
  expect(held.toSorted()).toEqual(objectsIn(sandbox).toSorted());
  const own = <T extends { readonly customer_id: number }>(all: readonly T[]) =>
    all.filter((one) => one.customer_id === 1);
  const orders = [...own(control.list("services")), ...control.list("domains")];
  expect(own(control.list("invoices")), "one invoice for each order").toHaveLength(orders.length);
  for (const { type, attributes } of recorded) {
    const hook = type === "hosting_webhook" && control.get("webhooks", Number(attributes.id));
    if (hook) expect(attributes.secret).toBe(hook.secret);
    if (typeof attributes.generated_password === "string")
      expect(attributes.generated_password).toBe(lastPassword(control.requests(), killed.requests));
  }
  const bodies = new Map<string, Set<string>>();
  for (const { idempotency_key: key, body } of [...killed.requests, ...control.requests()])
    if (key !== null) bodies.set(key, (bodies.get(key) ?? new Set()).add(JSON.stringify(body)));
  expect(
    [...bodies.values()].filter(({ size }) => size > 1),
    "bodies of one key",
  ).toEqual([]);
}

/**
 * Returns the current password: the last one that the sandbox issued. It follows from the seed and the number of
 * passwords.
 */
function lastPassword(...requests: readonly (readonly Pick<RequestEntry, "path" | "status">[])[]): string {
  const handedOut = requests.flat().filter(({ path, status }) => path.endsWith("/password") && status === 200);
  return `${derive("fixtures", `password:${handedOut.length}`).slice(0, 18)}-Aa1`;
}

type SentBefore = Pick<RequestEntry, "idempotency_key" | "body">;

/** Returns the changing requests in order, each marked if it repeats a request of the killed run byte for byte. */
function changesIn({ control }: Sandbox, before: readonly SentBefore[]): string[] {
  const asText = ({ idempotency_key, body }: SentBefore) => JSON.stringify([idempotency_key, sorted(body)]);
  const known = before.map(asText);
  return control
    .requests()
    .filter(({ method }) => method !== "GET")
    .map((entry) => {
      const again = entry.body !== null && known.includes(asText(entry)) ? ", as before" : "";
      return `${entry.method} ${entry.path.replace("/api/v1", "")}${again}`;
    });
}

/** Returns a value whose fields are in alphabetical order. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}

const codesIn = (text: string) => [...new Set(text.match(/(?<=\[)[a-z]+\.[a-z_]+(?=\])/g) ?? [])].toSorted();

/** Returns the object of this kind in the account that no state records. A user finds it in the dashboard. */
function unrecorded(sandbox: Sandbox, type: string, recorded: readonly Recorded[]): string | undefined {
  const held = recorded.map((one) => `${one.type} ${one.attributes.id}`);
  const found = objectsIn(sandbox).find((object) => object.startsWith(`${type} `) && !held.includes(object));
  return found?.slice(type.length + 1);
}

interface Evidence extends SentBefore {
  readonly address: string;
  readonly verdict: string;
}

const pendingIn = async (project: Project): Promise<readonly Evidence[]> =>
  JSON.parse((await project.run("resolve", "--json")).out);

/** Returns the resources of the state, encrypted or not. */
async function recordedIn(project: Project): Promise<Recorded[]> {
  const { resources } = JSON.parse((await project.run("state", "pull")).out);
  return resources.flatMap(({ type, instances }: { type: string; instances: Omit<Recorded, "type">[] }) =>
    instances.map(({ attributes }) => ({ type, attributes })),
  );
}

/** Plans, runs `resolve`, applies, and settles open creates as a user does who checks the account. */
async function engineOutcome(fixture: Fixture, ageMs: number): Promise<Outcome> {
  const project = await projectOf(fixture);
  const { sandbox, clock } = project;
  clock.advance(ageMs);
  const { changes, diagnostics } = await project.plan();
  const planned = changes
    .filter(({ actions, importing }) => actions[0] !== "no-op" || importing !== undefined)
    .map(({ address, actions, importing }) => `${actions.join(", ")} ${address}${importing ? ", adopted" : ""}`);
  const pending = await pendingIn(project);
  const before = [...fixture.killed.requests, ...pending];
  project.sent();
  const applies = [];
  for (let run = 1; ; run++) {
    const { code, text } = await project.run("apply", "--auto-approve");
    // Lists now contain the killed run's objects, and a queued suspension has ended.
    clock.advance(HOUR_MS);
    applies.push({ code, ...says(codesIn(text)), settled: [] as string[] });
    if (code === 0) break;
    expect(run, text).toBeLessThan(3);
    for (const { address } of await pendingIn(project)) {
      const id = unrecorded(sandbox, address.split(".")[0] ?? "", await recordedIn(project));
      const answer = id === undefined ? ["--absent"] : ["--adopt", id];
      const settled = await project.run("resolve", address, ...answer);
      expect(settled.code, settled.text).toBe(0);
      applies.at(-1)?.settled.push([address, ...answer].join(" "));
    }
  }
  const sent = changesIn(sandbox, before);
  expectOne(sandbox, await recordedIn(project), fixture);
  await project.expectNoChanges();
  return {
    plan: planned,
    ...says(diagnostics.map(({ code }) => code)),
    resolve: pending.map(({ address, verdict }) => `${address}: ${verdict}`),
    applies: applies.map(({ settled, ...each }) => ({ ...each, ...(settled.length > 0 && { settled }) })),
    sent,
  };
}

/** Drops the notice of a waiting run, which is no outcome. */
const says = (all: readonly string[]) => {
  const codes = all.filter((code) => code !== "store.waiting");
  return codes.length === 0 ? {} : { says: codes };
};

/** Plans and applies, and follows the steps in a message: `state rm`, and an import if the account has the object. */
async function terraformOutcome(fixture: Fixture, ageMs: number): Promise<Outcome> {
  const { pending, core, declared, sandbox, clock } = await terraformOf(fixture);
  clock.advance(ageMs);
  const recorded = () => [...core.state.current.values()];
  const plan = await core.plan(declared);
  expect(changesIn(sandbox, [])).toEqual([]);
  const planned = plan.changes
    .filter(({ action }) => action !== "no-op")
    .map(({ action, address }) => `${action} ${address}`);
  const applies = [];
  for (let run = 1; ; run++) {
    const { errors, warnings } = await core.run(declared);
    clock.advance(HOUR_MS);
    const says = errors.length > 0 ? "error" : warnings.length > 0 ? "warning" : undefined;
    applies.push({ ...(says && { says }), settled: [] as string[] });
    if (says === undefined) break;
    expect(run, JSON.stringify([errors, warnings])).toBeLessThan(4);
    // Both the plan and the apply report the open create.
    const asked = new Map([...warnings, ...errors].map(({ address = "", detail }) => [address, detail]));
    for (const [address, detail] of asked) {
      const type = declared[address]?.type;
      if (type === undefined || !/terraform (?:state rm|import)|hostform resolve/.test(detail)) continue;
      const id = unrecorded(sandbox, type, recorded());
      core.forget(address);
      if (id === undefined) await core.machine.resolveAbsent(type);
      else expect((await core.import(address, type, id)).filter(isRefusal)).toEqual([]);
      applies.at(-1)?.settled.push(`state rm ${address}${id === undefined ? "" : `, import ${id}`}`);
    }
  }
  const sent = changesIn(sandbox, [...fixture.killed.requests, ...pending]);
  expectOne(sandbox, recorded(), fixture);
  const last = await core.plan(declared);
  expect({ said: last.said, doing: last.changes.filter(({ action }) => action !== "no-op") }).toEqual({
    said: [],
    doing: [],
  });
  return {
    plan: planned,
    ...(plan.said.some(isRefusal) && { says: "error" }),
    applies: applies.map(({ settled, ...each }) => ({ ...each, ...(settled.length > 0 && { settled }) })),
    sent,
  };
}

describe.each([
  ["plain", engineOutcome],
  ["sealed", engineOutcome],
  ["terraform", terraformOutcome],
] as const)("files of c6bd9028, %s", (form, outcomeOf) => {
  const cases = fixturesOf(form).flatMap((fixture) =>
    agesOf(fixture).map(([age, ageMs]) => ({ ...fixture, fixture, age, ageMs })),
  );
  it.each(isDeriving ? cases : sampled(cases, 4))(
    "$scenario, killed at $point: a run $age settles it as c6bd9028 does",
    async ({ fixture, age, ageMs }) => {
      const outcome = await outcomeOf(fixture, ageMs);
      if (isDeriving) deriveOutcome(fixture, age, outcome);
      expect(outcome).toEqual(expectedOutcome(fixture, age));
    },
  );
});

/**
 * Another project on the machine declares the same resources and applies. The ledger of creates prevents a second
 * object.
 */
async function engineElsewhere(fixture: Fixture): Promise<Outcome> {
  const project = await projectOf(fixture);
  const other = await project.beside(declarationOf(fixture).replace("agency", "elsewhere"));
  const { code, text } = await other.run("apply", "--auto-approve");
  const { sandbox, clock } = project;
  return { code, ...says(codesIn(text)), ...waits(clock), sent: changesIn(sandbox, []), objects: objectsIn(sandbox) };
}

/** Lists lag for one minute. A run that waits for another state's lost create sleeps longer. */
const waits = ({ slept }: TestClock) => slept > 60_000 && { waits: true };

/** Another configuration on the machine declares the same resources and applies. It shares the provider's journal. */
async function terraformElsewhere(fixture: Fixture): Promise<Outcome> {
  const { core, declared, sandbox, clock } = await terraformOf(fixture, "elsewhere");
  const { errors, warnings } = await core.run(declared);
  const says = errors.length > 0 ? "error" : warnings.length > 0 ? "warning" : undefined;
  return { ...(says && { says }), ...waits(clock), sent: changesIn(sandbox, []), objects: objectsIn(sandbox) };
}

describe.each([
  ["plain", engineElsewhere],
  ["terraform", terraformElsewhere],
] as const)("files of c6bd9028, %s, with another state on the machine", (form, outcomeOf) => {
  const cases = fixturesOf(form).filter(({ scenario, point }) =>
    /^(?:order|server|webhook|domain) (?:intent|lost|id)$/.test(`${scenario} ${point}`),
  );
  it.each(isDeriving ? cases : sampled(cases, 3))(
    "$scenario, killed at $point: the run of the other state ends as with c6bd9028",
    async (fixture) => {
      const outcome = await outcomeOf(fixture);
      if (isDeriving) deriveOutcome(fixture, "elsewhere", outcome);
      expect(outcome).toEqual(expectedOutcome(fixture, "elsewhere"));
    },
  );
});
