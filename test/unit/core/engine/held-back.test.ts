import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holdBack } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { type Change, type Code, errorOf, isNoOp, warningOf } from "../../../../src/core/model/index.ts";
import { changeOf } from "../../../support/changes.ts";

const change = (name: string, dependsOn: readonly string[] = [], over: Partial<Change> = {}) =>
  changeOf(
    "hosting_webhook",
    { url: `https://${name}.example`, events: [] },
    {
      address: `hosting_webhook.${name}`,
      actions: ["update"],
      before: {},
      dependsOn: dependsOn.map((other) => `hosting_webhook.${other}`),
      ...over,
    },
  );
const refused = (name: string, code: Code = "plan.immutable") =>
  errorOf(code, "no", { address: `hosting_webhook.${name}` });
const names = (addresses: readonly string[]) => addresses.map((address) => address.slice("hosting_webhook.".length));
const NOBODY = new Set<string>();

/** Returns each skipped change with the resource that blocks it. */
function held(...given: Parameters<typeof holdBack>) {
  return holdBack(...given).held.map(({ address, because }) => names([address, because]).join(" by "));
}

describe("the changes that an error of one resource blocks", () => {
  it("include its own change and all dependent changes", () => {
    const changes = [change("a"), change("b", ["a"]), change("c", ["b"]), change("d")];
    expect(held(changes, [refused("a")], NOBODY, kinds)).toEqual(["a by a", "b by a", "c by a"]);
    expect(held(changes, [], new Set(["hosting_webhook.b"]), kinds)).toEqual(["b by b", "c by b"]);
  });

  it("include changes that wait for a removal, which waits for its dependents", () => {
    const removal = { actions: ["delete"], after: null, removal: "delete" } as const;
    const changes = [change("a", [], removal), change("b", ["a"], removal)];
    expect(held(changes, [refused("b")], NOBODY, kinds)).toEqual(["a by b", "b by b"]);
    expect(held(changes, [refused("a")], NOBODY, kinds)).toEqual(["a by a"]);
  });

  it("become empty: no request, no price, no import", () => {
    const order = change("a", [], { actions: ["create"], before: null, importing: { id: "7" }, requests: 3 });
    const [kept] = holdBack([order], [refused("a")], NOBODY, kinds).changes;
    expect(kept).toMatchObject({ actions: ["no-op"], before: null, after: null, requests: 0 });
    expect(kept && isNoOp(kept)).toBe(true);
  });

  it.each<[Code, boolean]>([
    ["plan.exists", true],
    ["plan.prevented", true],
    ["api.server", true],
    ["secret.output", true],
    ["guard.removals", false],
    ["config.duplicate", false],
    ["state.stranger", false],
    ["account.double", false],
  ])("are blocked by %s of one resource: %s", (code, isHeld) => {
    expect(held([change("a")], [refused("a", code)], NOBODY, kinds)).toHaveLength(isHeld ? 1 : 0);
  });

  it("are blocked neither by a warning nor by an error without an address", () => {
    const found = [warningOf("plan.exists", "?", { address: "hosting_webhook.a" }), errorOf("plan.exists", "no")];
    expect(held([change("a")], found, NOBODY, kinds)).toEqual([]);
  });

  it("are named once for each cause, and an error replaces the message about its own resource", () => {
    const changes = [change("a"), change("b", ["a"]), change("c")];
    const unread = new Set(["hosting_webhook.c"]);
    const { diagnostics } = holdBack(changes, [refused("a")], unread, kinds);
    expect(diagnostics).toMatchObject([
      { code: "plan.held_back", address: "hosting_webhook.a", detail: expect.stringContaining("hosting_webhook.b") },
      { code: "plan.held_back", address: "hosting_webhook.c", detail: "The API did not show hosting_webhook.c." },
    ]);
    expect(holdBack([change("a")], [refused("a")], NOBODY, kinds).diagnostics).toEqual([]);
  });

  it("are exactly those that depend on the failed resource, whatever the graph", () => {
    const graph = fc
      .array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 })
      .map((lists) => lists.map((on, at) => on.filter((other) => other < at)));
    fc.assert(
      fc.property(graph, fc.nat(7), (lists, root) => {
        const changes = lists.map((on, at) => change(String(at), on.map(String)));
        const reaches = (at: number): boolean => at === root || (lists[at] ?? []).some(reaches);
        const expected = lists.flatMap((_, at) => (reaches(at) ? [String(at)] : []));
        expect(
          names(holdBack(changes, [refused(String(root))], NOBODY, kinds).held.map(({ address }) => address)),
        ).toEqual(expected);
      }),
    );
  });
});
