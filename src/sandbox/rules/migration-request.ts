/** The rules for migration requests (§4 POST /api/v1/migration-requests body). */
import type { MigrationRequest } from "../store/records.ts";
import { type Body, Fields } from "./fields.ts";
import { isDomainName } from "./syntax.ts";

const SOURCES = ["cpanel", "plesk", "directadmin", "wordpress", "ftp", "other"] as const;

/**
 * Fields that the server sets, that have a place of their own, or that belong to the dashboard (§1: credentials); they are
 * not answers to questions.
 */
const NOT_ANSWERS = new Set([
  ...["id", "domain", "order_id", "status", "created_at", "customer_id"],
  ...["credentials", "password"],
]);

/**
 * The names of the source type and scope questions are not specified (§2 Gaps): `source` is checked when it is given,
 * everything else is kept as it came. `orderProblem` says what is wrong with binding to an order, if anything.
 */
export function readMigrationRequest(
  body: Body,
  orderProblem: (orderId: number) => string | undefined,
): Pick<MigrationRequest, "domain" | "order_id" | "answers"> {
  const fields = new Fields(body);
  const domain = fields.matching("domain", isDomainName, "a valid domain name", { required: true })?.toLowerCase();
  const order_id = fields.integer("order_id") ?? null;
  const problem = order_id === null ? undefined : orderProblem(order_id);
  if (problem !== undefined) fields.refuse("order_id", problem);
  fields.oneOf("source", SOURCES);
  const answers = Object.fromEntries(Object.entries(body).filter(([name]) => !NOT_ANSWERS.has(name)));
  return fields.complete({ domain, order_id, answers });
}
