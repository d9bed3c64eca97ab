/** Deferred responses while the provider's configuration or a service is not ready. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { rpcs } from "../../../../../src/fronts/terraform/calls/call.ts";
import { calls } from "../../../../../src/fronts/terraform/calls/index.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { decodeDynamic, encodeDynamic } from "../../../../../src/fronts/terraform/codec/dynamic.ts";
import { Deferred_Reason } from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { complete, type OpenAccount, openAccount, reportedBy } from "../account.ts";

const grant = catalogue.resources.get("hosting_grant")?.attributes ?? {};
const plans = catalogue.dataSources.get("hosting_plans")?.attributes ?? {};
const panel = catalogue.ephemeral.get("hosting_panel_sso")?.attributes ?? {};
const GRANT = { service_id: "1001", email: "dev@acme.example", permission: "view" };
const NOT_KNOWN = "error: The provider's `token` is known only after apply";

async function send<I extends DescMessage, O extends DescMessage>(
  { connection }: OpenAccount,
  rpc: { readonly name: string; readonly input: I; readonly output: O },
  request: MessageInitShape<I>,
): Promise<MessageShape<O>> {
  const bytes = await calls[rpc.name]?.(toBinary(rpc.input, create(rpc.input, request)), connection);
  return fromBinary(rpc.output, bytes ?? new Uint8Array());
}

/** A provider whose token is unknown. @param mayDefer true: Terraform announced deferrals when it configured the provider. */
async function unknownToken(mayDefer: boolean): Promise<OpenAccount> {
  const account = await openAccount({ config: { token: UNKNOWN } });
  account.connection.mayDefer = mayDefer;
  return account;
}

const planOf = (config: ValueObject, more: object = {}) => ({
  typeName: "hosting_grant",
  priorState: encodeDynamic(null, grant),
  proposedNewState: encodeDynamic(complete(grant, config), grant),
  config: encodeDynamic(complete(grant, config), grant),
  ...more,
});

const recorded = encodeDynamic(complete(grant, { ...GRANT, id: "7" }), grant);
const json = new TextEncoder().encode(JSON.stringify({ ...GRANT, id: "7" }));
const PROVIDER = { reason: Deferred_Reason.PROVIDER_CONFIG_UNKNOWN };

describe("an unknown provider configuration", () => {
  it("defers plans, reads, imports and data sources, and computed values are unknown", async () => {
    const account = await unknownToken(true);
    const plan = await send(account, rpcs.planResourceChange, planOf(GRANT));
    expect(plan).toMatchObject({ deferred: PROVIDER, diagnostics: [] });
    expect(decodeDynamic(plan.plannedState, grant)).toMatchObject({ ...GRANT, id: UNKNOWN, timeouts: null });
    expect(
      await send(account, rpcs.upgradeResourceState, { typeName: "hosting_grant", rawState: { json } }),
    ).toMatchObject({ diagnostics: [], upgradedState: recorded });
    const read = await send(account, rpcs.readResource, { typeName: "hosting_grant", currentState: recorded });
    expect(read).toMatchObject({ deferred: PROVIDER, diagnostics: [], newState: recorded });
    const imported = await send(account, rpcs.importResourceState, { typeName: "hosting_grant", id: "1001/7" });
    expect(imported).toMatchObject({ deferred: PROVIDER, diagnostics: [], importedResources: [] });
    const data = await send(account, rpcs.readDataSource, {
      typeName: "hosting_plans",
      config: encodeDynamic(complete(plans, {}), plans),
    });
    expect(data).toMatchObject({ deferred: PROVIDER, diagnostics: [] });
    expect(decodeDynamic(data.state, plans)).toMatchObject({ plans: UNKNOWN });
    const opened = await send(account, rpcs.openEphemeralResource, {
      typeName: "hosting_panel_sso",
      config: encodeDynamic({ service_id: "1001", url: null }, panel),
    });
    expect(opened).toMatchObject({ deferred: PROVIDER, diagnostics: [] });
    expect(account.sent()).toEqual([]);
  });

  it("defers the refresh and the plan of an object that was moved from another provider", async () => {
    const account = await unknownToken(true);
    const moved = encodeDynamic(complete(grant, { id: "7", service_id: "1001" }), grant);
    const read = await send(account, rpcs.readResource, { typeName: "hosting_grant", currentState: moved });
    expect(read).toMatchObject({ deferred: PROVIDER, diagnostics: [], newState: moved });
    const plan = await send(account, rpcs.planResourceChange, planOf(GRANT, { priorState: moved }));
    expect(plan).toMatchObject({ deferred: PROVIDER, diagnostics: [] });
    const removal = { priorState: moved, proposedNewState: encodeDynamic(null, grant) };
    expect(await send(account, rpcs.planResourceChange, planOf(GRANT, removal))).toMatchObject({
      deferred: PROVIDER,
      diagnostics: [],
    });
  });

  it("is an error for clients that do not allow deferrals", async () => {
    const account = await unknownToken(false);
    const asked = [
      send(account, rpcs.planResourceChange, planOf(GRANT)),
      send(account, rpcs.upgradeResourceState, { typeName: "hosting_grant", rawState: { json } }),
      send(account, rpcs.readResource, { typeName: "hosting_grant", currentState: recorded }),
      send(account, rpcs.importResourceState, { typeName: "hosting_grant", id: "1001/7" }),
      send(account, rpcs.readDataSource, {
        typeName: "hosting_plans",
        config: encodeDynamic(complete(plans, {}), plans),
      }),
    ];
    for (const answer of await Promise.all(asked)) {
      expect(answer).not.toHaveProperty("deferred");
      expect(reportedBy(answer.diagnostics)).toEqual([NOT_KNOWN]);
    }
  });

  it("without its project defers an order, and nothing else", async () => {
    const account = await openAccount({ config: { project: UNKNOWN } });
    account.connection.mayDefer = true;
    const { attributes } = catalogue.resources.get("hosting_service") ?? { attributes: {} };
    const config = complete(attributes, { plan_id: 11, currency: "USD", domain: "site.example" });
    const order = await send(account, rpcs.planResourceChange, {
      typeName: "hosting_service",
      priorState: encodeDynamic(null, attributes),
      proposedNewState: encodeDynamic(config, attributes),
      config: encodeDynamic(config, attributes),
    });
    expect(order).toMatchObject({ deferred: PROVIDER, diagnostics: [] });
    const data = await send(account, rpcs.readDataSource, {
      typeName: "hosting_plans",
      config: encodeDynamic(complete(plans, {}), plans),
    });
    expect(data).not.toHaveProperty("deferred");
  });

  it("is announced by ConfigureProvider", async () => {
    const account = await openAccount();
    const config = encodeDynamic(
      complete(catalogue.provider.attributes, { token: UNKNOWN }),
      catalogue.provider.attributes,
    );
    for (const deferralAllowed of [true, false]) {
      await send(account, rpcs.configureProvider, { config, clientCapabilities: { deferralAllowed } });
      expect(account.connection.mayDefer).toBe(deferralAllowed);
    }
  });
});

