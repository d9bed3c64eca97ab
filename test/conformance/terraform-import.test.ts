/** Attributes that an import withholds from Terraform's state, so that generated configuration takes no control of them. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import type { Kind } from "../../src/core/kinds/kind.ts";
import { type Subject, subjectOf } from "./terraform-life.ts";

const service = kinds.get("hosting_service") as Kind;

/** Imports the sample's service after an external change of its status. */
async function imported(status: "active" | "suspended"): Promise<Subject & { readonly id: number }> {
  const subject = await subjectOf(service);
  await subject.apply();
  const [id = 0] = subject.made();
  const { importId, address } = subject;
  subject.core.forget(address);
  subject.machine.loseStore();
  subject.machine.clock.advance(60_000);
  subject.machine.sandbox.control.change("services", id, { status });
  expect(await subject.core.import(address, service.type, importId)).toEqual([]);
  subject.sent();
  return Object.assign(subject, { id });
}

const suspended = (subject: Subject) => subject.core.attributes(subject.address).suspended;

describe("suspended, after an import", () => {
  it.each(["active", "suspended"] as const)("of a service that is %s, is null until it is declared", async (status) => {
    const subject = await imported(status);
    expect(suspended(subject)).toBeNull();
    await subject.apply();
    await subject.expectNoChanges(undefined, true, status === "suspended");
    const other = status === "active" ? "suspended" : "active";
    subject.machine.sandbox.control.change("services", subject.id, { status: other });
    await subject.apply();
    expect(suspended(subject)).toBeNull();
    expect(subject.changesSent()).toEqual([]);
  });

  it.each<[from: "active" | "suspended", to: boolean, sent: string[]]>([
    ["active", false, []],
    ["active", true, ["suspend"]],
    ["suspended", true, []],
    ["suspended", false, ["unsuspend"]],
  ])("of a service that is %s, is compared with the account when %s is declared", async (from, to, sent) => {
    const subject = await imported(from);
    const declared = subject.declared(subject.config({ suspended: to }));
    const { actions } = await subject.apply(declared);
    expect(actions).toEqual({ [subject.address]: "update" });
    expect(subject.changesSent()).toEqual(sent.map((verb) => `POST /services/${subject.id}/${verb}`));
    expect(suspended(subject)).toBe(to);
    await subject.expectNoChanges(declared);
  });

  it("is known to a destroy, which suspends only what is not suspended", async () => {
    for (const [status, sent] of [
      ["active", 1],
      ["suspended", 0],
    ] as const) {
      const subject = await imported(status);
      await subject.apply(subject.declared(subject.config({ deletion_policy: "suspend" })));
      expect(suspended(subject)).toBeNull();
      const { errors } = await subject.core.run({}, { destroy: true });
      expect(errors).toEqual([]);
      expect(subject.changesSent()).toEqual(Array(sent).fill(`POST /services/${subject.id}/suspend`));
    }
  });

  it("is known to the removal that a replacement begins with", async () => {
    const subject = await imported("suspended");
    await subject.apply(subject.declared(subject.config({ deletion_policy: "suspend" })));
    subject.sent();
    const other = { plan_id: 12, reference: "another", replace_on_change: true, deletion_policy: "suspend" };
    const outcome = await subject.core.run(subject.declared(subject.config(other)));
    expect(outcome.errors).toEqual([]);
    expect(outcome.actions).toEqual({ [subject.address]: "delete-create" });
    expect(subject.changesSent()).toEqual(["POST /services"]);
    expect(suspended(subject)).toBe(false);
  });

  it("stays withheld through an update of another attribute, and of a service that drifted since", async () => {
    const subject = await imported("active");
    subject.machine.sandbox.control.change("services", subject.id, { status: "suspended" });
    const declared = subject.declared(subject.config({ deletion_policy: "forget" }));
    await subject.apply(declared);
    expect(suspended(subject)).toBeNull();
    await subject.expectNoChanges(declared, true, true);
    expect(subject.changesSent()).toEqual([]);
  });
});
