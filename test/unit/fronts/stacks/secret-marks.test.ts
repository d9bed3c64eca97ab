import { describe, expect, it } from "vitest";
import { plan } from "../../../../src/core/engine/index.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import type { Observation } from "../../../../src/core/lifecycle/index.ts";
import type { State } from "../../../../src/core/model/index.ts";
import { START } from "../../../support/clock.ts";
import { recorded, stateOf } from "../../../support/subjects.ts";
import { desiredOf, PROVIDER } from "./stacks.ts";

const account = (name: string) => ({ name, deletion_policy: "forget" });
const STACK = {
  provider: PROVIDER,
  variable: { s: { type: "string", sensitive: true, default: "hunter" } },
  resource: {
    hosting_client_account: {
      first: account("${upper(var.s)}"),
      second: account("${lower(hosting_client_account.first.name)}x"),
      third: account("${hosting_client_account.second.name}y"),
      open: account('${hosting_client_account.first.currency == null ? "a" : "b"}'),
    },
  },
};
const FIRST = "hosting_client_account.first";

function planned(state: State, over: object = {}) {
  const desired = desiredOf({ ...STACK, ...over });
  const observations = new Map<string, Observation>(
    desired.resources.map(({ address }) => {
      const attributes = state.resources.get(address)?.attributes;
      return [
        address,
        attributes ? { status: "present", attributes, phase: "live" } : { status: "absent", matches: [] },
      ];
    }),
  );
  const observed = { observations, plans: new Map() };
  return plan({
    desired,
    state,
    observed,
    kinds,
    env: {},
    mode: "apply",
    reorder: new Set(),
    now: START,
    readRequests: 0,
  });
}

/** As in Terraform, a value derived from a secret stays secret in the attributes of other resources. */
describe("a secret that one resource passes to another", () => {
  it("stays secret, and no other value becomes secret", () => {
    const { changes } = planned(stateOf());
    const secret = changes.filter(({ sensitive }) => sensitive.includes("name")).map(({ address }) => address);
    expect(secret).toEqual([FIRST, "hosting_client_account.second", "hosting_client_account.third"]);
  });

  it("stays secret if it comes from the state", () => {
    const state = stateOf(recorded(FIRST, { id: "1", name: "HUNTER" }, { sensitive: ["name"] }));
    const { changes } = planned(state);
    expect(changes.find(({ address }) => address.endsWith("second"))?.sensitive).toContain("name");
  });

  it("stays secret through a data source", () => {
    const data = { hosting_domain_availability: { d: { domains: ["${var.s}.example"] } } };
    const output = { o: { value: "${data.hosting_domain_availability.d.domains}" } };
    expect(planned(stateOf(), { data, output }).diagnostics).toMatchObject([{ code: "config.secret" }]);
    const answers = { o: { value: "${data.hosting_domain_availability.d.all_available}" } };
    expect(planned(stateOf(), { data, output: answers }).diagnostics).toEqual([]);
  });

  it("is not shown by an output", () => {
    const output = { o: { value: "${lower(hosting_client_account.first.name)}" } };
    expect(planned(stateOf(), { output }).diagnostics).toMatchObject([{ severity: "error", code: "config.secret" }]);
    const reported = { o: { ...output.o, sensitive: true } };
    expect(planned(stateOf(), { output: reported }).diagnostics).toEqual([]);
  });
});
