/**
 * A stack with all supported features, as cdktf and cdktn synthesize it, and a folder in which hostform and Terraform
 * apply it.
 */
import { testClock } from "./clock.ts";
import { fakeIo } from "./io.ts";
import { runCli } from "./program.ts";
import { startTerraform, type Terraform, type TerraformOptions } from "./terraform.ts";
import { ADDRESSES } from "./terraform-all-kinds.ts";
import type { Ended } from "./terraform-outcome.ts";

const CONTACT = {
  first_name: "Ana",
  last_name: "Acme",
  email: "ana@acme.example",
  phone: "+995 555 000000",
  address: "1 Rustaveli Ave",
  city: "Tbilisi",
  postcode: "0108",
  country: "GE",
};

/** Top level of Terraform's JSON. */
export interface StackDocument {
  readonly resource?: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly [block: string]: unknown;
}

/** Returns the metadata that a construct adds. */
const at = (name: string) => ({ metadata: { path: `acme/${name}`, uniqueId: name } });

/** Returns resources by type and name, each with its metadata. */
export function resources(of: Readonly<Record<string, Readonly<Record<string, object>>>>): StackDocument["resource"] {
  return Object.fromEntries(
    Object.entries(of).map(([type, named]) => [
      type,
      Object.fromEntries(Object.entries(named).map(([name, block]) => [name, { "//": at(name), ...block }])),
    ]),
  );
}

/** Top-level blocks of each stack. */
export const HEAD: StackDocument = {
  "//": { metadata: { backend: "local", stackName: "acme", version: "0.21.0" } },
  provider: { hosting: [{ project: "both" }] },
  terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
};

/** All kinds of `YAML` in terraform-all-kinds.ts, as constructs synthesize them. */
export const SAME_AS_YAML: StackDocument = {
  ...HEAD,
  variable: { password: { type: "string", sensitive: true, ephemeral: true } },
  locals: { domain: "acme.example" },
  resource: resources({
    hosting_service: {
      www: {
        plan_id: 11,
        currency: "USD",
        domain: '${join(".", ["www", local.domain])}',
        term: 12,
        coupon_code: "YEAR20",
        reference: "www",
        suspended: true,
        password: "${var.password}",
        password_version: 2,
        deletion_policy: "suspend",
      },
      box: { plan_id: 31, currency: "USD", reference: "box", password_version: 1, deletion_policy: "forget" },
      plain: { plan_id: 21, currency: "EUR", domain: "plain.${local.domain}" },
    },
    hosting_grant: {
      www: {
        for_each: {
          "Boss@Acme.example": { permission: "view", expires_at: "2099-01-31T00:00:00Z" },
          "dev@acme.example": { permission: "manage" },
        },
        service_id: "${hosting_service.www.id}",
        email: "${each.key}",
        permission: '${each.value["permission"]}',
        expires_at: '${lookup(each.value, "expires_at", null)}',
      },
    },
    hosting_webhook: {
      billing: { url: "https://hooks.acme.example/billing", events: ["invoice.paid", "invoice.created"] },
      ops: { url: "https://hooks.acme.example", events: ["service.suspended"], secret_output: { file: "ops.secret" } },
    },
    hosting_client_account: {
      acme: { name: "Acme", company_name: "Acme LLC", currency: "GEL" },
      bare: { name: '${title("bare")}' },
    },
    hosting_migration_request: {
      acme: {
        domain: "${hosting_service.www.domain}",
        order_id: "${hosting_service.www.id}",
        questions: { source: "cpanel", mailboxes: 3, folders: '${jsonencode(["a", "b"])}' },
      },
    },
    hosting_domain: {
      acme: {
        domain: "${local.domain}",
        years: 2,
        currency: "USD",
        nameserver_mode: "default",
        registrant_contact: CONTACT,
        deletion_policy: "forget",
      },
    },
  }),
};

/**
 * The same stack with features that YAML lacks: `count`, data sources, a resource for each of another, and outputs of
 * all types.
 */
