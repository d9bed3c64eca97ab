/** Identities of all kinds behind the modelled Terraform, which checks the identity in each response. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../src/core/kinds/index.ts";
import type { JsonObject } from "../../src/core/model/index.ts";
import { closeMachine, type Subject, subjectOf } from "./terraform-life.ts";

const ORIGIN = "http://localhost";

async function created(type: string): Promise<Subject> {
  const subject = await subjectOf(kinds.get(type) ?? expect.fail(type));
  await subject.apply();
  return subject;
}

const identityAt = ({ core, address }: Subject) => core.state.current.get(address)?.identity;

/** Removes the object from the state and from this machine, so that an import can add it again. */
function forget({ core, machine, address }: Subject): void {
  core.forget(address);
  machine.loseStore();
  // The object is older than the list lag.
  machine.clock.advance(120_000);
}

describe.each([...kinds.values()])("the identity of a $type", (kind) => {
  it("is its id, its parent and the origin of the API, and is restored in the state of an older provider", async () => {
    const subject = await created(kind.type);
    const { id, service_id } = subject.core.attributes(subject.address);
    const expected = { id, ...(kind.parent !== undefined && { service_id }), origin: ORIGIN };
    expect(identityAt(subject)).toEqual(expected);
    subject.core.dropIdentities();
    await subject.expectNoChanges();
    expect((await subject.core.plan(subject.declared())).refreshed.current.get(subject.address)?.identity).toEqual(
      expected,
    );
  });

  it("is returned for an object that was deleted outside, also in the state of an older provider", async () => {
    if (kind.list === undefined) return;
    const subject = await created(kind.type);
    const [id = 0] = subject.made();
    subject.machine.sandbox.control.remove(subject.sample.collection, id);
    subject.machine.clock.advance(120_000);
    subject.core.dropIdentities();
    // The model fails without an identity.
    const { said } = await subject.core.plan(subject.declared());
    expect(said.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  it.each([
    ["without an origin", undefined],
    ["with the origin", ORIGIN],
    ["with the URL of the API", `${ORIGIN}/api/v1/`],
  ])("imports the object, %s", async (_, origin) => {
    const subject = await created(kind.type);
    const identity = identityAt(subject) as JsonObject;
    forget(subject);
    const { origin: own, ...ids } = identity;
    const said = await subject.core.import(subject.address, kind.type, { ...ids, ...(origin && { origin }) });
    expect(said).toEqual([]);
    expect(identityAt(subject)).toEqual({ ...ids, origin: own });
    expect(subject.core.attributes(subject.address).id).toBe(ids.id);
  });

  it.each(["https://other.example", "not a URL"])("of the origin %s is refused, with both origins", async (origin) => {
    const subject = await created(kind.type);
    const identity = identityAt(subject) as JsonObject;
    forget(subject);
    subject.sent();
    const said = await subject.core.import(subject.address, kind.type, { ...identity, origin });
    expect(
      said.map(({ severity, summary }) => ({ severity, summary: summary.replace(/:\d{4,5},/, ":PORT,") })),
    ).toEqual([
      {
        severity: "error",
        summary: `The identity of ${kind.noun} ${identity.id} is of another account: its origin is ${origin}, and the provider uses http://127.0.0.1:PORT, token from HOSTING_TOKEN`,
      },
    ]);
    expect(subject.sent()).toEqual([]);
    expect(subject.core.state.current.size).toBe(0);
  });

  it("is also found by the name of the object, as the import id", async () => {
    if (kind.list === undefined) return;
    const subject = await created(kind.type);
    const { id, service_id, [kind.words.name]: name } = subject.core.attributes(subject.address);
    forget(subject);
    const importId = kind.parent === undefined ? String(name) : `${service_id}/${name}`;
    expect(await subject.core.import(subject.address, kind.type, importId)).toEqual([]);
    expect(subject.core.attributes(subject.address).id).toBe(id);
    await closeMachine(subject.machine);
  });
});
