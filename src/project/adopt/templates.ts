/** Moves common settings of adopted sites into templates. Pure. */
import type { PlanRecord } from "../../core/api/index.ts";
import { equal, isObject, type Json, type JsonObject } from "../../core/model/index.ts";
import type { NewBlock } from "./declare.ts";
import { freeName, slug } from "./names.ts";
import { nestedKind } from "./read.ts";

/** Minimum number of sites for a template. */
const FEWEST = 5;
/** Share of the sites from which a common grant moves to the template. Each other site removes the grant. */
const NEARLY_ALL = 0.8;

const GRANTS = nestedKind.nested?.section ?? "";
/** Settings that stay in the block of the site. */
const OWN = ["domain", "client", GRANTS];

/**
 * Moves the common settings of at least five services into a template named after the hosting plan. Skips comments and
 * services without a domain. The result does not depend on the order of the lists.
 * @returns the blocks of the declaration, and the section `templates`.
 */
export function templated(blocks: readonly NewBlock[], plans: readonly PlanRecord[]) {
  const sites = blocks.filter(
    ({ section, body, commented }) => section === "services" && commented === undefined && body.domain !== undefined,
  );
  const groups = [...Map.groupBy(sites, ({ body }) => JSON.stringify(Object.entries(sharedOf(body)).sort()))]
    .filter(([, { length }]) => length >= FEWEST)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const taken = new Set<string>();
  const templates: Record<string, Json> = {};
  const folded = new Map<NewBlock, NewBlock>();
  for (const [, group] of groups) {
    const shared = sharedOf(group[0]?.body ?? {});
    const plan = plans.find(({ plan_id }) => plan_id !== null && plan_id === shared.plan_id);
    const name = freeName(slug(plan?.name ?? "") || `plan-${shared.plan_id}`, taken);
    const grants = commonGrants(group);
    templates[name] = { ...shared, ...(Object.keys(grants).length > 0 && { [GRANTS]: grants }) };
    for (const block of group) folded.set(block, { ...block, body: ownOf(block.body, name, grants) });
  }
  return { templates, blocks: blocks.map((block) => folded.get(block) ?? block) };
}

const sharedOf = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !OWN.includes(key)));

const grantsOf = ({ [GRANTS]: grants }: JsonObject): JsonObject => (isObject(grants) ? grants : {});

/** Returns the grants that at least 80 % of the sites have with the same value. */
function commonGrants(group: readonly NewBlock[]): JsonObject {
  const all = group.flatMap(({ body }) => Object.entries(grantsOf(body)));
  const common = [...Map.groupBy(all, (entry) => JSON.stringify(entry)).values()]
    .filter(({ length }) => length >= group.length * NEARLY_ALL)
    .flatMap(([first]) => (first === undefined ? [] : [first]));
  return Object.fromEntries(common.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the settings of a site in addition to its template. Null removes a grant. Maps are merged, so a grant with fewer
 * keys needs `replace`.
 */
function ownOf(body: JsonObject, template: string, common: JsonObject): JsonObject {
  const own = grantsOf(body);
  const others = Object.entries(own).filter(([email, grant]) => !equal(grant, common[email] ?? null));
  const removed = Object.keys(common).filter((email) => !Object.hasOwn(own, email));
  const grants = { ...Object.fromEntries(others), ...Object.fromEntries(removed.map((email) => [email, null])) };
  const isMerged = others.some(([email, grant]) => isObject(grant) && isObject(common[email]));
  return {
    template,
    ...(isMerged && { replace: [GRANTS] }),
    ...Object.fromEntries(Object.entries(body).filter(([key]) => OWN.includes(key) && key !== GRANTS)),
    ...(isMerged ? { [GRANTS]: own } : Object.keys(grants).length > 0 && { [GRANTS]: grants }),
  };
}
