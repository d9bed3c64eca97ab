/**
 * The 24 endpoints of the specification (§4), with the rules for their fields. In: a call that has passed the checks of
 * `http/api.ts`. Out: a reply without a wire format. Must not: read the profile (except for registrants), or know HTTP.
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
