import { describe, expect, it } from "vitest";
import {
  addressIndex,
  blockersOf,
  dependenciesOf,
  narrow,
  ReadyQueue,
} from "../../../../src/core/engine/dependencies.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Change, ChangeActions } from "../../../../src/core/model/index.ts";
import { declared, desiredOf, liveGrant, recorded, stateOf } from "../../../support/subjects.ts";

const WWW = "hosting_service.www";
const GRANT = 'hosting_grant.www["a@acme.example"]';
const OTHER = 'hosting_grant.www["b@acme.example"]';
const MOVE = "hosting_migration_request.www";

describe("dependencies", () => {
  const index = addressIndex([WWW, GRANT, OTHER, MOVE]);

  it.each([
    ["a template", { order_id: "${hosting_service.www.id}" }, [], [WWW]],
    ["a template in a map", { questions: { a: ["x ${hosting_service.www.id}"] } }, [], [WWW]],
    ["depends_on", {}, [WWW], [WWW]],
    ["a resource name means all its instances", {}, ["hosting_grant.www"], [GRANT, OTHER]],
    ["each once", { order_id: "${hosting_service.www.id}${hosting_service.www.domain}" }, [WWW], [WWW]],
    ["an unknown name is none", { order_id: "${hosting_service.other.id}" }, ["x.y"], []],
    ["itself is none", { domain: "${hosting_migration_request.www.id}" }, [], []],
    ["an environment value is none", { domain: "${env.HOME}" }, [], []],
  ])("by %s", (_, config, dependsOn, expected) => {
    expect(dependenciesOf(declared(MOVE, config, { dependsOn }), index)).toEqual(expected);
  });
});

const change = (address: string, actions: ChangeActions, dependsOn: readonly string[] = []) =>
  ({ address, actions, dependsOn }) as unknown as Change;

describe("blockers", () => {
  it("a create waits for every deletion of its natural key under another address, and for no other deletion", () => {
    const grant = (email: string) => ({ ...liveGrant, email });
    const removal = (address: string, email: string) =>
      ({
        ...change(address, ["delete"]),
        type: "hosting_grant",
        provider: "default",
        removal: "delete",
        before: grant(email),
      }) as Change;
    const made = {
      ...change("hosting_grant.new", ["create"]),
      type: "hosting_grant",
      provider: "default",
      after: grant("A@acme.example"),
      after_unknown: {},
    } as Change;
    const removals = [
      removal("hosting_grant.x", "a@acme.example"),
      removal("hosting_grant.y", "a@acme.example"),
      removal("hosting_grant.z", "b@acme.example"),
    ];
    expect(blockersOf([...removals, made], kinds).get("hosting_grant.new")).toEqual([
      "hosting_grant.x",
      "hosting_grant.y",
    ]);
  });

  it.each([
    [
      "a create waits for what it refers to",
      change(WWW, ["create"]),
      change(GRANT, ["create"], [WWW]),
      { [WWW]: [], [GRANT]: [WWW] },
    ],
    ["an update too", change(WWW, ["update"]), change(GRANT, ["update"], [WWW]), { [WWW]: [], [GRANT]: [WWW] }],
    [
      "a removal comes before that of what it refers to",
      change(WWW, ["forget"]),
      change(GRANT, ["delete"], [WWW]),
      { [WWW]: [GRANT], [GRANT]: [] },
    ],
    [
      "what still refers to something removed goes first",
      change(WWW, ["forget"]),
      change(GRANT, ["update"], [WWW]),
      { [WWW]: [GRANT], [GRANT]: [] },
    ],
    [
      "a replacement waits like a create",
      change(WWW, ["create"]),
      change(GRANT, ["delete", "create"], [WWW]),
      { [WWW]: [], [GRANT]: [WWW] },
    ],
    [
      "a removal waits for an update of what it refers to, which may fail",
      change(WWW, ["update"]),
      change(GRANT, ["delete"], [WWW]),
      { [WWW]: [], [GRANT]: [WWW] },
    ],
  ])("%s", (_, first, second, expected) => {
    expect(Object.fromEntries(blockersOf([first, second]))).toEqual(expected);
  });

  it("of a resource name include all its instances", () => {
    const blockers = blockersOf([
      change(GRANT, ["create"]),
      change(OTHER, ["create"]),
      change(MOVE, ["create"], ["hosting_grant.www"]),
    ]);
    expect(blockers.get(MOVE)).toEqual([GRANT, OTHER]);
  });

  it("never include a change itself if the change is an instance of the named resource", () => {
    const blockers = blockersOf([change(GRANT, ["create"], ["hosting_grant.www"]), change(OTHER, ["create"])]);
    expect(blockers.get(GRANT)).toEqual([OTHER]);
  });
});

