import type { Declaration } from "./declaration.ts";
import { PLANS, phaseOf } from "./records.ts";
import type { Server } from "./server.ts";
import { classOf } from "./witness.ts";
import type { World } from "./world.ts";

/**
 * Simulates a user who changes the account in the dashboard.
 * @param isRecorded Returns true if the state contains the service.
 */
export function editByHand(
  world: World,
  server: Server,
  declaration: Declaration,
  isRecorded: (id: number) => boolean,
): void {
  const { chance } = world;
  server.settle();
  const own = server.services.filter((one) => !one.foreign && one.visibleAt <= world.now);
  const inUse = own.filter((one) => ["active", "suspended"].includes(phaseOf(one, world.now)));
  const foreign = { id: server.nextId(), createdAt: world.now, foreign: true } as const;
  const what = chance.weighted({
    order: 3, // a service of another user, with a declared plan or its own domain
    end: 2,
    grant: 1,
    subscribe: 1,
    account: 1,
    migrate: 1,
    revoke: 3,
    promote: 2,
    unsubscribe: 2,
    suspend: 3,
    unsuspend: 2,
    terminate: 2,
  });
  world.note(`console: ${what}`);
  switch (what) {
    case "order": {
      const plan = chance.oneOf(PLANS) ?? PLANS[0];
      if (plan === undefined) return;
      const domain = plan.product_type === "shared" ? `other${foreign.id}.example` : null;
      server.add({ plan, domain, term: 1, key: null, foreign: true }, 0);
      return;
    }
    case "end": {
      const chosen = chance.oneOf(server.services.filter((one) => one.foreign));
      if (chosen !== undefined) chosen.terminated = true;
      return;
    }
    case "grant": {
      const chosen = chance.oneOf(own);
      if (chosen === undefined) return;
      server.grants.push({
        ...foreign,
        service: chosen.id,
        email: `guest${foreign.id}@other.example`,
        permission: "view",
      });
      return;
    }
    case "subscribe":
      server.webhooks.push({
        ...foreign,
        url: `https://other${foreign.id}.example/`,
        events: ["invoice.paid"],
        secret: "theirs",
      });
      return;
    case "account":
      server.accounts.push({ ...foreign, name: `other${foreign.id}`, currency: "USD" });
      return;
    case "migrate":
      server.migrations.push({ ...foreign, domain: `other${foreign.id}.example`, order: null });
      return;
    case "revoke": {
      const chosen = chance.oneOf(server.grants);
      server.grants = server.grants.filter((one) => one !== chosen);
      return;
    }
    case "promote": {
      const chosen = chance.oneOf(server.grants);
      if (chosen !== undefined) chosen.permission = chosen.permission === "view" ? "manage" : "view";
      return;
    }
    case "unsubscribe": {
      const chosen = chance.oneOf(server.webhooks);
      server.webhooks = server.webhooks.filter((one) => one !== chosen);
      return;
    }
    case "suspend":
    case "unsuspend": {
      const chosen = chance.oneOf(inUse);
      if (chosen !== undefined) chosen.suspended = what === "suspend";
      return;
    }
    case "terminate": {
      // A migration request cannot refer to another service. A pending order has no visible service.
      const used = new Set(declaration.migrations.map(({ service }) => service));
      const kept = declaration.services.filter(({ name }) => used.has(name)).map(classOf);
      const chosen = chance.oneOf(
        inUse.filter(
          (one) => isRecorded(one.id) && !kept.includes(classOf({ domain: one.domain, plan: one.plan.plan_id })),
        ),
      );
      if (chosen !== undefined) chosen.terminated = true;
    }
  }
}
