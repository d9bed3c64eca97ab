import type { TerraformProvider } from "cdktf";
import { Construct } from "constructs";
import { ClientAccount } from "../../../bindings/cdktf/lib/client-account/index.ts";
import { accountMistakes, refusal } from "./checks.ts";
import { HostedSite, type HostedSiteConfig } from "./hosted-site.ts";
import type { Currency } from "./words.ts";

/** What the sites of a workspace have in common, unless one says otherwise. Grants of both are added. */
export type SiteDefaults = Partial<
  Pick<HostedSiteConfig, "planId" | "currency" | "term" | "deletionPolicy" | "preventDestroy" | "grants" | "dependsOn">
>;

/** A site of a workspace: what the workspace's defaults do not say. */
export type WorkspaceSiteConfig = Omit<HostedSiteConfig, "planId" | "currency"> &
  Partial<Pick<HostedSiteConfig, "planId" | "currency">>;

/** What a {@link ClientWorkspace} is made of. */
export interface ClientWorkspaceConfig {
  /** Name of the client. */
  readonly name: string;
  /** Registered name of the company. */
  readonly companyName?: string;
  /** Registration number of the company. */
  readonly companyNumber?: string;
  /** VAT number. */
  readonly vatNumber?: string;
  /** Currency that the client is billed in, and that the sites are ordered in unless one says otherwise. */
  readonly currency?: Currency;
  /** What destroying the client account means. Default: `"prevent"`. */
  readonly deletionPolicy?: "prevent" | "forget";
  /** Whether Terraform refuses to destroy the client account too. Default: while `deletionPolicy` is `"prevent"`. */
  readonly preventDestroy?: boolean;
  /** What the sites have in common. */
  readonly sites?: SiteDefaults;
  /** The provider of the client account and of all its sites, where a stack has several. */
  readonly provider?: TerraformProvider;
}

/**
 * A client of an agency: its client account (Manage track), and its sites.
 *
 * The API ties no service to a client account: a site belongs to the account of the token. What holds the two together is
 * this construct, its path and its defaults.
 */
export class ClientWorkspace extends Construct {
  /** The client account itself, for whatever is not here. */
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
   * Adds a site. What it does not say is taken from the workspace; grants of both are added, and those of the site count.
   * @throws Error when neither says which plan or which currency
   */
  site(id: string, props: WorkspaceSiteConfig): HostedSite {
    const own = given(props);
    const { planId, currency, ...rest } = { ...this.defaults, ...own };
    if (planId === undefined || currency === undefined) {
      const missing = planId === undefined ? "planId" : "currency";
      throw refusal(
        `${this.node.path}/${id}`,
        `${missing}: neither the site nor the workspace says it. Give it here, or to all: new ClientWorkspace(…, { sites: { ${missing}: … } })`,
      );
    }
    const grants = { ...without(this.defaults.grants, own.grants), ...own.grants };
    const site = new HostedSite(this, id, { ...rest, planId, currency, grants });
    this.made.set(id, site);
    return site;
  }
}

/** Without what is `undefined`, which must not take the place of a default. */
const given = <T extends object>(props: T): Partial<T> =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined)) as Partial<T>;

/** The grants of all sites, without those that a site gives itself, however the address is written. */
function without(grants: HostedSiteConfig["grants"] = {}, own: HostedSiteConfig["grants"] = {}) {
  const folded = new Set(Object.keys(own).map((email) => email.trim().toLowerCase()));
  return Object.fromEntries(Object.entries(grants).filter(([email]) => !folded.has(email.trim().toLowerCase())));
}
