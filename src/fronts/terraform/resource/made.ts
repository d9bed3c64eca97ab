import type { Kind } from "../../../core/kinds/kind.ts";
import { attributesOf } from "../../../core/lifecycle/index.ts";
import {
  type Diagnostic,
  hasUnknown,
  type JsonObject,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Mark } from "./mark.ts";
import { labelOf, nameOf, shownValue } from "./subject.ts";

/**
 * What cannot be said of an object any more that this provider has made, because it is known what it was made with: an order
 * keeps its name, by which the API knows it (§4), and what was not given then is not given by writing it down now. Of an
 * object that was imported neither is known, and the declaration is believed.
 */
export function immutableSinceCreate(
  kind: Kind,
  prior: JsonObject,
  { mark: { made }, declared, gone }: { readonly mark: Mark; readonly declared: ValueObject; readonly gone: boolean },
): Diagnostic[] {
  if (made === undefined || gone) return [];
  const what = labelOf(kind, prior);
  const late = attributesOf(kind).filter(([name, , { change }]) => {
    const value: Value = declared[name] ?? null;
    return change === "immutable" && prior[name] == null && value !== null && !hasUnknown(value);
  });
  return [
    ...(isRenamed(kind, made, prior, declared) ? [renamed(what, made)] : []),
    ...late.map(
      ([name]): Diagnostic => ({
        severity: "error",
        code: "plan.immutable",
        summary: `${name} of ${what} cannot be changed`,
        detail: `It was made without one, and would become ${shownValue(kind, name, declared[name] ?? null)}. The API has no call that changes the ${name} of a ${kind.noun}.`,
        remedies: ["Take it out of the configuration."],
        attribute: [name],
      }),
    ),
  ];
}

/** While the name of the order is not known it may yet be the same. */
function isRenamed(kind: Kind, made: string, prior: JsonObject, declared: ValueObject): boolean {
  if ((declared.reference ?? null) === (prior.reference ?? null)) return false;
  const name = nameOf(kind, declared);
  return name !== undefined && name !== made;
}

function renamed(what: string, made: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.immutable",
    summary: `reference of ${what} cannot be changed`,
    detail: `It was ordered under the name ${JSON.stringify(made)}, and the API knows the order by it. A second order with that name would be answered with this one.`,
    remedies: ["Put the old one back into the configuration."],
    attribute: ["reference"],
  };
}
