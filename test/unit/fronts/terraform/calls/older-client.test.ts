/**
 * Responses to a client of protocol 6.8 (Terraform 1.11), which neither sends nor reads the newer fields. Two lives of the
 * same object are compared by their bytes: one with a client of 6.8, one with the modelled newer Terraform.
 */
import { clearField, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it, vi } from "vitest";
import { kinds } from "../../../../../src/core/kinds/index.ts";
import type { Kind } from "../../../../../src/core/kinds/kind.ts";
import { rpcs } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/resource.ts";
import { closeMachine, subjectOf } from "../../../../conformance/terraform-life.ts";

/** Calls about an object, with the fields of the request that a client of 6.8 does not send. */
const CALLS: readonly [{ name: string; input: DescMessage; output: DescMessage }, ...newer: string[]][] = [
  [rpcs.readResource, "currentIdentity", "clientCapabilities"],
  [rpcs.planResourceChange, "priorIdentity", "plannedPrivate", "clientCapabilities"],
  [rpcs.applyResourceChange, "plannedIdentity"],
  [rpcs.importResourceState, "identity", "clientCapabilities"],
];

/** Fields of these responses that a client of 6.8 knows. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  ReadResource: ["newState", "diagnostics", "private"],
  PlanResourceChange: ["plannedState", "requiresReplace", "plannedPrivate", "diagnostics"],
  ApplyResourceChange: ["newState", "private", "diagnostics"],
  ImportResourceState: ["importedResources", "diagnostics"],
  ImportedResource: ["typeName", "state", "private"],
};

/** Removes the fields that a client of 6.8 skips. Returns their names. */
function skipNewer(schema: DescMessage, message: Message): string[] {
  const rpc = schema.name === "Response" ? (schema.parent?.name ?? "") : schema.name;
  return schema.fields.flatMap((field) => {
    const value = (message as unknown as Readonly<Record<string, unknown>>)[field.localName];
    if (KNOWN[rpc]?.includes(field.localName))
      return field.localName === "importedResources" && field.message
        ? (value as Message[]).flatMap((each) => skipNewer(field.message as DescMessage, each))
        : [];
    clearField(message, field);
    return value === undefined ? [] : [`${rpc}: ${field.localName}`];
  });
}

/** Random keys of requests. */
const KEY = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Creates, reads, changes, imports and destroys the sample of a kind. Returns the responses as a client of 6.8 reads them. */
async function lived(kind: Kind, isOlder: boolean) {
  const answers: string[] = [];
  const skipped = new Set<string>();
  for (const [{ name, input, output }, ...newer] of CALLS) {
    const call = calls[name] ?? expect.fail(name);
    vi.spyOn(calls, name).mockImplementation(async (bytes, ...context) => {
      const request = fromBinary(input, bytes);
      for (const field of input.fields) if (isOlder && newer.includes(field.localName)) clearField(request, field);
      const answer = (await call(toBinary(input, request), ...context)) ?? new Uint8Array();
      const message = fromBinary(output, answer);
      expect(Buffer.from(toBinary(output, message)).equals(answer)).toBe(true);
      for (const field of skipNewer(output, message)) skipped.add(field);
      answers.push(`${name} ${Buffer.from(toBinary(output, message)).toString("latin1").replaceAll(KEY, "KEY")}`);
      return answer;
    });
  }
  const subject = await subjectOf(kind);
  const { core, address, machine } = subject;
  await subject.apply();
  await subject.expectNoChanges();
  for (const name of Object.keys(subject.sample.others))
    await core.run(subject.declared(subject.otherwise(name)), { parallelism: 1 });
  const { importId } = subject;
  core.forget(address);
  machine.loseStore();
  machine.clock.advance(120_000);
  await core.import(address, kind.type, importId);
  await core.run({}, { destroy: true });
  await closeMachine(machine);
  vi.restoreAllMocks();
  return { answers, skipped: [...skipped].sort() };
}

afterEach(() => void vi.restoreAllMocks());

describe.each([...kinds.values()])("the responses about a $type", (kind) => {
  it("have the same bytes for a client of protocol 6.8 and for a newer client, except the identities", async () => {
    const older = await lived(kind, true);
    const newer = await lived(kind, false);
    expect(older.skipped).toEqual([
      "ApplyResourceChange: newIdentity",
      "ImportedResource: identity",
      "PlanResourceChange: plannedIdentity",
      "ReadResource: newIdentity",
    ]);
    expect(new Set(older.answers.map((one) => one.split(" ")[0])).size).toBe(CALLS.length);
    expect(older.answers).toEqual(newer.answers);
  });
});
