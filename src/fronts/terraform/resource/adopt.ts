import { importIdOf, type Kind } from "../../../core/kinds/kind.ts";
import {
  attributesOf,
  certainlyMade,
  newlyMade,
  observedMark,
  type PendingCreate,
  read,
  refreshed,
  sameValue,
  settledMark,
} from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  HostformError,
  hasUnknown,
  type Json,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { ProviderScope } from "./front.ts";
import { findEntryObject } from "./noted.ts";
import { labelOf, shownValue } from "./subject.ts";

/**
 * An object that an earlier process made and that Terraform did not come to record: it is the one that is wanted now.
 * @returns undefined when it is gone and may be made again. @throws HostformError when something else is declared by now,
 *   when it is paid for and gone, or when something else of this state has it.
 */
export async function adoptEntry(
  kind: Kind,
  noted: ResourceState,
  planned: ValueObject,
  scope: ProviderScope,
): Promise<{ attributes: JsonObject; private: PrivateMark; diagnostics: readonly Diagnostic[] } | undefined> {
  const id = String(noted.attributes.id);
  const { found, hasEnded } = await findEntryObject(kind, noted, scope);
  if (hasEnded) {
    if (kind.creation === "listable") return undefined;
    throw new HostformError([goneSince(kind, id)]);
  }
  const edited = attributesOf(kind).find(([name, , meta]) => {
    const isFixed = meta.change === "immutable" || meta.change === "replace";
    const becomes: Value = planned[name] ?? null;
    return isFixed && becomes !== null && !hasUnknown(becomes) && !sameValue(meta, notedValue(noted, name), becomes);
  });
  if (edited !== undefined) throw new HostformError([otherwise(kind, noted, edited[0])]);
  const owner = scope.take(kind, id, labelOf(kind, planned));
  if (owner !== undefined) throw new HostformError([ownedBy(kind, id, owner)]);
  const summary = `${kind.noun} ${id} was made by a run that was cut off before Terraform recorded it: adopted, nothing was made`;
  return {
    attributes: found === undefined ? noted.attributes : refreshed(kind, noted.attributes, found, noted.private.shown),
    // A job that the run was cut off in may have ended since.
    private: found === undefined ? noted.private : observedMark(noted.private, found.phase),
    diagnostics: [{ severity: "warning", code: "apply.replayed", summary }],
  };
}

/**
 * An order without known outcome: what the account certainly shows of it by now is what it has come to. Anything else is left
 * to the lifecycle.
 */
export async function settledByNow(
  kind: Kind,
  noted: PendingCreate,
  { account }: ProviderScope,
): Promise<ResourceState> {
  if (kind.creation !== "keyed") return noted;
  const observed = await read(account, { kind, prior: undefined, config: noted.attributes });
  const made = certainlyMade(kind, noted, newlyMade({ kind }, noted, observed), account.hostNow());
  if (made === undefined) return noted;
  const attributes = refreshed(kind, noted.attributes, made);
  return { ...noted, attributes, private: settledMark(noted.private) };
}

const notedValue = ({ attributes }: ResourceState, name: string): Json => attributes[name] ?? null;

function otherwise(kind: Kind, noted: ResourceState, name: string): Diagnostic {
  const { attributes } = noted;
  const id = String(attributes.id);
  const was = notedValue(noted, name);
  const [has, back] =
    was === null
      ? [`It has no ${name}.`, `Remove \`${name}\` and apply, then add it`]
      : [`Its ${name} is ${shownValue(kind, name, was)}.`, `Put \`${name}\` back and apply, then change it`];
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${kind.noun} ${id} was made by a run that was cut off, with another ${name}`,
    detail: `${has} Terraform did not come to record it, and nothing is made beside it.`,
    remedies: [`${back}; or \`terraform import ${kind.type}.NAME '${importIdOf(kind, id, attributes)}'\`.`],
    attribute: [name],
  };
}

function ownedBy(kind: Kind, id: string, owner: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${kind.noun} ${id}, which a run that was cut off had made, is ${owner}`,
    detail: "Two resources must not manage one object: what one of them removes, the other one loses.",
    remedies: [
      "Remove one of the two from the configuration. If there are to be two objects, give this one other attributes.",
    ],
  };
}

function goneSince(kind: Kind, id: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.gone",
    summary: `${kind.noun} ${id}, which a run that was cut off had made, no longer exists`,
    detail: "It is not ordered again automatically: that would raise another invoice.",
    remedies: ["Order another on purpose, with another `reference`."],
    attribute: ["reference"],
  };
}
