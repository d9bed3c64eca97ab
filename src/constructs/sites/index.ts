/**
 * Constructs above the bindings: a site with its grants, a client with its sites, a webhook with a destination for its
 * secret.
 *
 * In: properties in an agency's terms. Out: resources of the bindings, in the construct tree below these constructs.
 *
 * The source uses `cdktf`. It is compiled a second time for `cdktn`, with other names in the imports. It must therefore use
 * only features of both libraries.
 *
 * Must not: put a password, a token or a secret into the synthesized output; order anything that the program did not request;
 * hide the underlying resource (each construct has it as a public property).
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
