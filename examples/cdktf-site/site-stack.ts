import { TerraformOutput, TerraformStack } from "cdktf";
import type { Construct } from "constructs";
import { Currency, EventName, EventSubscription, HostedSite, HostingProvider, Permission, Term } from "hostform/cdktf";

/** One site, shared with two people, and a webhook that reports its payment. */
export class SiteStack extends TerraformStack {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    // The address and the token come from HOSTING_BASE_URL and HOSTING_TOKEN. The project is part of the name of every
    // order: do not change it later.
    new HostingProvider(this, "hosting", { project: "acme" });

    const www = new HostedSite(this, "www", {
      planId: 11,
      currency: Currency.USD,
      domain: "www.acme.example",
      term: Term.YEAR,
      grants: { "boss@acme.example": Permission.VIEW },
    });
    www.grant("dev@acme.example", Permission.MANAGE, { expiresAt: "2031-01-31T00:00:00Z" });

    new EventSubscription(this, "billing", {
      url: "https://hooks.acme.example/billing",
      events: [EventName.INVOICE_CREATED, EventName.INVOICE_PAID],
      // The API shows the signing secret once: it goes to this line of this file, beside main.ts.
      secret: { envFile: { path: "hooks.env", name: "BILLING_SECRET" } },
    });

    new TerraformOutput(this, "site", { value: www.id });
  }
}
