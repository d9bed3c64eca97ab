/**
 * Returns a program of a user of the constructs. The program imports each class of `hostform/cdktf` or
 * `hostform/cdktn`, in each way of importing. The tests compile it strictly and run it in its own project.
 * @returns TypeScript for an ES module or CommonJS. The argument of the program is the output folder.
 */
export function consumerProgram(library: "cdktf" | "cdktn"): string {
  const own = library === "cdktn";
  return `
import { App, TerraformOutput, TerraformStack, TerraformVariable } from "${library}";
import type { Construct } from "constructs";
import * as all from "hostform/${library}";
import {
  ClientAccount, ClientWorkspace, DataHostingClientAccounts, DataHostingDomainAvailability, DataHostingGrants,
  DataHostingInvoice, DataHostingInvoices, DataHostingMigrationRequest, DataHostingMigrationRequests, DataHostingPlan,
  DataHostingPlans, DataHostingService, DataHostingServices, DataHostingWebhooks, Domain, EventSubscription, Grant,
  HostedSite, HostingProvider, MigrationRequest, Password, Service, Webhook, service,
  ${own ? "EphemeralHostingPanelSso, HostingProviderFunctions," : ""}
  type GrantConfig, type ServiceConfig, type ServiceTimeouts,
} from "hostform/${library}";
import { Service as DeepService } from "hostform/${library}/lib/service";
import { HostingProvider as DeepProvider, type HostingProviderConfig } from "hostform/${library}/lib/provider";

class Site extends TerraformStack {
  readonly domain: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const settings: HostingProviderConfig = { project: "agency", baseUrl: "https://api.example", requestsPerMinute: 30 };
    const provider = new HostingProvider(this, "hosting", settings);
    const password = new TerraformVariable(this, "password", { type: "string", sensitive: true });
    const timeouts: ServiceTimeouts = { create: "20m" };
    const order: ServiceConfig = { planId: 11, currency: "USD", domain: "www.acme.example", timeouts };
    const acme = new Service(this, "acme", { ...order, provider, password: password.stringValue, passwordVersion: 1 });
    const box = new service.Service(this, "box", { planId: 12, currency: "USD", reference: "box", secretOutput: { file: "box.txt" } });
    const shared: GrantConfig = { serviceId: acme.id, email: "dev@acme.example", permission: "manage" };
    new Grant(this, "dev", shared);
    const account = new ClientAccount(this, "client", { name: "Acme", lifecycle: { preventDestroy: true } });
    new Domain(this, "domain", {
      domain: "acme.example", years: 1, currency: "USD", nameserverMode: "default", registrantContact: { name: "A" },
    });
    new MigrationRequest(this, "move", { domain: "www.acme.example", questions: { cms: "WordPress" } });
    new Webhook(this, "hook", { url: "https://hooks.acme.example/", events: ["invoice.paid"] }).importFrom("7");
    new DataHostingClientAccounts(this, "accounts");
    new DataHostingDomainAvailability(this, "availability", { domains: ["acme.example"] });
    new DataHostingGrants(this, "grants", { serviceId: acme.id });
    new DataHostingInvoice(this, "invoice", { invoiceNumber: "I-1" });
    new DataHostingInvoices(this, "invoices");
    new DataHostingMigrationRequest(this, "request", { id: "3" });
    new DataHostingMigrationRequests(this, "requests");
    const plan = new DataHostingPlan(this, "plan", { name: "Start", currency: "USD" });
    const plans = new DataHostingPlans(this, "plans");
    new DataHostingService(this, "service", { id: "1001" });
    new DataHostingServices(this, "services");
    new DataHostingWebhooks(this, "webhooks");
    ${own ? 'const sso = new EphemeralHostingPanelSso(this, "sso", { serviceId: acme.id });\n    const url: string = sso.url;\n    void url;\n    const signs: HostingProviderFunctions = provider.functions;\n    new TerraformOutput(this, "signature", { value: signs.webhookSignature("{}", password.stringValue), sensitive: true });' : ""}
    const price: number = plan.price;
    const first: string = plans.plans.get(0).name;
    new TerraformOutput(this, "price", { value: price });
    new TerraformOutput(this, "first", { value: first });
    new TerraformOutput(this, "account", { value: account.id, description: "of the client" });
    this.domain = acme.domain;
    // @ts-expect-error a plan is a number
    const wrong: ServiceConfig = { planId: "11", currency: "USD" };
    void wrong;
    const set = () => {
      // @ts-expect-error what is computed cannot be set
      acme.status = "active";
    };
    void set;
  }
}

class Agency extends TerraformStack {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new HostingProvider(this, "hosting", { project: "agency" });
    const workspace = new ClientWorkspace(this, "acme", { name: "Acme", currency: "USD", sites: { planId: 11 } });
    const password = Password.fromVariable(this, "acme_password");
    const site: HostedSite = workspace.site("www", { domain: "www.acme.example", password });
    site.grant("dev@acme.example", "view");
    new EventSubscription(this, "events", { url: "https://hooks.acme.example/", events: ["invoice.paid"], secret: { file: "hook.txt" } });
  }
}

const app = new App({ outdir: process.argv[2] ?? "out", context: { targetVersions: { terraform: ">=1.11.0" } } });
new Site(app, "site");
new Agency(app, "agency");
app.synth();
if (DeepService !== Service || all.Service !== Service || all.service.Service !== Service) throw new Error("two of Service");
if (DeepProvider !== all.provider.HostingProvider) throw new Error("two of HostingProvider");
`;
}
