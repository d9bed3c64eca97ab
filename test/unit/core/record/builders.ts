import type { Clock, ResourceState } from "../../../../src/core/model/index.ts";
import { HostformError } from "../../../../src/core/model/index.ts";
import { Revision } from "../../../../src/core/record/index.ts";
import type { StateDocument } from "../../../../src/core/record/state-document.ts";

/** Returns a resource with an id and the fields that a test needs. */
export function resource(address: string, id: string | null, more: Partial<ResourceState> = {}): ResourceState {
  const { attributes, ...rest } = more;
  return {
    address,
    provider: "default",
    schemaVersion: 0,
    attributes: { id, ...attributes },
    sensitive: [],
    private: {},
    dependencies: [],
    ...rest,
  };
}

/** Returns the document with these resources added or replaced. */
export function withResource(document: StateDocument, ...resources: readonly ResourceState[]): StateDocument {
  const revision = new Revision(document);
  for (const each of resources) revision.put(each);
  return revision.document;
}

export function withoutResources(document: StateDocument, addresses: readonly string[]): StateDocument {
  const revision = new Revision(document);
  for (const address of addresses) revision.remove(address);
  return revision.document;
}

/** Returns a generator of UUID-like texts in a fixed order. */
export function countingUuids(prefix = "uuid"): () => string {
  let count = 0;
  return () => `${prefix}-${++count}`;
}

/** A clock that advances only during sleeps. `onSleep` runs during each sleep. */
export function manualClock(onSleep: () => void | Promise<void> = () => undefined): Clock {
  let now = Date.parse("2026-01-02T03:04:05.000Z");
  return {
    now: () => now,
    monotonic: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
      await onSleep();
    },
  };
}

/** Returns the first diagnostic of the HostformError that an action throws. */
export async function diagnosticOf(action: () => unknown) {
  try {
    await action();
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics[0];
    throw error;
  }
  throw new Error("nothing was thrown");
}

const head = { version: 4, terraform_version: "1.5.0", serial: 3, lineage: "l-1", outputs: {} };
/** Returns the text of a state file with these resource entries. */
export const file = (resources: unknown, more: object = {}) => JSON.stringify({ ...head, resources, ...more });
/** Returns one instance in the form of a state file. */
export const instance = (more: object = {}) => ({ schema_version: 0, attributes: { id: "1" }, ...more });
/** Returns one resource entry of hostform in the form of a state file. */
export const entry = (instances: unknown[], more: object = {}) => ({
  mode: "managed",
  type: "hosting_service",
  name: "acme",
  provider: 'provider["registry.terraform.io/hostform/hosting"]',
  instances,
  ...more,
});
/** Encodes a value in the form of the field `private`. */
export const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
