import {
  Annotations,
  Aspects,
  type IResolvable,
  type ITerraformDependable,
  type TerraformProvider,
  TerraformStack,
} from "cdktf";
import { Construct } from "constructs";
import { Grant } from "../../../bindings/cdktf/lib/grant/index.ts";
import { MigrationRequest } from "../../../bindings/cdktf/lib/migration-request/index.ts";
import { Service } from "../../../bindings/cdktf/lib/service/index.ts";
import {
  grantMistakes,
  isToken,
  migrationMistakes,
  orderReference,
  refusal,
  serviceMistakes,
  shown,
  withPath,
} from "./checks.ts";
import { addWriteOnlyAdvice, givenPassword, type Password, secretOutput } from "./secrets.ts";
import type { Currency, DeletionPolicy, Permission, Term } from "./words.ts";

/** A grant as a site's properties give it. */
export interface GrantSpec {
  /** Permission of the account. */
  readonly permission: Permission;
  /** End of the access (ISO 8601, or a Date). Default: none. */
  readonly expiresAt?: string | Date;
}

/** Options of {@link HostedSite.grant}. */
export interface GrantOptions extends Pick<GrantSpec, "expiresAt"> {
  /** Id of the construct. Default: the e-mail address. Needed where that is a token. */
  readonly id?: string;
}

/** A request to move a website to the site. */
export interface MigrationSpec {
  /** The website's domain. Default: that of the site. */
  readonly domain?: string;
  /** Source type and scope questions, sent as they are. Access data is given in the dashboard, not here. */
  readonly questions?: Readonly<Record<string, string | number | boolean>>;
  /** Deletion policy of the request. Default: `"forget"`, because it costs nothing and ends nothing. */
  readonly deletionPolicy?: "prevent" | "forget";
}

/** Properties of a {@link HostedSite}. */
export interface HostedSiteConfig {
  /** The plan to order; see the data source `DataHostingPlans`. */
  readonly planId: number;
  /** Currency of the order and its invoices. */
  readonly currency: Currency;
  /** The site's domain. Required for hosting plans (shared, WordPress); a server has none. */
  readonly domain?: string;
  /** Months paid in advance. Default: 1. */
  readonly term?: Term;
  /** Coupon for this plan and cycle. */
  readonly couponCode?: string;
  /**
   * Stable name of the order within the provider's `project`. Default: with a domain, none (the domain names the order);
   * without one, the path of this construct.
   */
  readonly reference?: string;
  /** True to suspend the site. Default: not managed, so that a suspension by the host stays. */
  readonly suspended?: boolean | IResolvable;
  /** Its control-panel password, from a variable or made by the host. Left out: not managed. */
  readonly password?: Password;
  /** Raise it to set the password again. Default, with a `password`: 1. */
  readonly passwordVersion?: number;
  /** Deletion policy of the service. Default: `"prevent"`. */
  readonly deletionPolicy?: DeletionPolicy;
  /** True if Terraform also refuses to destroy the service. Default: while `deletionPolicy` is `"prevent"`. */
  readonly preventDestroy?: boolean;
  /** Accounts with access: e-mail address -> permission. */
  readonly grants?: Readonly<Record<string, Permission | GrantSpec>>;
  /** A website to move here. */
  readonly migration?: MigrationSpec;
  /** The provider, where a stack has several. */
  readonly provider?: TerraformProvider;
  /** Constructs to create before it. */
  readonly dependsOn?: ITerraformDependable[];
}

/**
 * A site (or a server): the service, those who share it, and a website to move to it.
 *
 * The service has the name of this construct in Terraform: `new HostedSite(stack, "acme", …)` is `hosting_service.acme`. An
 * order costs money and cannot be undone, so by default nothing destroys it.
 *
 * Mistakes in values are reported at synthesis, all at once, each with the path of its construct.
 */
export class HostedSite extends Construct {
  /** The service itself, for its other properties. */
  readonly service: Service;
  /** The request to move a website here. */
  readonly migration: MigrationRequest | undefined;
  /** Reference of the order; undefined if its domain names it. */
  readonly reference: string | undefined;
  private readonly provider: TerraformProvider | undefined;
  private readonly shared = new Map<string, Grant>();

