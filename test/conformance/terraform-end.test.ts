/** End of each kind behind Terraform: deleted if the API has a DELETE, otherwise by the recorded deletion_policy. */
import { describe, expect, it } from "vitest";
import { type Kind, kinds } from "../../src/core/kinds/index.ts";
import type { JsonObject } from "../../src/core/model/index.ts";
import { type Subject, startMachine, subjectOf } from "./terraform-life.ts";

async function created(
  kind: Kind,
  config: JsonObject = {},
  machine?: Awaited<ReturnType<typeof startMachine>>,
): Promise<Subject & { readonly id: number }> {
  const subject = await subjectOf(kind, machine);
  await subject.apply(subject.declared(subject.config(config)));
  const [id = 0] = subject.made();
  subject.sent();
  // List lag has ended.
  subject.machine.clock.advance(60_000);
  return Object.assign(subject, { id });
}

const deleted = [...kinds.values()].filter(({ removal }) => removal === "delete");
const kept = [...kinds.values()].filter(({ removal }) => removal === "policy");

describe.each(deleted)("$type", (kind) => {
  it.each(["a block that was removed", "terraform destroy"])("is deleted: %s", async (how) => {
    const subject = await created(kind);
    const destroy = how === "terraform destroy";
    const outcome = await subject.apply(destroy ? subject.declared() : {}, { destroy });
    expect(outcome.actions).toEqual({ [subject.address]: "delete" });
    expect(outcome.said).toEqual([]);
    expect(subject.changesSent()).toEqual([expect.stringMatching(/^DELETE /)]);
    expect(subject.made()).toEqual([]);
    expect(subject.core.state.current.size).toBe(0);
    expect(subject.machine.noted()).toEqual([]);
  });

  it("is deleted although it was gone already", async () => {
    const subject = await created(kind);
    subject.machine.sandbox.control.remove(subject.sample.collection, subject.id);
    await subject.apply({}, { refresh: false });
    expect(subject.changesSent()).toEqual([expect.stringMatching(/^DELETE /)]);
    expect(subject.core.state.current.size).toBe(0);
  });

  it.each([{ deleted_at: "2026-11-01T00:00:00Z" }, { status: "deleted" }])(
    "is created again, and leaves the state, where the host keeps its row with %j",
    async (ended) => {
      const of = kind.type.replace("hosting_", "");
      const machine = await startMachine({ rendering: { kinds: { [of]: { ended } } } });
      const subject = await created(kind, {}, machine);
      const { control } = machine.sandbox;
      control.remove(subject.sample.collection, subject.id);
      const again = await subject.core.run(subject.declared());
      expect(again.actions).toEqual({ [subject.address]: "create" });
      expect(again.said.map(({ summary }) => summary)).toContainEqual(
        expect.stringMatching(/ (?:was deleted on|is "deleted")/),
      );
      expect(subject.made()).toHaveLength(1);
      machine.clock.advance(60_000);
      for (const id of subject.made()) control.remove(subject.sample.collection, id);
      subject.sent();
      const gone = await subject.core.run({}, { refresh: false });
      expect([gone.errors, gone.said]).toEqual([[], []]);
      expect(subject.core.state.current.size).toBe(0);
    },
  );

  it("leaves the state automatically when it is gone", async () => {
    const subject = await created(kind);
    subject.machine.sandbox.control.remove(subject.sample.collection, subject.id);
    const outcome = await subject.apply({});
    expect(outcome.actions).toEqual({});
    expect(subject.changesSent()).toEqual([]);
    expect(subject.core.state.current.size).toBe(0);
  });

  it("stays in the state when it cannot be deleted, and is deleted later", async () => {
    const subject = await created(kind);
    const { control } = subject.machine.sandbox;
    control.addFault({ method: "DELETE", path: "/*", phase: "before", status: 403 });
    const outcome = await subject.core.run({});
    expect(outcome.errors).toHaveLength(1);
    expect([...subject.core.state.current.values()]).toEqual([expect.objectContaining({ tainted: false })]);
    await subject.apply({});
    expect(subject.made()).toEqual([]);
    expect(subject.core.state.current.size).toBe(0);
  });
});

