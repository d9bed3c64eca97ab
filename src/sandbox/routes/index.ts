/**
 * The 24 endpoints of the specification (§4), with the checks of their fields. In: a call that has passed the checks of
 * `http/api.ts`. Out: a reply, before `shape/` formats it.
 *
 * Must not: read the profile (except `registrant`); use HTTP.
 */
import type { Endpoints, RoutedEndpoint } from "../http/endpoint.ts";
import { patternOf } from "../operations.ts";
import { accountEndpoints } from "./accounts.ts";
import { domainEndpoints } from "./domains.ts";
import { migrationRequestEndpoints } from "./migration-requests.ts";
import { serviceEndpoints } from "./services.ts";

const BY_OPERATION: Readonly<Required<Endpoints>> = {
  ...serviceEndpoints,
  ...domainEndpoints,
  ...accountEndpoints,
  ...migrationRequestEndpoints,
};

export const ENDPOINTS: readonly RoutedEndpoint[] = Object.entries(BY_OPERATION).map(([operation, endpoint]) => ({
  ...endpoint,
  ...patternOf(operation),
}));
