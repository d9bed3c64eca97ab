import { describe, expect, it } from "vitest";
import { type PlanOptions, plan } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Observation } from "../../../../src/core/lifecycle/index.ts";
import { conditionWarning, type Desired, type State } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import {
  complete,
  declared,
  desiredOf,
  kindOf,
  liveGrant,
  liveService,
  recorded,
  stateOf,
} from "../../../support/subjects.ts";

const WWW = "hosting_service.www";
const GRANT = 'hosting_grant.www["dev@acme.example"]';
const ABSENT: Observation = { status: "absent", matches: [] };
const GONE: Observation = { status: "gone", how: "no longer exists", matches: [] };

const service = declared(WWW, { plan_id: 11, currency: "USD", domain: "www.acme.example" });
const grant = declared(GRANT, {
  service_id: "${hosting_service.www.id}",
  email: "dev@acme.example",
  permission: "view",
});
const liveWww = complete(kindOf("hosting_service"), { ...liveService, plan_id: 11, deletion_policy: "prevent" });
const present = (attributes: typeof liveWww, unlisted?: string): Observation => ({
  status: "present",
  attributes,
  phase: "live",
  ...(unlisted !== undefined && { unlisted }),
});
const live = new Map([
  [WWW, present(liveWww)],
  [GRANT, present(complete(kindOf("hosting_grant"), liveGrant))],
]);
const known = stateOf(recorded(WWW, liveWww), recorded(GRANT, liveGrant, { dependencies: [WWW] }));

function optionsOf(
  desired: Desired,
  state: State,
  observations: ReadonlyMap<string, Observation>,
  over: Partial<PlanOptions> = {},
): PlanOptions {
  return {
    desired,
    state,
    observed: { observations, plans: new Map() },
    kinds,
    env: {},
    mode: "apply",
    reorder: new Set(),
    now: START,
    readRequests: 3,
    ...over,
  };
}

/** Freezes all input of a plan, so that any change of the input throws. */
function frozen<T>(value: T): T {
  if (value instanceof Map || value instanceof Set) for (const item of value.values()) frozen(item);
  if (typeof value === "object" && value !== null && !Object.isFrozen(value) && !(value instanceof Map)) {
    Object.freeze(value);
    for (const item of Object.values(value)) frozen(item);
  }
  return value;
}

const situations: readonly {
  what: string;
  options: PlanOptions;
  expected: readonly string[];
  says?: readonly string[];
}[] = [
  {
    what: "a new service with a grant: the grant's service is known after apply",
    options: optionsOf(
      desiredOf(grant, service),
      stateOf(),
      new Map([
        [WWW, ABSENT],
        [GRANT, ABSENT],
      ]),
    ),
    expected: [`${GRANT} create`, `${WWW} create`],
  },
  {
    what: "nothing changed",
    options: optionsOf(desiredOf(service, grant), known, live),
    expected: [`${GRANT} no-op`, `${WWW} no-op`],
  },
  {
    what: "a gone service: its grant is left alone, not made an error of",
    options: optionsOf(
      desiredOf(service, grant),
      known,
      new Map([
        [WWW, GONE],
        [GRANT, GONE],
      ]),
    ),
    expected: [`${GRANT} no-op`, `${WWW} no-op`],
    says: [`condition.gone ${WWW}`, `apply.skipped ${GRANT}`],
  },
  {
    what: "a gone service whose grant is still listed",
    options: optionsOf(desiredOf(service, grant), known, new Map([...live, [WWW, GONE]])),
    expected: [`${GRANT} no-op`, `${WWW} no-op`],
    says: [`condition.gone ${WWW}`],
  },
  {
    what: "a gone service, ordered again on purpose: its grant is replaced with it",
    options: optionsOf(
      desiredOf(service, grant),
      known,
      new Map([
        [WWW, GONE],
        [GRANT, GONE],
      ]),
      { reorder: new Set([WWW]) },
    ),
    expected: [`${GRANT} create`, `${WWW} create`],
  },
  {
    what: "no longer declared, of a service that cannot be removed",
    options: optionsOf(desiredOf(), known, live),
    expected: [`${GRANT} no-op`, `${WWW} no-op`],
    says: [`plan.prevented ${WWW}`, `plan.held_back ${WWW}`],
  },
  {
    what: "destroy: what is declared counts for nothing",
    options: optionsOf(desiredOf(service, grant), known, live, { mode: "destroy" }),
    expected: [`${GRANT} delete`, `${WWW} no-op`],
    says: [`plan.prevented ${WWW}`],
  },
  {
    what: "a declaration that is wrong is an error, never a removal",
    options: optionsOf(desiredOf(service, declared(GRANT, { ...grant.config, permission: "own" })), known, live),
    expected: [`${WWW} no-op`],
    says: [`config.invalid_value ${GRANT}`],
  },
  {
    what: "another account",
    options: optionsOf(desiredOf({ ...service, provider: "beta" }, grant), known, live),
    expected: [`${GRANT} no-op`, `${WWW} no-op`],
    says: [`plan.immutable ${WWW}`],
  },
];

