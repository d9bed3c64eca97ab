import { describe, expect, it } from "vitest";
import { DataSources } from "../../../../src/core/engine/data.ts";
import { handovers, rearranged } from "../../../../src/core/engine/handovers.ts";

import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Desired, DesiredResource, JsonObject, ResourceState } from "../../../../src/core/model/index.ts";
import fc from "../../../support/fc.ts";
import {
  declared,
  desiredOf,
  liveGrant,
  liveService,
  liveWebhook,
  recorded,
  stateOf,
} from "../../../support/subjects.ts";

const NOW = Date.parse("2026-11-21T10:00:00Z");

/** Returns the moves as `from -> to`, and the diagnostics. */
function found(
  resources: readonly DesiredResource[],
  records: readonly ResourceState[],
  { isWithin = (_: string) => true, ...more }: Partial<Desired> & { isWithin?: (address: string) => boolean } = {},
) {
  const state = stateOf(...records);
  const desired = { ...desiredOf(...resources), ...more };
  const { moves, diagnostics } = handovers({
    desired,
    state,
    kinds,
    env: {},
    data: new DataSources(),
    isWithin,
    now: NOW,
  });
  return {
    moves: moves.map(({ from, to }) => `${from} -> ${to}`).sort(),
    codes: diagnostics.map(({ code, summary }) => `${code}: ${summary}`),
    state: rearranged(state, moves),
  };
}

const grantOf = (address: string, email: string, over: JsonObject = {}) =>
  declared(`hosting_grant.${address}`, { service_id: "1001", email, permission: "view", ...over });
const grantAt = (address: string, id: string, email: string, over: Partial<ResourceState> = {}) =>
  recorded(`hosting_grant.${address}`, { ...liveGrant, id, email }, over);
const hookOf = (address: string, url: string, over: JsonObject = {}) =>
  declared(`hosting_webhook.${address}`, { url: `https://${url}.example`, events: ["invoice.paid"], ...over });
const hookAt = (address: string, id: string, url: string, over: JsonObject = {}) =>
  recorded(`hosting_webhook.${address}`, { ...liveWebhook, id, url: `https://${url}.example`, ...over });
const siteOf = (address: string, domain: string, over: JsonObject = {}, more: Partial<DesiredResource> = {}) =>
  declared(`hosting_service.${address}`, { plan_id: 11, currency: "USD", domain, ...over }, more);
const siteAt = (address: string, id: string, domain: string, over: Partial<ResourceState> = {}) =>
  recorded(`hosting_service.${address}`, { ...liveService, plan_id: 11, id, domain }, over);
const [A, B, C] = ["a@x.example", "b@x.example", "c@x.example"];

