import type { TerraformProvider } from "cdktf";
import { Construct } from "constructs";
import { ClientAccount } from "../../../bindings/cdktf/lib/client-account/index.ts";
import { accountMistakes, refusal } from "./checks.ts";
import { HostedSite, type HostedSiteConfig } from "./hosted-site.ts";
import type { Currency } from "./words.ts";

/** Defaults for the sites of a workspace. Grants of the workspace and the site are merged. */
export type SiteDefaults = Partial<
  Pick<HostedSiteConfig, "planId" | "currency" | "term" | "deletionPolicy" | "preventDestroy" | "grants" | "dependsOn">
>;

/** A site of a workspace. Its properties override the workspace's defaults. */
export type WorkspaceSiteConfig = Omit<HostedSiteConfig, "planId" | "currency"> &
  Partial<Pick<HostedSiteConfig, "planId" | "currency">>;

/** Properties of a {@link ClientWorkspace}. */
export interface ClientWorkspaceConfig {
  readonly name: string;
  /** Registered name of the company. */
  readonly companyName?: string;
  readonly companyNumber?: string;
  readonly vatNumber?: string;
  /** Currency in which the client is billed. Also the default for the client's sites. */
  readonly currency?: Currency;
  /** Deletion policy of the client account. Default: `"prevent"`. */
  readonly deletionPolicy?: "prevent" | "forget";
  /** True if Terraform also rejects a plan that destroys the client account. Default: true if `deletionPolicy` is `"prevent"`. */
  readonly preventDestroy?: boolean;
  /** Defaults for the sites. */
  readonly sites?: SiteDefaults;
  /** Provider of the client account and all its sites. Required if a stack has several providers. */
  readonly provider?: TerraformProvider;
}

/**
 * A client of an agency: its client account (Manage track) and its sites.
 *
 * The API does not connect a service with a client account: every site belongs to the account of the token. Only this
 * construct connects them, through its path and its defaults.
 */
export class ClientWorkspace extends Construct {
  /** The client account, for its other properties. */
  readonly account: ClientAccount;
  private readonly defaults: SiteDefaults & { readonly provider?: TerraformProvider };
  private readonly made = new Map<string, HostedSite>();

  constructor(scope: Construct, id: string, props: ClientWorkspaceConfig) {
    super(scope, id);
    const { deletionPolicy = "prevent", currency, provider } = props;
    const { preventDestroy = deletionPolicy === "prevent" } = props;
    this.defaults = {
      ...(currency !== undefined && { currency }),
      ...(provider !== undefined && { provider }),
      ...given(props.sites ?? {}),
    };
    this.account = new ClientAccount(this, "Default", {
      name: props.name,
      companyName: props.companyName,
      companyNumber: props.companyNumber,
      vatNumber: props.vatNumber,
      currency,
      deletionPolicy,
      provider,
      lifecycle: preventDestroy ? { preventDestroy } : undefined,
    });
    this.node.addValidation({ validate: () => accountMistakes(this.account) });
  }

  /** Id of the client account in the API. */
  get id(): string {
    return this.account.id;
  }

  /** Sites of this workspace, by id. */
  get sites(): ReadonlyMap<string, HostedSite> {
    return this.made;
  }

  /**
   * Adds a site with the workspace's defaults. Grants of both are merged; a grant of the site overrides one of the workspace.
   * @throws Error if neither the site nor the workspace sets the plan or the currency
   */
  site(id: string, props: WorkspaceSiteConfig): HostedSite {
    const own = given(props);
    const { planId, currency, ...rest } = { ...this.defaults, ...own };
    if (planId === undefined || currency === undefined) {
      const missing = planId === undefined ? "planId" : "currency";
      throw refusal(
        `${this.node.path}/${id}`,
        `${missing}: neither the site nor the workspace sets it. Set it here, or for all sites: new ClientWorkspace(…, { sites: { ${missing}: … } })`,
      );
    }
    const grants = { ...without(this.defaults.grants, own.grants), ...own.grants };
    const site = new HostedSite(this, id, { ...rest, planId, currency, grants });
    this.made.set(id, site);
    return site;
  }
}

/** Drops `undefined` values, so that these do not override a default. */
const given = <T extends object>(props: T): Partial<T> =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Returns the workspace's grants except those that the site sets. Ignores the case of e-mail addresses. */
function without(grants: HostedSiteConfig["grants"] = {}, own: HostedSiteConfig["grants"] = {}) {
  const folded = new Set(Object.keys(own).map((email) => email.trim().toLowerCase()));
  return Object.fromEntries(Object.entries(grants).filter(([email]) => !folded.has(email.trim().toLowerCase())));
}
