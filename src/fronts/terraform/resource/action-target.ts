/**
 * Compares the service of an action with its plan and with the state, because the same id is another service at another host.
 * Terraform's plan contains only the configuration of an action, so the store contains the planned service.
 */
import type { Remote } from "../../../core/kinds/index.ts";
import { foldedDomain, type JsonObject, type ValueObject } from "../../../core/model/index.ts";
import { problem, refuse } from "../messages.ts";
import { named, type terraformKind } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

const PLANNED = "actions";
/** List of password resets whose result is unknown. Written before the request, because a kill loses the response. */
export const RESETS = "resets";

/**
 * Rejects a service that is not the declared, recorded or planned service.
 * @param isPlan true: records the service for the invocation.
 */
export async function requireTarget(
  kind: ReturnType<typeof terraformKind>,
  { id, attributes }: Remote,
  { domain = null }: ValueObject,
  scope: ProviderScope,
  isPlan: boolean,
): Promise<void> {
  const { holdings, session } = scope;
  const live = { ...attributes, id };
  const what = named(kind, live);
  const isDeclared = typeof domain === "string";
  if (isDeclared && foldedDomain(domain) !== foldedDomain(attributes.domain))
    refuse(problem("terraform.action/domain", { what, domain, attribute: ["domain"] }));
  const recorded = scope.recordedOf(kind, live);
  const planned = isPlan ? undefined : ((await holdings.noted(PLANNED, id)) as JsonObject | undefined);
  for (const [known, source] of [
    [recorded, "state"],
    [planned, "plan"],
  ] as const)
    if (known !== undefined && !session.hasMoved && !isSame(known, live))
      refuse(problem("terraform.action/other", { what, source, known: named(kind, { ...known, id }) }));
  if (isPlan) {
    const { created_at = null, domain: own = null } = attributes;
    return holdings.note(PLANNED, id, { created_at, domain: own });
  }
  await holdings.load();
  if (planned === undefined && !isDeclared && !session.hasMoved && scope.ownerOf(kind, live) === undefined)
    refuse(problem("terraform.action/unplanned", { what }));
}

const isSame = (known: JsonObject, live: JsonObject) =>
  foldedDomain(known.domain) === foldedDomain(live.domain) &&
  (known.created_at == null || live.created_at == null || known.created_at === live.created_at);
