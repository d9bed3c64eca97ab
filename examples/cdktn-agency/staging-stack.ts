import type { Construct } from "constructs";
import { Currency, HostedSite, Permission } from "hostform/cdktn";
import type { Client } from "./clients.ts";
import { HostingStack } from "./hosting-stack.ts";

export interface StagingProps {
  readonly clients: readonly Client[];
  readonly build: HostedSite;
}

/** A cheap copy of those sites that want one. */
export class StagingStack extends HostingStack {
  constructor(scope: Construct, id: string, { clients, build }: StagingProps) {
    super(scope, id);
    for (const client of clients) {
      for (const { name } of client.sites.filter(({ staged }) => staged)) {
        new HostedSite(this, `${client.id}-${name}`, {
          planId: 11,
          currency: Currency.USD,
          domain: `${name}.${client.id}.staging.agency.example`,
          deletionPolicy: "suspend",
          grants: { "team@agency.example": Permission.MANAGE },
        });
      }
    }
    this.deployFrom(build);
  }
}
