import type { Kind, Settings } from "../../../core/kinds/kind.ts";
import { attributesOf, policyOf } from "../../../core/lifecycle/index.ts";
import {
  type AttributePath,
  type Diagnostic,
  type JsonObject,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Session } from "../contract.ts";
import type { Mark, Replaced } from "./mark.ts";
import { checkOrder } from "./order-name.ts";
import { declaredIn, nameOf } from "./subject.ts";

interface PlannedReplacement {
  readonly requiresReplace: readonly AttributePath[];
  readonly diagnostics: readonly Diagnostic[];
  /** The planned attributes, when it is made anew. */
  readonly result?: ValueObject;
}

/**
 * An immutable change refuses the plan, unless `replace_on_change` says that the object is to be made anew: a new order
 * with an invoice of its own, under a name of its own, while deletion_policy says what becomes of the old one.
 */
export function planReplacement(
  kind: Kind,
  question: {
    readonly prior: JsonObject;
    readonly config: ValueObject;
    readonly mark: Mark;
    readonly diagnostics: readonly Diagnostic[];
    readonly session: Session;
  },
): PlannedReplacement {
  const { prior, config, mark, diagnostics, session } = question;
  const refused = diagnostics.filter(({ code }) => code === "plan.immutable");
  const sameThing = kind.creation === "blind" && kind.naturalKey(prior) === kind.naturalKey(declaredIn(kind, config));
  // A domain that is registered cannot be registered once more with other years.
  if (refused.length === 0 || config.replace_on_change !== true || sameThing) {
    return { requiresReplace: [], diagnostics };
  }
  const others = diagnostics.filter(({ code }) => code !== "plan.immutable");
  const declared = declaredIn(kind, config);
  const replacing = replacedObject(kind, { ...prior, id: String(prior.id) }, mark, session.settings);
  const order = checkOrder(kind, declared, { replacing }, session);
  const kept = replacing.prevented ? [prevented(kind, replacing.id)] : [];
  return {
    requiresReplace: refused.flatMap(({ attribute }) => (attribute === undefined ? [] : [attribute])),
    diagnostics: [...others, ...order, ...kept, ...(prior.deletion_policy === "suspend" ? [suspendedFirst(kind)] : [])],
    result: anewAs(kind, declared),
  };
}

/** Everything as declared; what the API gives is unknown. */
function anewAs(kind: Kind, declared: ValueObject): ValueObject {
  const values = attributesOf(kind).map(([name, , meta]): [string, Value] => [
    name,
    declared[name] ?? meta.default ?? (meta.computed ? UNKNOWN : null),
  ]);
  return Object.fromEntries(values);
}

/** What a create needs to know of the object that it takes the place of. */
export function replacedObject(
  kind: Kind,
  prior: JsonObject & { readonly id: string },
  { made }: Mark,
  settings: Settings,
): Replaced {
  const name = made ?? nameOf(kind, prior);
  const gone = kind.phase?.(prior, settings) === "gone";
  const held = kind.removal === "policy" && policyOf(prior) === "prevent" && !gone;
  return { id: prior.id, ...(name !== undefined && { name }), ...(held && { prevented: true }) };
}

export function prevented(kind: Kind, id: string): Diagnostic {
  return {
    severity: "error",
    code: "plan.prevented",
    summary: `${kind.noun} ${id} may not be replaced: its deletion_policy is "prevent"`,
    detail: `The API cannot delete a ${kind.noun}: Terraform would no longer manage the old one, and it would go on.`,
    remedies: [
      `Set \`deletion_policy = "forget"\`${kind.suspendSteps === undefined ? "" : ' (or "suspend")'}, apply, then make the change.`,
    ],
    attribute: ["deletion_policy"],
  };
}

/** Terraform destroys first, and no host sells the same name twice at a time. */
function suspendedFirst(kind: Kind): Diagnostic {
  return {
    severity: "warning",
    code: "plan.prevented",
    summary: `The old ${kind.noun} is suspended before the new one is ordered`,
    detail: `Should the order be refused (a coupon that is not valid, a plan that is not sold), nothing stands in its place until an order goes through.`,
    remedies: ['With `deletion_policy = "forget"` the old one goes on until you end it in the dashboard.'],
  };
}