describe("an object moves to another address", () => {
  it.each([
    ["index of its list", "s[0]", "s[1]", "s[3]"],
    ["name", "one", "s[1]", "one_former"],
    ["key", 's["one"]', "s[1]", 's["one_former"]'],
  ])(
    "and an address with another declaration, which the API cannot delete, gets a free %s",
    (_, first, second, free) => {
      const { moves, state } = found(
        [siteOf(first, "b.example"), siteOf(second, "c.example"), siteOf("s[2]", "e.example")],
        [siteAt(first, "1", "a.example"), siteAt(second, "2", "b.example"), siteAt("s[2]", "3", "c.example")],
        { isWithin: (address) => !address.includes("_former") && !address.endsWith("[3]") },
      );
      expect(moves).toContain(`hosting_service.${first} -> hosting_service.${free}`);
      expect(state.resources.has("hosting_service.s[2]")).toBe(false);
      expect(state.resources.get(`hosting_service.${free}`)?.attributes.id).toBe("1");
    },
  );

  it("and each of two objects that lose their positions in one list gets a free index", () => {
    const { moves } = found(
      ["b", "x", "d", "y"].map((name, at) => siteOf(`s[${at}]`, `${name}.example`)),
      ["a", "b", "c", "d"].map((name, at) => siteAt(`s[${at}]`, String(at), `${name}.example`)),
    );
    expect(moves).toEqual([
      "hosting_service.s[0] -> hosting_service.s[4]",
      "hosting_service.s[1] -> hosting_service.s[0]",
      "hosting_service.s[2] -> hosting_service.s[5]",
      "hosting_service.s[3] -> hosting_service.s[2]",
    ]);
  });

  it("with its generation, its secret and its pending create", () => {
    const pending = { since: "2026-11-21T09:00:00Z", operation: "createGrant" };
    const { state } = found(
      [siteOf("new", "x.example"), hookOf("new", "x"), grantOf("new", A)],
      [
        siteAt("old", "1001", "x.example", { private: { generation: 3 } }),
        hookAt("old", "201", "x", { secret: "whsec" }),
        recorded("hosting_grant.old", { ...liveGrant, id: null, email: A }, { private: { pending } }),
      ],
    );
    expect(state.resources.get("hosting_service.new")?.private.generation).toBe(3);
    expect(state.resources.get("hosting_webhook.new")?.attributes.secret).toBe("whsec");
    expect(state.resources.get("hosting_grant.new")?.private.pending).toEqual(pending);
  });

  it("although another attribute differs that forces a replacement, if the API can delete the object", () => {
    expect(found([grantOf("new", A, { permission: "manage" })], [grantAt("old", "1", A)]).moves).toHaveLength(1);
  });

  it("and of two objects with one key, the first moves, and the second is deleted", () => {
    const { moves } = found([grantOf("new", A)], [grantAt("x", "1", A), grantAt("y", "2", A)]);
    expect(moves).toEqual(["hosting_grant.x -> hosting_grant.new"]);
  });

  it("after its service, whose id is compared", () => {
    const of = (address: string, service: string, email: string) =>
      grantOf(address, email, { service_id: `\${hosting_service.${service}.id}` });
    const at = (address: string, id: string, service: string, email: string) =>
      recorded(
        `hosting_grant.${address}`,
        { ...liveGrant, id, email, service_id: service },
        { dependencies: ["hosting_service.old"] },
      );
    const { moves, state } = found(
      [of("g", "new", A), siteOf("new", "x.example")],
      [at("h", "1", "1001", A), siteAt("old", "1001", "x.example")],
    );
    expect(moves).toEqual(["hosting_grant.h -> hosting_grant.g", "hosting_service.old -> hosting_service.new"]);
    expect(state.resources.get("hosting_grant.g")?.dependencies).toEqual(["hosting_service.new"]);
  });
});

describe("an object keeps its address", () => {
  it.each([
    ["its own address declares it", [grantOf("a", A), grantOf("b", B)], [grantAt("a", "1", A)]],
    [
      "another service's grant has the same person",
      [grantOf("new", A, { service_id: "1002" })],
      [grantAt("a", "1", A)],
    ],
    ["the other address imports something", [{ ...grantOf("new", A), importId: "7" }], [grantAt("a", "1", A)]],
    ["what is declared has expired", [grantOf("new", A, { expires_at: "2020-01-01" })], [grantAt("a", "1", A)]],
    ["it is in another account", [{ ...grantOf("new", A), provider: "other" }], [grantAt("a", "1", A)]],
    [
      "its own address ignores changes of its key",
      [{ ...siteOf("a", "y.example"), lifecycle: { ignoreChanges: ["domain"] } }, siteOf("b", "x.example")],
      [siteAt("a", "1001", "x.example")],
    ],
    [
      "a paid one would be another plan",
      [siteOf("new", "x.example", { plan_id: 12 })],
      [siteAt("a", "1001", "x.example")],
    ],
    [
      "two services have the domain",
      [siteOf("new", "x.example")],
      [siteAt("a", "1001", "x.example"), siteAt("b", "1002", "x.example")],
    ],
    ["nothing has its key", [grantOf("new", "${hosting_service.none.domain}")], [grantAt("a", "1", A)]],
    [
      "the other address keeps the generation of an order that came to nothing",
      [siteOf("new", "x.example")],
      [siteAt("a", "1001", "x.example"), recorded("hosting_service.new", { id: null }, { private: { generation: 2 } })],
    ],
  ])("if %s", (_, resources, records) => {
    expect(found(resources, records)).toMatchObject({ moves: [], codes: [] });
  });

  it.each([true, false])("if a removed block names the object (destroy: %s)", (destroy) => {
    const removed = [{ from: "hosting_grant.a", destroy }];
    expect(found([grantOf("new", A)], [grantAt("a", "1", A)], { removed }).moves).toEqual([]);
  });
});