describe("the ready changes", () => {
  const grant = (at: number) => `hosting_grant.s${at}["a@acme.example"]`;
  const service = (at: number) => `hosting_service.s${at}`;
  const each = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));
  /** Returns a queue in the order of a plan, which lists each grant before the service that blocks it. */
  const queueOf = (count: number) =>
    new ReadyQueue([
      ...each(count, (at) => change(grant(at), ["create"], [service(at)])),
      ...each(count, (at) => change(service(at), ["create"])),
    ]);
  const any = () => true;

  it("come in the order of the plan; a blocked change becomes ready when all its blockers have ended", () => {
    const queue = queueOf(3);
    expect(each(3, () => queue.take(any)?.address)).toEqual([service(0), service(1), service(2)]);
    queue.ended(service(2));
    queue.ended(service(0));
    expect(each(3, () => queue.take(any)?.address)).toEqual([grant(0), grant(2), undefined]);
    expect([...queue.waiting.keys()]).toEqual([grant(1)]);
  });

  it("exclude changes that may not start yet, and include them later", () => {
    const queue = queueOf(2);
    expect(queue.take(({ address }) => address !== service(0))?.address).toBe(service(1));
    expect(queue.take(any)?.address).toBe(service(0));
  });

  it("are checked once for each change, however many are blocked", () => {
    const asked = (count: number) => {
      const queue = queueOf(count);
      let questions = 0;
      const take = () =>
        queue.take(() => {
          questions += 1;
          return true;
        });
      for (let next = take(); next !== undefined; next = take()) queue.ended(next.address);
      expect(queue.waiting.size).toBe(0);
      return questions;
    };
    expect([asked(100), asked(200)]).toEqual([200, 400]);
  });
});

describe("targets", () => {
  const desired = desiredOf(
    declared(WWW, {}),
    declared(GRANT, { service_id: "${hosting_service.www.id}" }),
    declared(OTHER, { service_id: "${hosting_service.www.id}" }),
    declared("hosting_service.two", {}),
  );
  const state = stateOf(
    recorded(WWW, { id: "1" }),
    recorded("hosting_service.old", { id: "2" }),
    recorded('hosting_grant.old["a"]', { id: "3" }, { dependencies: ["hosting_service.old"] }),
  );
  const chosen = (...targets: string[]) => {
    const { desired: some, state: known } = narrow(desired, state, targets);
    return [some.resources.map(({ address }) => address), [...known.resources.keys()]];
  };

  it.each([
    [
      "nothing: everything",
      [],
      [
        [WWW, GRANT, OTHER, "hosting_service.two"],
        [WWW, "hosting_service.old", 'hosting_grant.old["a"]'],
      ],
    ],
    ["one alone", ["hosting_service.two"], [["hosting_service.two"], []]],
    ["one with what it refers to", [GRANT], [[WWW, GRANT], [WWW]]],
    ["all instances of a name", ["hosting_grant.www"], [[WWW, GRANT, OTHER], [WWW]]],
    [
      "a recorded one with what refers to it",
      ["hosting_service.old"],
      [[], ["hosting_service.old", 'hosting_grant.old["a"]']],
    ],
    ["a recorded one alone", ["hosting_grant.old"], [[], ['hosting_grant.old["a"]']]],
  ])("%s", (_, targets, expected) => {
    expect(chosen(...targets)).toEqual(expected);
  });

  it("that do not exist are rejected with the nearest existing name", () => {
    expect(() => chosen("hosting_service.tow")).toThrow(/hosting_service\.tow is declared or in the state/);
  });
});
