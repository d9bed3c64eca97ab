/** Endpoints by name, and patterns that select requests for faults and invariants. */
import { didYouMean, wrongField } from "./refusal.ts";

/** Method and path by name. The names are the `operationId`s of schemas/openapi.yaml, which a test compares. */
export const OPERATIONS = {
  listPlans: "GET /plans",
  listServices: "GET /services",
  getService: "GET /services/:id",
  orderService: "POST /services",
  suspendService: "POST /services/:id/suspend",
  unsuspendService: "POST /services/:id/unsuspend",
  resetPassword: "POST /services/:id/password",
  signOnToPanel: "GET /services/:id/panel-sso",
  listGrants: "GET /services/:id/grants",
  grantService: "POST /services/:id/grants",
  revokeGrant: "DELETE /services/:id/grants/:grantId",
  listInvoices: "GET /invoices",
  getInvoice: "GET /invoices/:id",
  listWebhooks: "GET /webhooks",
  registerWebhook: "POST /webhooks",
  removeWebhook: "DELETE /webhooks/:id",
  checkDomains: "GET /domains/check",
  checkDomainsPosted: "POST /domains/check",
  registerDomain: "POST /domains",
  listAccounts: "GET /accounts",
  createAccount: "POST /accounts",
  listMigrationRequests: "GET /migration-requests",
  createMigrationRequest: "POST /migration-requests",
  getMigrationRequest: "GET /migration-requests/:id",
} as const;

export type OperationName = keyof typeof OPERATIONS;

/** Selects requests. An undefined field matches all values. */
export interface RequestPattern {
  method?: string | undefined;
  /** Path below /api/v1, such as "/services/:id/suspend". `:name` matches one segment, a final `*` matches the rest. */
  path?: string | undefined;
}

/**
 * Returns the pattern of `orderService` or `POST /services`.
 * @throws Refusal (422) for an unknown name, with the known names
 */
export function patternOf(operation: unknown): Required<RequestPattern> {
  const spelled = typeof operation === "string" && isOperation(operation) ? OPERATIONS[operation] : operation;
  const [, method, path] = (typeof spelled === "string" && /^([A-Z]+) (\/\S*)$/.exec(spelled)) || [];
  if (typeof operation === "string" && method !== undefined && path !== undefined) {
    if (!isOperation(operation)) checkPath(path, "operation");
    return { method, path };
  }
  const message =
    `There is no operation ${JSON.stringify(operation)}. Write a method and a path such as "POST /services", ` +
    `or one of ${Object.keys(OPERATIONS).join(", ")}.`;
  throw wrongField("operation", message);
}

/**
 * Rejects a path that matches no endpoint.
 * @throws Refusal (422), with the paths of the endpoints
 */
export function checkPath(path: string, field: "path" | "operation" = "path"): void {
  const paths = [...new Set(Object.values(OPERATIONS).map((spelled) => spelled.replace(/^\S+ /, "")))];
  if (paths.some((one) => pathMatches(path, one, true))) return;
  const message = `There is nothing at ${path.slice(0, 100)}.${didYouMean(path, paths)} The paths are ${paths.join(", ")}.`;
  throw wrongField(field, message);
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

export function matches(pattern: RequestPattern, method: string, path: string): boolean {
  if (pattern.method !== undefined && pattern.method.toUpperCase() !== method) return false;
  return pattern.path === undefined || pathMatches(pattern.path, path);
}

/**
 * Returns true if a path matches a pattern. With `isPattern`, `path` is also a pattern, and at least one path must match
 * both.
 */
function pathMatches(pattern: string, path: string, isPattern = false): boolean {
  const wanted = segments(pattern);
  const actual = segments(path);
  const isOpen = wanted.at(-1) === "*";
  if (isOpen) wanted.pop();
  if (isOpen ? actual.length < wanted.length : actual.length !== wanted.length) return false;
  const isAny = (segment: string): boolean => segment === "*" || segment.startsWith(":");
  return wanted.every((segment, at) => {
    const other = actual[at] ?? "";
    return segment === other || isAny(segment) || (isPattern && isAny(other));
  });
}

function segments(path: string): string[] {
  return path
    .replace(/^\/api\/v1(?=\/|$)/, "")
    .split("/")
    .filter((segment) => segment !== "");
}
