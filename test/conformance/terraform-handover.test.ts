/**
 * Grants and webhooks that move to another address in one apply of a modelled Terraform: by a swap, a shifted list, a
 * rename, or together with a change. Each move runs undisturbed, killed before each effect, with its steps in the
 * opposite order, and by a saved plan.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/model/index.ts";
import { LONG, sampled } from "../reliability/support/long.ts";
import { type Declarations, TerraformCore } from "../support/terraform-core.ts";
import { Life, type Machine } from "../support/terraform-core-process.ts";
import { closeMachine, startMachine } from "./terraform-life.ts";

/** Values by address: a letter is the natural key, a `+` adds another value. */
type Layout = Readonly<Record<string, string>>;

const MOVES: readonly (readonly [name: string, before: Layout, after: Layout, changes: number])[] = [
  ["swap", { one: "a", two: "b" }, { one: "b", two: "a" }, 0],
  ["rotation of three", { one: "a", two: "b", three: "c" }, { one: "b", two: "c", three: "a" }, 0],
  ["list without its first", { "0": "a", "1": "b", "2": "c" }, { "0": "b", "1": "c" }, 1],
  ["list with a new first", { "0": "a", "1": "b" }, { "0": "c", "1": "a", "2": "b" }, 1],
  ["rename", { old: "a" }, { new: "a" }, 0],
  ["rename of each", { "0": "a", "1": "b" }, { a: "a", b: "b" }, 0],
  ["swap with another value", { one: "a", two: "b+" }, { one: "b", two: "a+" }, 4],
];

/** Options of the apply. */
const WAYS: readonly (readonly [
  name: string,
  way: { readonly parallelism?: number; readonly first?: boolean; readonly fresh?: boolean },
])[] = [
  ["that sends only what changes in the account", {}],
  ["with create_before_destroy", { first: true }],
  ["of one instance after the other", { parallelism: 1 }],
  ["on a fresh runner", { fresh: true }],
];

/** `npm test` takes half of the options for one move, and the other half for the next move. */
let turn = 0;

interface Subject {
  readonly type: "hosting_grant" | "hosting_webhook";
  config(value: string): JsonObject;
  /** Returns the objects of the account in the format of a layout. */
  live(machine: Machine): readonly string[];
}

const SUBJECTS: readonly Subject[] = [
  {
    type: "hosting_grant",
    config: (value) => ({
      service_id: "1003",
      email: `${value.charAt(0)}@acme.example`,
      permission: value.endsWith("+") ? "manage" : "view",
    }),
    live: ({ sandbox }) =>
      sandbox.control
        .list("grants")
        .map(({ email, permission }) => `${email.charAt(0)}${permission === "manage" ? "+" : ""}`)
        .sort(),
  },
  {
    type: "hosting_webhook",
    // For a webhook, another value would change the natural key.
    config: (value) => ({ url: `https://${value.charAt(0)}.example/hook`, events: ["invoice.paid"] }),
    live: ({ sandbox }) =>
      sandbox.control
        .list("webhooks")
        .map(({ url }) => new URL(url).hostname.charAt(0))
        .sort(),
  },
];

interface Begun {
  readonly machine: Machine;
  readonly core: TerraformCore;
  changesSent(): string[];
}

async function begin(declared: Declarations): Promise<Begun> {
  const machine = await startMachine();
  machine.sandbox.control.seedServices({ count: 1 });
  const core = new TerraformCore(machine);
  const { errors } = await core.run(declared);
  expect(errors).toEqual([]);
  const changesSent = () => {
    const sent = machine.sandbox.control.requests().filter(({ method }) => method !== "GET");
    machine.sandbox.control.clearRequests();
    return sent.map(({ method }) => method);
  };
  changesSent();
  return { machine, core, changesSent };
}

describe.each(SUBJECTS)("$type", ({ type, config, live }) => {
  const declare = (layout: Layout, createBeforeDestroy = false): Declarations =>
    Object.fromEntries(
      Object.entries(layout).map(([name, value]) => [
        `${type}.${name}`,
        { type, config: config(value), createBeforeDestroy },
      ]),
    );
  const moves = MOVES.filter(([name]) => type === "hosting_grant" || name !== "swap with another value");

  /** Checks that every address contains its declared object with its secret, and that no object is left over. */
  async function expectDone({ machine, core }: Begun, layout: Layout): Promise<void> {
    expect(live(machine)).toEqual(Object.values(layout).sort());
    machine.clock.advance(600_000);
    const plan = await core.plan(declare(layout));
    expect({
      said: plan.said.map(({ address, summary }) => `${address} ${summary}`),
      actions: plan.changes.filter(({ action }) => action !== "no-op"),
    }).toEqual({
      said: [],
      actions: [],
    });
    const ids = [...core.state.current.values()].map(({ attributes }) => attributes.id);
    expect(new Set(ids).size).toBe(Object.keys(layout).length);
    if (type !== "hosting_webhook") return;
    const secrets = new Map(machine.sandbox.control.list("webhooks").map(({ id, secret }) => [String(id), secret]));
    for (const { attributes } of core.state.current.values())
      expect(attributes.secret, String(attributes.id)).toBe(secrets.get(String(attributes.id)));
  }

  describe.each(moves)("%s", (_, before, after, changes) => {
    const nth = turn++;

    it.each(sampled(WAYS, 2, nth))("converges in one apply %s", async (_, { first, fresh, ...options }) => {
      const begun = await begin(declare(before, first));
      if (fresh) begun.machine.loseStore();
      const { errors } = await begun.core.run(declare(after, first), options);
      expect(errors).toEqual([]);
      // A fresh runner has no secret to move.
      if (!fresh) expect(begun.changesSent()).toHaveLength(changes);
      await expectDone(begun, after);
    });

    it("converges in one apply of a saved plan, whose steps come in the opposite order", async () => {
      const begun = await begin(declare(before));
      const plan = await begun.core.plan(declare(after));
      const said = await begun.core.apply({ ...plan, changes: plan.changes.toReversed() }, declare(after), new Life());
      expect(said.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(begun.changesSent()).toHaveLength(changes);
      await expectDone(begun, after);
    });

    it.each(sampled([false, true], 2, nth))(
      "converges in two applies after a kill before any effect (create first: %s)",
      async (first) => {
        const effects = await (async () => {
          const begun = await begin(declare(before, first));
          const life = new Life();
          await begun.core.run(declare(after, first), { life });
          await closeMachine(begun.machine);
          return life.effects;
        })();
        const failures: string[] = [];
        for (const [at, effect] of effects.entries()) {
          if (!LONG && at !== (nth * 5) % effects.length && at !== (nth * 5 + 3) % effects.length) continue;
          const begun = await begin(declare(before, first));
          try {
            await begun.core.run(declare(after, first), { life: new Life(at + 1) });
            await begun.machine.calm();
            const lost = Object.values(before).filter((value) => Object.values(after).includes(value));
            if (!first && changes === 0) expect(live(begun.machine), "access during the kill").toEqual(lost.sort());
            for (let run = 1; run <= 2; run++) await begun.core.run(declare(after, first));
            await expectDone(begun, after);
          } catch (error) {
            failures.push(`${at} ${effect}: ${error instanceof Error ? error.message : error}`);
          }
          await closeMachine(begun.machine);
        }
        expect(failures).toEqual([]);
      },
    );
  });
});