describe("a service that the host still provisions", () => {
  const open = (account: OpenAccount, deferralAllowed: boolean, id: number) =>
    send(account, rpcs.openEphemeralResource, {
      typeName: "hosting_panel_sso",
      config: encodeDynamic({ service_id: String(id), url: null }, panel),
      clientCapabilities: { deferralAllowed },
    });

  async function provisioning() {
    const account = await openAccount({ sandbox: { autoPay: false } });
    const [service] = account.control.seedServices();
    const id = Number(service?.id);
    account.control.change("services", id, { status: "pending", provisioning_status: "pending" });
    return { account, id };
  }

  it("defers its sign-on where the client allows it, and is an error otherwise", async () => {
    const { account, id } = await provisioning();
    const refused = await open(account, false, id);
    expect(refused).not.toHaveProperty("deferred");
    expect(reportedBy(refused.diagnostics)).toEqual([
      expect.stringMatching(/^error: The single sign-on waits until service \d+ is live/),
    ]);
    expect(await open(account, true, id)).toMatchObject({
      deferred: { reason: Deferred_Reason.ABSENT_PREREQ },
      diagnostics: [],
    });
  });

  it("defers only the first plan of a grant", async () => {
    const { account, id } = await provisioning();
    const planned = async (clientCapabilities: object, plannedPrivate: Uint8Array = new Uint8Array()) => {
      const request = planOf({ ...GRANT, service_id: String(id) }, { clientCapabilities, plannedPrivate });
      const { connection } = await openAccountAgain(account);
      return send({ connection } as OpenAccount, rpcs.planResourceChange, request);
    };
    const all = { deferralAllowed: true, storePlannedPrivate: true };
    const first = await planned(all);
    expect(first).toMatchObject({ deferred: { reason: Deferred_Reason.ABSENT_PREREQ } });
    expect(decodeDynamic(first.plannedState, grant)).toMatchObject({ id: UNKNOWN, email: GRANT.email });
    const silent = await planned({});
    expect(silent.deferred).toBeUndefined();
    for (const answer of [
      await planned({ storePlannedPrivate: true }),
      // Terraform 1.11 allows deferrals in each apply.
      await planned({ deferralAllowed: true }),
      await planned(all, first.plannedPrivate),
    ]) {
      const bytes = (of: typeof answer) =>
        Buffer.from(toBinary(rpcs.planResourceChange.output, withoutRun(of))).toString("hex");
      expect(bytes(answer)).toBe(bytes(silent));
    }
  });
});

/** A connection of another process: each plan of a name is the first of its process. */
async function openAccountAgain({ sandbox }: OpenAccount): Promise<OpenAccount> {
  return openAccount({ env: { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.agency } });
}

/** The private data of a plan names its process. */
function withoutRun<T extends { readonly plannedPrivate: Uint8Array }>(answer: T): T {
  const { plan: _, ...mark } = JSON.parse(new TextDecoder().decode(answer.plannedPrivate)) as JsonObject;
  return { ...answer, plannedPrivate: new TextEncoder().encode(JSON.stringify(mark)) };
}
