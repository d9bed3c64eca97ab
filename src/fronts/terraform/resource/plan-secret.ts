import type { Kind } from "../../../core/kinds/kind.ts";
import { fileOutputIn, oneTimeSecretName } from "../../../core/lifecycle/index.ts";
import { type Diagnostic, HostformError, type ValueObject } from "../../../core/model/index.ts";
import type { Session } from "../contract.ts";
import { labelOf } from "./subject.ts";

/**
 * What a plan says of the place of a one-time secret: that no secret may be written there, and, when the object is made,
 * where a link or a path that leaves the project leads.
 */
export async function secretPlaceNotices(
  kind: Kind,
  config: ValueObject,
  isNew: boolean,
  { secretDestination }: Pick<Session, "secretDestination">,
): Promise<readonly Diagnostic[]> {
  const [output, attribute] = [fileOutputIn(config), oneTimeSecretName(kind)];
  if (output === undefined || attribute === undefined) return [];
  const address = labelOf(kind, config);
  try {
    const { real, inside, linked } = await secretDestination(output, { address, attribute });
    if (!isNew || (inside && !linked)) return [];
    const summary = `The ${attribute} of ${address} will be written to ${real}`;
    const detail = inside
      ? "A symbolic link leads there."
      : "It is outside of the project, as `outside_project` allows.";
    return [{ severity: "warning", code: "secret.output", summary, detail, address, attribute: ["secret_output"] }];
  } catch (error) {
    if (error instanceof HostformError) return error.diagnostics;
    throw error;
  }
}
