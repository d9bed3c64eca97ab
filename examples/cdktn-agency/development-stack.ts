import type { Construct } from "constructs";
import { Currency, HostedSite, Password, Permission } from "hostform/cdktn";
import { HostingStack } from "./hosting-stack.ts";

/** The agency's own: a build server, and a site to try things on. */
export class DevelopmentStack extends HostingStack {
  readonly build: HostedSite;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // A server has no domain. Its order is named "development/build", the path of the construct.
    this.build = new HostedSite(this, "build", {
      planId: 31,
      currency: Currency.USD,
      // The host generates its password and shows it once.
      password: Password.generated({ file: "build.password" }),
    });
    new HostedSite(this, "sandbox", {
      planId: 11,
      currency: Currency.USD,
      domain: "sandbox.agency.example",
      // It holds nothing of value: destroy suspends it.
      deletionPolicy: "suspend",
      grants: { "interns@agency.example": Permission.MANAGE },
    });
  }
}
