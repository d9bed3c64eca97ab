import { TerraformStack } from "cdktf";
import type { Construct } from "constructs";
import { Grant, type HostedSite, HostingProvider, Permission } from "hostform/cdktf";

/** What the stacks of all environments have in common. */
export class HostingStack extends TerraformStack {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    // One project for all: an order is named by its domain, or by the path of its construct, which begins with the
    // name of the stack.
    new HostingProvider(this, "hosting", { project: "agency" });
  }

  /** Lets the deployer of this environment into the build server, which is in another stack. */
  protected deployFrom(build: HostedSite): void {
    new Grant(this, "deployer", {
      serviceId: build.id,
      email: `deploy-${this.node.id}@agency.example`,
      permission: Permission.MANAGE,
    });
  }
}
