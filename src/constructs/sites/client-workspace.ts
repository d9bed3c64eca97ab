import type { TerraformProvider } from "cdktf";
import { Construct } from "constructs";
import { ClientAccount } from "../../../bindings/cdktf/lib/client-account/index.ts";
import { accountMistakes, refusal } from "./checks.ts";
import { HostedSite, type HostedSiteConfig } from "./hosted-site.ts";
import type { Currency } from "./words.ts";

/** The defaults for the sites of a workspace. Grants of workspace and site are combined. */
export type SiteDefaults = Partial<
  Pick<HostedSiteConfig, "planId" | "currency" | "term" | "deletionPolicy" | "preventDestroy" | "grants" | "dependsOn">
>;

/** A site of a workspace: what differs from the workspace's defaults. */
export type WorkspaceSiteConfig = Omit<HostedSiteConfig, "planId" | "currency"> &
  Partial<Pick<HostedSiteConfig, "planId" | "currency">>;

/** Properties of a {@link ClientWorkspace}. */
export interface ClientWorkspaceConfig {
  /** Name of the client. */
  readonly name: string;
  /** Registered name of the company. */
  readonly companyName?: string;
  /** Registration number of the company. */
  readonly companyNumber?: string;
  /** VAT number. */
  readonly vatNumber?: string;
  /** Currency in which the client is billed; the default for its sites. */
  readonly currency?: Currency;
  /** Deletion policy of the client account. Default: `"prevent"`. */
  readonly deletionPolicy?: "prevent" | "forget";
  /** True if Terraform also refuses to destroy the client account. Default: while `deletionPolicy` is `"prevent"`. */
  readonly preventDestroy?: boolean;
  /** Defaults for the sites. */
  readonly sites?: SiteDefaults;
  /** The provider of the client account and of all its sites, where a stack has several. */
  readonly provider?: TerraformProvider;
}

/**
 * A client of an agency: its client account (Manage track), and its sites.
 *
 * The API links no service to a client account: a site belongs to the account of the token. Only this construct connects the
 * two, by its path and its defaults.
 */
export class ClientWorkspace extends Construct {
  /** The client account itself, for its other properties. */
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

  /** The id that the API gives to the client account. */
  get id(): string {
    return this.account.id;
  }

  /** The sites of this workspace, by their ids. */
  get sites(): ReadonlyMap<string, HostedSite> {
    return this.made;
  }

  /**
   * Adds a site, with the workspace's defaults; grants of both are combined, and those of the site win.
   * @throws Error when neither sets the plan or the currency
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

/** Without what is `undefined`, which must not override a default. */
const given = <T extends object>(props: T): Partial<T> =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined)) as Partial<T>;

/** The workspace's grants without those that a site sets, whatever the case of the address. */
function without(grants: HostedSiteConfig["grants"] = {}, own: HostedSiteConfig["grants"] = {}) {
  const folded = new Set(Object.keys(own).map((email) => email.trim().toLowerCase()));
  return Object.fromEntries(Object.entries(grants).filter(([email]) => !folded.has(email.trim().toLowerCase())));
}
