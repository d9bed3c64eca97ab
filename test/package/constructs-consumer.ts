/**
 * Expectations for a project that uses the constructs: the stack of `consumer-program.ts`, and the error about a
 * missing peer.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { VERSION } from "../../src/core/api/version.ts";
import { root, run } from "./consumer.ts";

/**
 * Compilers of users. TypeScript 5.9 accepts `moduleResolution: node10` without a warning; TypeScript 7 does not
 * support this value. The compilers are packages of `scripts/bindings`, which only the long tests install.
 */
export const TYPESCRIPT_5_9 = path.join(root, "scripts/bindings/node_modules/typescript-5.9");
export const TYPESCRIPT_6 = path.join(root, "scripts/bindings/node_modules/typescript-6.0");

type Json = { readonly [key: string]: unknown };

/**
 * Runs `program.ts` of a project with this Node. Returns the first stack without library metadata, and the number of
 * resources of each type in the second stack.
 */
export function synthesized(folder: string, node: string): Json {
  run(node, ["program.ts", "out"], folder);
  const stack = (name: string) =>
    JSON.parse(readFileSync(path.join(folder, `out/stacks/${name}/cdk.tf.json`), "utf8"), (key, value) =>
      key === "//" ? undefined : value,
    );
  const { terraform, ...site } = stack("site");
  const counted = Object.entries(stack("agency").resource).map(([type, all]) => [type, Object.keys(all ?? {}).length]);
  return { ...site, required_providers: terraform.required_providers, agency: Object.fromEntries(counted) };
}

/** Returns the expected first stack of `consumer-program.ts`, as Terraform JSON. */
export function expectedOf(library: "cdktf" | "cdktn"): Json {
  const own = library === "cdktn";
  const [major, minor] = VERSION.split(".");
  return {
    agency: { hosting_client_account: 1, hosting_grant: 1, hosting_service: 1, hosting_webhook: 1 },
    required_providers: { hosting: { source: "hostform/hosting", version: `~> ${major}.${minor}` } },
    provider: { hosting: [{ base_url: "https://api.example", project: "agency", requests_per_minute: 30 }] },
    variable: { password: { sensitive: true, type: "string" } },
    import: [{ id: "7", to: "hosting_webhook.hook" }],
    resource: {
      hosting_client_account: { client: { lifecycle: { prevent_destroy: true }, name: "Acme" } },
      hosting_domain: {
        domain: {
          currency: "USD",
          domain: "acme.example",
          nameserver_mode: "default",
          registrant_contact: { name: "A" },
          years: 1,
        },
      },
      hosting_grant: {
        dev: { email: "dev@acme.example", permission: "manage", service_id: "${hosting_service.acme.id}" },
      },
      hosting_migration_request: { move: { domain: "www.acme.example", questions: { cms: "WordPress" } } },
      hosting_service: {
        acme: {
          currency: "USD",
          domain: "www.acme.example",
          password: "${var.password}",
          password_version: 1,
          plan_id: 11,
          provider: "hosting",
          timeouts: { create: "20m" },
        },
        box: { currency: "USD", plan_id: 12, reference: "box", secret_output: { file: "box.txt" } },
      },
      hosting_webhook: { hook: { events: ["invoice.paid"], url: "https://hooks.acme.example/" } },
    },
    data: {
      hosting_client_accounts: { accounts: {} },
      hosting_domain_availability: { availability: { domains: ["acme.example"] } },
      hosting_grants: { grants: { service_id: "${hosting_service.acme.id}" } },
      hosting_invoice: { invoice: { invoice_number: "I-1" } },
      hosting_invoices: { invoices: {} },
      hosting_migration_request: { request: { id: "3" } },
      hosting_migration_requests: { requests: {} },
      hosting_plan: { plan: { currency: "USD", name: "Start" } },
      hosting_plans: { plans: {} },
      hosting_service: { service: { id: "1001" } },
      hosting_services: { services: {} },
      hosting_webhooks: { webhooks: {} },
    },
    ...(own && { ephemeral: { hosting_panel_sso: { sso: { service_id: "${hosting_service.acme.id}" } } } }),
    output: {
      account: { description: "of the client", value: "${hosting_client_account.client.id}" },
      first: { value: "${data.hosting_plans.plans.plans[0].name}" },
      price: { value: "${data.hosting_plan.plan.price}" },
      ...(own && {
        signature: { sensitive: true, value: '${provider::hosting::webhook_signature("{}", var.password)}' },
      }),
    },
  };
}

/** Returns the classes of the package that the program of a project does not name. */
export function unusedClasses(folder: string, library: string): readonly string[] {
  const script = `
    const classes = Object.entries(require("hostform/${library}")).filter(([, one]) => typeof one === "function");
    console.log(JSON.stringify(classes.map(([name]) => name)));`;
  const names: readonly string[] = JSON.parse(run(process.execPath, ["--input-type=commonjs", "-e", script], folder));
  if (names.length < 20) throw new Error(`only ${names.length} classes are exported: ${names.join(", ")}`);
  const program = readFileSync(path.join(folder, "program.ts"), "utf8");
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(program));
}

/** Returns the output of Node for a module that it cannot load, by `require` and by `import`. */
export function missingPeer(folder: string, specifier: string): readonly string[] {
  return [
    ["--input-type=commonjs", "-e", `require("${specifier}")`],
    ["--input-type=module", "-e", `import { Service } from "${specifier}"; Service;`],
  ].map((args) => {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    return status === 0 ? "it is loaded" : stderr;
  });
}