describe.each(kept)("$type", (kind) => {
  it.each(["a block that was removed", "terraform destroy"])("is not released automatically: %s", async (how) => {
    const subject = await created(kind);
    const before = subject.core.state;
    const destroy = how === "terraform destroy";
    const outcome = await subject.core.run(destroy ? subject.declared() : {}, { destroy });
    expect(outcome.errors).toHaveLength(1);
    expect(outcome.errors[0]?.detail).toContain('deletion_policy = "forget"');
    expect(outcome.errors[0]?.detail).not.toMatch(/hostform|deletion_policy:/);
    expect(subject.changesSent()).toEqual([]);
    expect(subject.core.state).toEqual(before);
  });

  const policies = kind.suspendSteps === undefined ? ["forget"] : ["forget", "suspend"];
  it.each(policies)("leaves the state by deletion_policy %s, which is recorded without a request", async (policy) => {
    const subject = await created(kind);
    await subject.apply(subject.declared(subject.config({ deletion_policy: policy })));
    expect(subject.changesSent()).toEqual([]);
    expect(subject.core.attributes(subject.address).deletion_policy).toBe(policy);
    const outcome = await subject.apply({});
    // Terraform prints "destroyed". The provider's warning describes the real effect, in the plan and in the apply.
    const effect = policy === "suspend" ? /the service goes offline$/ : /stays in the account/;
    expect(outcome.said).toMatchObject(
      [1, 2].map(() => ({ severity: "warning", summary: expect.stringMatching(effect) })),
    );
    expect(subject.changesSent()).toEqual(policy === "suspend" ? [expect.stringMatching(/suspend$/)] : []);
    expect(subject.core.state.current.size).toBe(0);
    expect(subject.made()).toEqual([subject.id]);
    expect(subject.machine.noted()).toEqual([]);
  });

  it.each(policies)(
    "that was released (%s) is not adopted automatically, nor created a second time",
    async (policy) => {
      const subject = await created(kind, { deletion_policy: policy });
      await subject.apply({}, { refresh: false });
      subject.sent();
      const outcome = await subject.core.run(subject.declared());
      expect(outcome.errors).toHaveLength(1);
      expect(subject.made()).toEqual([subject.id]);
      expect(subject.core.state.current.size).toBe(0);
      if (kind.list !== undefined) expect(subject.changesSent()).toEqual([]);
    },
  );

  if (kind.list !== undefined && kind.creation === "keyed") {
    it("that has ended leaves the state whatever its policy is", async () => {
      const subject = await created(kind);
      subject.machine.sandbox.control.change(subject.sample.collection, subject.id, { status: "terminated" });
      await subject.apply({});
      expect(subject.changesSent()).toEqual([]);
      expect(subject.core.state.current.size).toBe(0);
    });

    it("that is merely not found stays where its policy is to prevent: another account answers so, too", async () => {
      const subject = await created(kind);
      subject.machine.sandbox.control.remove(subject.sample.collection, subject.id);
      const outcome = await subject.core.run({});
      expect(outcome.errors).toEqual([expect.objectContaining({ detail: expect.stringContaining("another account") })]);
      expect(subject.core.state.current.size).toBe(1);
    });
  }

  if (kind.suspendSteps !== undefined) {
    it("is not suspended before it is live, and is once it is, although the state has the old status", async () => {
      const subject = await subjectOf(kind, await startMachine({ autoPay: false }));
      await subject.apply(subject.declared(subject.config({ deletion_policy: "suspend" })));
      subject.sent();
      const outcome = await subject.core.run({});
      expect(outcome.errors).toEqual([expect.objectContaining({ detail: expect.stringContaining("not live") })]);
      expect(subject.changesSent()).toEqual([]);
      expect(subject.core.state.current.size).toBe(1);

      const { control } = subject.machine.sandbox;
      for (const { id } of control.list("invoices")) control.payInvoice(id);
      // Terraform plans a removal before it refreshes the instance.
      const live = await subject.core.run({}, { refresh: false });
      expect(live.errors).toEqual([]);
      expect(subject.changesSent()).toEqual([expect.stringMatching(/^POST .*suspend$/)]);
      expect(subject.core.state.current.size).toBe(0);
    });
  }
});