describe("the secret of a webhook that moves to another address", () => {
  const written = { secret: null, secret_fingerprint: "sha256:12345678", secret_output: { file: "x.secret" } };

  it.each([
    ["was written where the new address declares it", { secret_output: { file: "x.secret" } }, written, 0],
    ["was written elsewhere", { secret_output: { file: "y.secret" } }, written, 1],
    ["was written, and the new address declares no place", {}, written, 1],
    ["is in the state, and is written after the move", { secret_output: { file: "y.secret" } }, { secret: "whsec" }, 0],
  ])("%s", (_, output, held, errors) => {
    const { moves, codes } = found([hookOf("new", "x", output)], [hookAt("old", "201", "x", held)]);
    expect(moves).toHaveLength(1);
    expect(codes.filter((code) => code.startsWith("secret.output"))).toHaveLength(errors);
  });
});

describe("random declarations and states", () => {
  const names = ["g0", "g1", "g2", "g3", "g4"];
  const keys = [A, B, C, "d@x.example", "e@x.example"];
  const holding = fc
    .tuple(fc.subarray(names), fc.shuffledSubarray(keys, { minLength: 5 }))
    .map(([some, all]) => new Map(some.map((name, at) => [name, all[at] ?? ""])));

  const account = (address: string, name: string) =>
    [
      declared(`hosting_client_account.${address}`, { name }),
      recorded(`hosting_client_account.${address}`, { id: name, name }),
    ] as const;
  const blocks: Readonly<Record<string, (address: string, key: string) => readonly [DesiredResource, ResourceState]>> =
    {
      hosting_grant: (address, key) => [grantOf(address, key), grantAt(address, key, key)],
      hosting_webhook: (address, key) => [hookOf(address, key[0] ?? ""), hookAt(address, key, key[0] ?? "")],
      hosting_client_account: account,
      hosting_service: (address, key) => [
        siteOf(address, `${key[0]}.example`),
        siteAt(address, key, `${key[0]}.example`),
      ],
    };

  it.each(Object.keys(blocks))(
    "result in a permutation that loses no record, and a second search finds no move: %s",
    (type) => {
      const of = blocks[type] as (typeof blocks)[string];
      fc.assert(
        fc.property(holding, holding, (state, wanted) => {
          const declaration = [...wanted].map(([name, key]) => of(name, key)[0]);
          const { state: after, moves } = found(
            declaration,
            [...state].map(([name, key]) => of(name, key)[1]),
          );
          const at = new Map([...after.resources].map(([address, { attributes }]) => [address, attributes.id]));
          expect([...at.values()].sort()).toEqual([...state.values()].sort());
          const held = new Set(state.values());
          for (const [name, key] of wanted) if (held.has(key)) expect(at.get(`${type}.${name}`)).toBe(key);
          // A record that its own address declares does not move. A second search finds no move.
          for (const [name, key] of wanted)
            if (state.get(name) === key) expect(moves.join()).not.toContain(`${type}.${name} ->`);
          expect(found(declaration, [...after.resources.values()]).moves).toEqual([]);
        }),
      );
    },
  );
});