  /** @throws Error, with the path of the construct, for mistakes that do not depend on unknown values */
  constructor(scope: Construct, id: string, props: HostedSiteConfig) {
    super(scope, id);
    const { deletionPolicy = "prevent" } = props;
    // Values from a file may be null: the same as left out.
    const [reference, migration] = [props.reference ?? undefined, props.migration ?? undefined];
    const password = withPath(this, () => givenPassword(props.password));
    const { preventDestroy = deletionPolicy === "prevent" } = props;
    this.provider = props.provider;
    const named = (reference ?? props.domain ?? undefined) !== undefined;
    this.reference = named ? reference : withPath(this, () => orderReference(this.node.path));
    this.service = new Service(this, "Default", {
      planId: props.planId,
      currency: props.currency,
      domain: props.domain,
      term: props.term,
      couponCode: props.couponCode,
      reference: this.reference,
      suspended: props.suspended,
      password: password?.value,
      passwordVersion: props.passwordVersion ?? (password === undefined ? undefined : 1),
      secretOutput:
        password === undefined || password.value !== undefined
          ? undefined
          : withPath(this, () => secretOutput(password.place, TerraformStack.of(this))),
      deletionPolicy,
      provider: props.provider,
      dependsOn: props.dependsOn,
      lifecycle: preventDestroy ? { preventDestroy } : undefined,
    });
    if (password?.value !== undefined) addWriteOnlyAdvice(this);
    this.migration = migration === undefined ? undefined : this.moved(migration, props.domain);
    for (const [email, spec] of Object.entries(props.grants ?? {})) {
      // The validation at synthesis reports anything else.
      if (typeof spec === "object" && spec !== null) this.grant(email, spec.permission, spec);
      else this.grant(email, spec);
    }
    this.node.addValidation({ validate: () => this.mistakes() });
    Aspects.of(this).add({ visit: (node) => node === this && this.remark() });
  }

  /** The id that the API gives to the service. */
  get id(): string {
    return this.service.id;
  }

  /** The site's domain, as the API shows it. */
  get domain(): string {
    return this.service.domain;
  }

  /** The grants of this site, by e-mail address in lower case. */
  get grants(): ReadonlyMap<string, Grant> {
    return this.shared;
  }

  /**
   * Shares the site with another user.
   * @throws Error for an address that already has a grant, for one that is a token and has no `id`, for anything but a text
   */
  grant(email: string, permission: Permission, { expiresAt, id }: GrantOptions = {}): Grant {
    if (typeof email !== "string") throw refusal(this.node.path, `grant: ${shown(email)} is not an e-mail address`);
    const key = isToken(email) ? undefined : email.trim().toLowerCase();
    if (key === undefined && id === undefined) {
      throw refusal(
        this.node.path,
        `grant: only Terraform knows this e-mail address, so it cannot be the construct's id. Set one: grant(email, ${shown(permission)}, { id: "…" })`,
      );
    }
    if (key !== undefined && this.shared.has(key)) {
      throw refusal(this.node.path, `grant: the site is already shared with ${key}`);
    }
    const grant = new Grant(this, id ?? key ?? "", {
      serviceId: this.service.id,
      email,
      permission,
      expiresAt: expiresAt instanceof Date ? instantOf(expiresAt) : expiresAt,
      provider: this.provider,
    });
    this.shared.set(key ?? grant.node.id, grant);
    return grant;
  }

  /** Suspends the site. Its data is kept, and the host goes on billing it. */
  suspend(): this {
    this.service.suspended = true;
    return this;
  }

  /** Ends a suspension, and keeps the site active. Never orders anything. */
  unsuspend(): this {
    this.service.suspended = false;
    return this;
  }

  private moved(
    { domain, questions = {}, deletionPolicy = "forget" }: MigrationSpec,
    own: string | undefined,
  ): MigrationRequest {
    const moving = domain ?? own;
    if (moving === undefined) {
      throw refusal(this.node.path, 'migration: the site has no domain. Name the one to move: { domain: "…" }');
    }
    return new MigrationRequest(this, "migration", {
      domain: moving,
      orderId: this.service.id,
      questions: Object.fromEntries(Object.entries(questions).map(([name, value]) => [name, String(value)])),
      deletionPolicy,
      provider: this.provider,
    });
  }

  private mistakes(): string[] {
    return [
      ...serviceMistakes(this.service),
      ...(this.migration === undefined ? [] : migrationMistakes(this.migration)),
      ...[...this.shared.values()].flatMap(grantMistakes),
    ];
  }

  /** Adds warnings at synthesis, when the program has set everything. */
  private remark(): void {
    if (this.migration === undefined) return;
    const annotations = Annotations.of(this);
    if (this.service.suspendedInput === true) {
      annotations.addWarning(
        "The site is suspended, and a website is to be moved to it. Remove `migration` when the move is done, or unsuspend the site.",
      );
    }
    for (const [name, value] of Object.entries(this.migration.questionsInput ?? {})) {
      if (!/passw|passphrase|pwd|secret|token/i.test(name) || isToken(value)) continue;
      annotations.addWarning(
        `migration.questions: ${shown(name)} looks like access data, which would stand in clear text in cdk.tf.json. Enter it in the dashboard.`,
      );
    }
  }
}

/** An invalid time is reported at synthesis, as any other wrong value. */
const instantOf = (time: Date): string => (Number.isNaN(time.getTime()) ? "an invalid Date" : time.toISOString());