export const STACK: StackDocument = {
  ...SAME_AS_YAML,
  terraform: { ...Object(HEAD.terraform), backend: { local: { path: "terraform.acme.tfstate" } } },
  data: { hosting_plans: { plans: { "//": at("plans") } } },
  resource: {
    ...SAME_AS_YAML.resource,
    ...resources({
      hosting_service: {
        ...SAME_AS_YAML.resource?.hosting_service,
        site: {
          for_each: { a: { domain: "a.example" }, b: { domain: "b.example" } },
          plan_id: 11,
          currency: "USD",
          domain: "${each.value.domain}",
        },
      },
      hosting_grant: {
        ...SAME_AS_YAML.resource?.hosting_grant,
        each: {
          for_each: "${hosting_service.site}",
          service_id: "${each.value.id}",
          email: "${each.key}@acme.example",
          permission: "view",
          depends_on: ["hosting_webhook.billing"],
        },
      },
      hosting_webhook: {
        ...SAME_AS_YAML.resource?.hosting_webhook,
        many: { count: 2, url: "https://hooks.acme.example/${count.index}", events: ["service.expiring"] },
      },
    }),
  },
  output: {
    id: { value: "${hosting_service.www.id}" },
    ids: { value: "${values(hosting_service.site)[*].id}" },
    events: { value: "${hosting_webhook.billing.events}" },
    contact: { value: "${hosting_domain.acme.registrant_contact}" },
    hooks: { value: "${hosting_webhook.many[*].url}", description: "A list" },
    by_site: { value: "${{for name, site in hosting_service.site : name => upper(site.domain)}}" },
    plans: { value: "${length(data.hosting_plans.plans.plans) > 3}" },
    nothing: { value: "${hosting_service.plain.coupon_code}" },
    signing: { value: "${hosting_webhook.billing.secret}", sensitive: true },
    both: { value: "${hosting_service.www.suspended ? hosting_service.www.plan_id : 0}" },
  },
};

/** Addresses of the stack. */
export const STACK_ADDRESSES = [
  ...ADDRESSES,
  ...["a", "b"].flatMap((key) => [`hosting_grant.each["${key}"]`, `hosting_service.site["${key}"]`]),
  "hosting_webhook.many[0]",
  "hosting_webhook.many[1]",
].sort();

export interface Both {
  readonly terraform: Terraform;
  /** Runs hostform in the folder, in this process. */
  hostform(...args: string[]): Promise<Ended>;
  /**
   * Runs hostform and fails unless the exit code is `code`.
   * @returns The standard output.
   */
  ended(code: number, ...args: string[]): Promise<string>;
  declare(stack: StackDocument): Promise<void>;
}

/** Creates a folder with a stack for Terraform and hostform. */
export async function startBoth(stack: StackDocument, options: TerraformOptions = {}): Promise<Both> {
  const terraform = await startTerraform({
    install: "running",
    ...options,
    env: { TF_VAR_password: "correct horse battery", HOSTFORM_PROJECT: undefined, ...options.env },
  });
  // The stack contains the same block, and hostform does not read HCL.
  await terraform.remove("versions.tf");
  const declare = (document: StackDocument) => terraform.write(JSON.stringify(document, null, 2), "cdk.tf.json");
  const hostform = async (...args: string[]): Promise<Ended> => {
    // The sandbox uses the real time. Waiting takes no time.
    const io = fakeIo({ cwd: terraform.dir, env: terraform.env, clock: testClock(Date.now()) });
    const code = await runCli([...args, "--stack", "."], io);
    return { code, out: io.stdout(), err: io.stderr(), text: io.stdout() + io.stderr() };
  };
  const ended = async (code: number, ...args: string[]) => {
    const ran = await hostform(...args);
    if (ran.code !== code) throw new Error(`hostform ${args.join(" ")} ended with ${ran.code}:\n${ran.text}`);
    return ran.out;
  };
  await declare(stack);
  return { terraform, hostform, ended, declare };
}

/** Action of a plan for an address, in Terraform's format. */
export interface PlannedAction {
  readonly actions: readonly string[];
  readonly from?: string;
  readonly id?: string;
}

interface PlanDocument {
  readonly resource_changes?: readonly {
    readonly address: string;
    readonly mode?: string;
    readonly previous_address?: string;
    readonly change: { readonly actions: readonly string[]; readonly importing?: { readonly id?: string } };
  }[];
}

/**
 * Returns the actions of a plan, by address. `plan --json` of hostform and `show -json` of Terraform have the same
 * format.
 */
export function actionsOf(plan: object): Readonly<Record<string, PlannedAction>> {
  const all = (plan as PlanDocument).resource_changes ?? [];
  return Object.fromEntries(
    all.flatMap(({ address, mode, previous_address: from, change: { actions, importing } }) => {
      const moved = from !== undefined && from !== address;
      if (mode === "data" || (actions[0] === "no-op" && !moved && importing === undefined)) return [];
      return [[address, { actions, ...(moved && { from }), ...(importing?.id && { id: importing.id }) }]];
    }),
  );
}
