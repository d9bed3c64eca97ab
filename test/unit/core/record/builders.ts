import type { Clock, ResourceState } from "../../../../src/core/model/index.ts";
import { HostformError } from "../../../../src/core/model/index.ts";
import { Revision } from "../../../../src/core/record/index.ts";
import type { StateDocument } from "../../../../src/core/record/state-document.ts";

/** A resource with an id, and whatever a test is about. */
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

/** The document with these resources added or replaced. */
export function withResource(document: StateDocument, ...resources: readonly ResourceState[]): StateDocument {
  const revision = new Revision(document);
  for (const each of resources) revision.put(each);
  return revision.document;
}

/** The document without these addresses. */
export function withoutResources(document: StateDocument, addresses: readonly string[]): StateDocument {
  const revision = new Revision(document);
  for (const address of addresses) revision.remove(address);
  return revision.document;
}

/** UUID-like texts in a fixed order. */
export function countingUuids(prefix = "uuid"): () => string {
  let count = 0;
  return () => `${prefix}-${++count}`;
}

/** A clock that is frozen except while someone sleeps; `onSleep` is what the world does meanwhile. */
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

/** The first diagnostic of the HostformError that an action throws. */
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
/** The text of a state file with these resource entries. */
export const file = (resources: unknown, more: object = {}) => JSON.stringify({ ...head, resources, ...more });
/** One instance as a state file has it. */
export const instance = (more: object = {}) => ({ schema_version: 0, attributes: { id: "1" }, ...more });
/** One resource entry of ours as a state file has it. */
export const entry = (instances: unknown[], more: object = {}) => ({
  mode: "managed",
  type: "hosting_service",
  name: "acme",
  provider: 'provider["registry.terraform.io/hostform/hosting"]',
  instances,
  ...more,
});
/** The form of the field `private`. */
export const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
