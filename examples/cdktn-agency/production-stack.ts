import { TerraformOutput } from "cdktn";
import type { Construct } from "constructs";
import {
  ClientWorkspace,
  EventName,
  EventSubscription,
  type HostedSite,
  Password,
  Permission,
  Term,
} from "hostform/cdktn";
import type { Client, Site } from "./clients.ts";
import { HostingStack } from "./hosting-stack.ts";

export interface ProductionProps {
  readonly clients: readonly Client[];
  readonly build: HostedSite;
}

const PLANS = { site: 11, shop: 21, server: 32 } as const;

/** Every client with an account and its sites. */
export class ProductionStack extends HostingStack {
  constructor(scope: Construct, id: string, { clients, build }: ProductionProps) {
    super(scope, id);
    for (const client of clients) this.add(client);
    this.deployFrom(build);

    new EventSubscription(this, "watch", {
      url: "https://hooks.agency.example/hosting",
      events: [EventName.SERVICE_EXPIRING, EventName.SERVICE_SUSPENDED, EventName.SERVICE_TERMINATED],
      secret: { envFile: { path: "hooks.env", name: "WATCH_SECRET" } },
    });
    new TerraformOutput(this, "clients", { value: clients.length });
  }

  private add(client: Client): void {
    const workspace = new ClientWorkspace(this, client.id, {
      name: client.name,
      companyNumber: client.companyNumber,
      currency: client.currency,
      sites: { term: Term.YEAR, grants: { "team@agency.example": Permission.MANAGE, ...client.team } },
    });
    for (const site of client.sites) {
      const made = workspace.site(site.name, {
        planId: PLANS[site.kind],
        domain: site.kind === "server" ? undefined : `${site.name}.${client.id}.example`,
        password: this.passwordOf(client, site),
        passwordVersion: site.passwordVersion,
        migration: site.from === undefined ? undefined : { questions: { source: site.from } },
      });
      if (client.unpaid) made.suspend();
    }
  }

  /** Passwords that the agency sets come from TF_VAR_nino_password and the like, and are in no file. */
  private passwordOf(client: Client, site: Site): Password | undefined {
    return site.passwordVersion === undefined ? undefined : Password.fromVariable(this, `${client.id}_password`);
  }
}
