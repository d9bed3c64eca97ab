import { importIdOf, type Kind } from "../../kinds/kind.ts";
import {
  attributesOf,
  certainlyMade,
  type Doubtful,
  isJustCreated,
  newlyMade,
  observedMark,
  parentOf,
  read,
  refreshed,
  sameValue,
  settledMark,
} from "../../lifecycle/index.ts";
import {
  type Diagnostic,
  HostformError,
  type JsonObject,
  type PrivateMark,
  type ResourceState,
  type Value,
  type ValueObject,
} from "../../model/index.ts";
import type { Front } from "./front.ts";
import { told } from "./subject.ts";

/**
 * An object that an earlier process made and that Terraform did not come to record: it is the one that is wanted now.
 * @returns undefined when it is gone and may be made anew. @throws HostformError when something else is declared by now, or
 *   when it is paid for and gone.
 */
export async function adoptNoted(
  kind: Kind,
  noted: ResourceState,
  planned: ValueObject,
  front: Front,
): Promise<{ attributes: JsonObject; private: PrivateMark; diagnostics: readonly Diagnostic[] } | undefined> {
  const id = String(noted.attributes.id);
  const edited = attributesOf(kind).find(([name, , meta]) => {
    const was: Value = noted.attributes[name] ?? null;
    const becomes: Value = planned[name] ?? null;
    const fixed = meta.change === "immutable" || meta.change === "replace";
    return fixed && was !== null && becomes !== null && !sameValue(meta, was, becomes);
  });
  if (edited !== undefined) throw new HostformError([otherwise(kind, noted, edited[0])]);
  const readable = kind.list !== undefined || kind.get !== undefined;
  const found = readable ? await front.account.find(kind, id, parentOf(kind, noted.attributes)) : undefined;
  // A list may not show yet what was created a moment ago.
  const unlisted = found === undefined && isJustCreated(noted.private, front.session.settings, front.account.hostNow());
  if (readable && !unlisted && (found === undefined || found.phase === "gone")) {
    if (kind.creation === "listable") return undefined;
    throw new HostformError([goneSince(kind, id)]);
  }
  front.claim(kind, `id ${id}`, id);
  const summary = `${kind.noun} ${id} was made by a run that was cut off before Terraform recorded it: adopted, nothing was made`;
  return {
    attributes: found === undefined ? noted.attributes : refreshed(kind, noted.attributes, found),
    // A job that the run was cut off in may have ended since.
    private: found === undefined ? noted.private : observedMark(noted.private, found.phase),
    diagnostics: [{ severity: "warning", code: "apply.replayed", summary }],
  };
}

/**
 * An order without known outcome: what the account certainly shows of it by now is what it has come to. Anything else is left
 * to the lifecycle.
 */
export async function settledByNow(kind: Kind, noted: Doubtful, { account }: Front): Promise<ResourceState> {
  if (kind.creation !== "keyed") return noted;
  const observed = await read(account, { kind, prior: undefined, config: noted.attributes });
  const made = certainlyMade(kind, noted, newlyMade({ kind }, noted, observed), account.hostNow());
  if (made === undefined) return noted;
  const attributes = refreshed(kind, noted.attributes, made);
  return { ...noted, attributes, private: settledMark(noted.private) };
}

function otherwise(kind: Kind, { attributes }: ResourceState, name: string): Diagnostic {
  const id = String(attributes.id);
  return {
    severity: "error",
    code: "plan.exists",
    summary: `${kind.noun} ${id} was made by a run that was cut off, with another ${name}`,
    detail: `Its ${name} is ${told(kind, name, attributes[name] ?? null)}. Terraform did not come to record it, and nothing is made beside it.`,
    fix: `Put \`${name}\` back and apply, then change it; or \`terraform import ${kind.type}.NAME '${importIdOf(kind, id, attributes)}'\`.`,
    attribute: [name],
  };
}

function goneSince(kind: Kind, id: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.gone",
    summary: `${kind.noun} ${id}, which a run that was cut off had made, no longer exists`,
    detail: "It is not ordered again by itself: that would raise another invoice.",
    fix: "Order it anew on purpose with another `reference`.",
    attribute: ["reference"],
  };
}
