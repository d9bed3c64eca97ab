import { describe, expect, it } from "vitest";
import type { Plan, ResourceState, State } from "../../../src/core/model/index.ts";
import { forgetEnded, withFirstSuspensions } from "../../../src/project/first-seen.ts";
import type { Providers } from "../../../src/project/providers.ts";
import { change, plan } from "../report/builders.ts";

const SITE = 'hosting_service.site["my shop"]';
const SINCE = "2026-11-21T10:00:00.000Z";

/** A store that has recorded each of these names. */
function noted(...names: string[]) {
  const forgotten: string[] = [];
  const store = {
    notes: async (list: string) => names.map((name) => ({ list, name, value: SINCE })),
    forget: async (notes: readonly { readonly name: string }[]) => forgotten.push(...notes.map(({ name }) => name)),
  };
  return { forgotten, providers: { servers: () => [{ store }] } as unknown as Providers };
}

const stateOf = (mark: ResourceState["private"]): State => {
  const one = { address: SITE, provider: "default", schemaVersion: 0, attributes: {}, sensitive: [], dependencies: [] };
  return { lineage: "l", serial: 1, resources: new Map([[SITE, { ...one, private: mark }]]) };
};

describe("the first time of a suspension", () => {
  it.each([
    ["from a status", [`offline ${SITE}`], {}, { since: SINCE }],
    ["from an apply, if both have recorded it", [`offline ${SITE}`], { since: "2026-11-20" }, { since: "2026-11-20" }],
    ["of no declared suspension", [`offline ${SITE}`], { declared: true }, { declared: true }],
    ["of no other condition", [`unpaid ${SITE}`, `drift suspended ${SITE}`], {}, {}],
  ] as const)("is %s", async (_, names, suspended, then) => {
    const mark = Object.keys(suspended).length === 0 ? {} : { suspended };
    const { resources } = await withFirstSuspensions(stateOf(mark), noted(...names).providers);
    expect(resources.get(SITE)?.private.suspended ?? {}).toEqual(then);
  });

  it("is forgotten after its end, also for an address with a space", async () => {
    const { forgotten, providers } = noted(`offline ${SITE}`, "offline hosting_service.other");
    const ended: Plan = { ...plan([change({ address: SITE })]), lineage: "l" };
    await forgetEnded({ plan: ended, providers });
    expect(forgotten).toEqual([`offline ${SITE}`]);
  });
});
