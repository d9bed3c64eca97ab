import type { Kind } from "../kinds/kind.ts";
import {
  type Change,
  type Desired,
  type DesiredResource,
  type Diagnostic,
  located,
  UNKNOWN,
  type ValueObject,
} from "../model/index.ts";

/**
 * What an order needs where nothing tells its address: a project and a name of its own. Its Idempotency-Key is made from
 * the two (§4), as the Terraform provider makes it, so that it is one order whichever of the two places it.
 */
export function checkOrderName(
  kind: Kind,
  resource: DesiredResource,
  { actions }: Change,
  config: ValueObject,
  { ordersNamedBy, project }: Desired,
): Diagnostic[] {
  if (ordersNamedBy !== "domain" || kind.creation !== "keyed" || !actions.includes("create")) return [];
  const { address } = resource;
  const found: Diagnostic[] = [];
  if (project === "") {
    found.push({
      severity: "error",
      code: "terraform.project",
      summary: "The provider needs `project` to order a service",
      detail: "The Idempotency-Key of an order is made from it: two stacks must not share one by accident.",
      remedies: [{ do: "name_project" }],
      address,
    });
  }
  const isOpen = config.reference === UNKNOWN || config.domain === UNKNOWN;
  if (!isOpen && kind.orderReference?.(config) === undefined) {
    found.push({
      severity: "error",
      code: "terraform.reference",
      summary: `A ${kind.noun} without a domain needs \`reference\``,
      detail:
        "Without a domain nothing names this order, and an order that has no name of its own could be placed twice.",
      remedies: ["Add `reference`: a name that is this order's alone in the project, and stays."],
      address,
      attribute: ["reference"],
    });
  }
  return found.map((diagnostic) => located(diagnostic, resource.locate([])));
}
