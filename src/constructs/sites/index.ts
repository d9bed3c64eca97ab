/**
 * Constructs on top of the bindings: a site with its grants, a client with its sites, a subscription with a place for its
 * secret.
 *
 * In: properties in an agency's terms. Out: the resources of the bindings, in the construct tree below them.
 *
 * Written against `cdktf`; compiled a second time for `cdktn`, with the names in the import statements replaced. So nothing
 * here may be in one of the two alone.
 *
 * Must not: put a password, a token or a secret into what is synthesized; order by default what was not asked for; hide the
 * resource below (each construct has it as a public property).
 */
export {
  ClientWorkspace,
  type ClientWorkspaceConfig,
  type SiteDefaults,
  type WorkspaceSiteConfig,
} from "./client-workspace.ts";
export { EventSubscription, type EventSubscriptionConfig } from "./event-subscription.ts";
export {
  type GrantOptions,
  type GrantSpec,
  HostedSite,
  type HostedSiteConfig,
  type MigrationSpec,
} from "./hosted-site.ts";
export type { SecretDestination, SecretPlace } from "./secrets.ts";
export { Password, type PasswordOptions } from "./secrets.ts";
export { Currency, DeletionPolicy, EventName, Permission, Term } from "./words.ts";
