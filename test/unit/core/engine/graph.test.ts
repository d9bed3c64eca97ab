import { describe, expect, it } from "vitest";
import { addressIndex, blockersOf, dependenciesOf, narrow } from "../../../../src/core/engine/dependencies.ts";
import type { Change, ChangeActions } from "../../../../src/core/model/index.ts";
import { declared, desiredOf, recorded, stateOf } from "../../../support/subjects.ts";

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

describe("blockers", () => {
  const change = (address: string, actions: ChangeActions, dependsOn: readonly string[] = []) =>
    ({ address, actions, dependsOn }) as unknown as Change;

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
      "a removal does not wait for a change of what it refers to",
      change(WWW, ["update"]),
      change(GRANT, ["delete"], [WWW]),
      { [WWW]: [], [GRANT]: [] },
    ],
  ])("%s", (_, first, second, expected) => {
    expect(Object.fromEntries(blockersOf([first, second]))).toEqual(expected);
  });

  it("of a resource name are all its instances", () => {
    const blockers = blockersOf([
      change(GRANT, ["create"]),
      change(OTHER, ["create"]),
      change(MOVE, ["create"], ["hosting_grant.www"]),
    ]);
    expect(blockers.get(MOVE)).toEqual([GRANT, OTHER]);
  });

  it("are never a change itself, of whose resource it is an instance", () => {
    const blockers = blockersOf([change(GRANT, ["create"], ["hosting_grant.www"]), change(OTHER, ["create"])]);
    expect(blockers.get(GRANT)).toEqual([OTHER]);
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

  it("that do not exist are refused, with the nearest that does", () => {
    expect(() => chosen("hosting_service.tow")).toThrow(/hosting_service\.tow.*Did you mean "hosting_service\.two"/);
  });
});
