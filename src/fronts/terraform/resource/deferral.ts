/** Conditions for a deferred plan: a client may plan the resource again after the rest of the plan is applied. */
import { type Kind, kinds } from "../../../core/kinds/index.ts";
import { parentOf } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  equal,
  isError,
  type JsonObject,
  UNKNOWN,
  type ValueObject,
} from "../../../core/model/index.ts";
import { declaredIn } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** Returns true if a change needs a service that the host still provisions: its own service, or the parent of a new object. */
export async function waitsForService(
  kind: Kind,
  { prior, config }: { readonly prior: JsonObject | null; readonly config: ValueObject },
  { account }: ProviderScope,
): Promise<boolean> {
  if (prior !== null) {
    if (kind.phase?.(prior, account.settings) !== "pending") return false;
    const declared = declaredIn(kind, config);
    const isChanged = (name: string) => declared[name] !== undefined && !equal(declared[name], prior[name] ?? null);
    return (kind.deferred?.("pending") ?? []).some(isChanged);
  }
  const holder = kinds.get(kind.nested?.in ?? "");
  const parent = parentOf(kind, config);
  if (holder === undefined || parent === undefined) return false;
  return (await account.find(holder, parent))?.phase === "pending";
}

/** Returns true if the only error is a `reference` that is known after apply. */
export const isUnknownReference = ({ reference }: ValueObject, found: readonly Diagnostic[]): boolean => {
  const errors = found.filter(isError);
  return reference === UNKNOWN && errors.length > 0 && errors.every(({ code }) => code === "terraform.reference");
};
