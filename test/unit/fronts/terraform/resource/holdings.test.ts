import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../../../src/core/local/index.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { Holdings } from "../../../../../src/fronts/terraform/resource/holdings.ts";
import { testClock } from "../../../../support/clock.ts";

const kind = terraformKind("hosting_service");
const www = { id: "1001", domain: "www.acme.example" };
const shop = { id: "1002", domain: "shop.acme.example" };
const remote = (attributes: typeof www) => ({ id: attributes.id, attributes });

/** A machine on which processes of the provider run one after the other. */
function machine() {
  const clock = testClock();
  const store = new MemoryStore({ clock });
  let runs = 0;
  const start = (mark = "here") => {
    clock.advance(1_000);
    const place = { mark, label: `state ${mark}` };
    const onWarning = ({ summary }: { summary: string }) => {
      throw new Error(summary);
    };
    return new Holdings({ store, place, run: `run ${runs++}`, clock, onWarning });
  };
  return { store, start };
}

describe("the holdings of a state", () => {
  it("are known to the next process, and no longer firm after a plan that does not see them", async () => {
    const { start } = machine();
    const first = start();
    for (const one of [www, shop]) first.read(kind, one, {});
    await first.end();
    const second = start();
    expect(await second.findHolder(kind, remote(www))).toMatchObject({ isShown: false, instances: 1 });
    second.read(kind, shop, {});
    await second.end();
    const third = start();
    expect(await third.findHolder(kind, remote(www))).toBeUndefined();
    expect(await third.findHolder(kind, remote(shop))).toMatchObject({ isShown: false });
  });

  it("stay firm after an apply, which sees only what changes", async () => {
    const { start } = machine();
    const plan = start();
    plan.read(kind, www, {});
    await plan.end();
    const apply = start();
    apply.applies();
    apply.add(kind, shop, {});
    await apply.end();
    const next = start();
    for (const one of [www, shop]) expect(await next.findHolder(kind, remote(one))).toBeDefined();
  });

  it("count the instances of one object, for the process that destroys one of them", async () => {
    const { start } = machine();
    const plan = start();
    for (const _ of ["a", "b"]) plan.read(kind, www, {});
    await plan.end();
    const apply = start();
    apply.applies();
    apply.show(kind, www);
    await apply.load();
    expect(apply.holderOf(kind, remote(www))).toMatchObject({ instances: 2 });
  });

  it("do not have an object that is only planned for an import", async () => {
    const { start } = machine();
    for (const _ of ["plan", "apply"]) {
      const run = start();
      expect(await run.holderOfImported(kind, www)).toBeUndefined();
      run.plan(kind, www, {}, "stays");
      await run.end();
    }
  });

  it("count fewer instances after a plan of the whole state that keeps the object, or after one that only reads", async () => {
    const { start } = machine();
    const count = async (shows: readonly (typeof www)[], plan?: "leaves" | "stays") => {
      const run = start();
      for (const one of shows) run.read(kind, one, {});
      if (plan !== undefined) for (const one of shows) run.plan(kind, one, {}, plan);
      await run.end();
      const next = start();
      next.show(kind, www);
      await next.load();
      return next.holderOf(kind, remote(www))?.instances;
    };
    expect(await count([www, www, shop], "stays")).toBe(2);
    expect(await count([www], "stays")).toBe(2);
    expect(await count([www, shop], "leaves")).toBe(2);
    expect(await count([www, shop], "stays")).toBe(1);
    expect(await count([www, www, shop], "leaves")).toBe(2);
    expect(await count([www, shop])).toBe(1);
  });

  it("allow the import of what left the state after a plan, not after an import that reads what is declared", async () => {
    const { start } = machine();
    const plan = start();
    for (const one of [www, shop]) plan.read(kind, one, {});
    await plan.end();
    for (const show of [true, false]) {
      const refused = start();
      refused.read(kind, shop, {});
      if (show) refused.show(kind, www);
      expect(await refused.holderOfImported(kind, www)).toMatchObject({ isShown: show });
      await refused.end();
    }
    const next = start();
    next.read(kind, shop, {});
    await next.end();
    expect(await start().holderOfImported(kind, www)).toBeUndefined();
  });

  it("name the other state that has an object", async () => {
    const { start } = machine();
    for (const mark of ["here", "there"]) {
      const run = start(mark);
      run.read(kind, www, {});
      await run.end();
    }
    const here = start();
    expect((await here.elsewhere(kind, www))?.place.label).toBe("state there");
    expect(await here.elsewhere(kind, shop)).toBeUndefined();
  });
});