describe("the plan of several resources", () => {
  it.each(situations)("$what", ({ options, expected, says = [] }) => {
    const { changes, diagnostics, conditions = [] } = plan(options);
    expect(changes.map(({ address, actions }) => `${address} ${actions.join(",")}`)).toEqual(expected);
    expect(
      [...conditions.map(conditionWarning), ...diagnostics].map(({ code, address }) => `${code} ${address}`),
    ).toEqual(says);
  });

  it.each(situations)("is plain JSON and independent of earlier calls: $what", ({ options }) => {
    const first = plan({ ...frozen({ ...options, kinds: undefined }), kinds });
    expect(plan(options)).toEqual(first);
    expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  });

  it("names the dependency of a reference that is known only after the apply", () => {
    const { changes } = plan(situations[0]?.options ?? optionsOf(desiredOf(), stateOf(), new Map()));
    const change = changes.find(({ address }) => address === GRANT);
    expect(change).toMatchObject({
      after: { service_id: null },
      after_unknown: { service_id: true },
      dependsOn: [WWW],
    });
    expect(change?.config).toMatchObject({ service_id: "${hosting_service.www.id}" });
  });

  it("names each planned object that no list shows yet, whatever its change", () => {
    const unlisted = "2026-11-21T09:59:30.000Z";
    const lagging = new Map(live).set(GRANT, present(complete(kindOf("hosting_grant"), liveGrant), unlisted));
    for (const desired of [desiredOf(service, grant), desiredOf(service)])
      expect(plan(optionsOf(desired, known, lagging)).changes.map((change) => change.unlisted)).toEqual([
        unlisted,
        undefined,
      ]);
  });

  it("shows drift of declared and undeclared attributes, and none without a difference", () => {
    const changed = new Map([...live, [WWW, present({ ...liveWww, status: "odd", next_due_date: "2027-01-01" })]]);
    const { drift, changes } = plan(optionsOf(desiredOf(service, grant), known, changed));
    expect(drift).toEqual([
      expect.objectContaining({
        address: WWW,
        type: "hosting_service",
        after: expect.objectContaining({ status: "odd" }),
      }),
    ]);
    expect(changes.every(({ actions }) => actions[0] === "no-op")).toBe(true);
    expect(plan(optionsOf(desiredOf(service, grant), known, live)).drift).toEqual([]);
    expect(plan(optionsOf(desiredOf(), known, new Map([...live, [GRANT, GONE]]))).drift).toEqual([
      expect.objectContaining({ address: GRANT, after: null }),
    ]);
  });
});

describe("a renamed server without a domain while no list shows the server yet", () => {
  const OLD = "hosting_service.old";
  const NEW = "hosting_service.new";
  const server = { plan_id: 31, currency: "USD", deletion_policy: "forget" };
  const liveServer = complete(kindOf("hosting_service"), { ...liveService, ...server, domain: null });
  const at = new Date(START - 10_000).toISOString();
  const codes = (old: Observation, config: object, state = stateOf(recorded(OLD, liveServer))) => {
    const desired = desiredOf(declared(NEW, config as typeof server));
    const observations = new Map([
      [OLD, old],
      [NEW, ABSENT],
    ]);
    const { changes, diagnostics } = plan(optionsOf(desired, state, observations));
    const made = changes.find(({ address }) => address === NEW)?.actions[0];
    return { made, codes: diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code) };
  };

  it("is not ordered again", () => {
    expect(codes(present(liveServer, at), server)).toMatchObject({ made: "no-op", codes: ["plan.lookalike"] });
  });

  it.each<[string, Observation, object]>([
    ["it is gone", GONE, server],
    ["the other one is of another plan", present(liveServer, at), { ...server, plan_id: 32 }],
    ["the other one has a domain", present(liveServer, at), { ...server, domain: "new.acme.example" }],
  ])("does not prevent another order if %s", (_, old, config) => {
    expect(codes(old, config)).toEqual({ made: "create", codes: [] });
  });
});
