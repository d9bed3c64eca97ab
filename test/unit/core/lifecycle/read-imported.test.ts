import { describe, expect, it } from "vitest";
import type { Remote } from "../../../../src/core/kinds/kind.ts";
import { read } from "../../../../src/core/lifecycle/index.ts";
import type { JsonObject } from "../../../../src/core/model/index.ts";
import { fakeAccount, kindOf, liveGrant, liveService, liveWebhook, remote } from "../../../support/subjects.ts";

/** Imports by a text, and returns the id of the found object. */
async function idBy(type: string, importId: string, ...objects: Remote[]) {
  const { account, kind, asked } = fakeAccount(kindOf(type), ...objects);
  const seen = await read(account, { kind, prior: undefined, importId, config: undefined, alone: true });
  return { id: seen.status === "present" ? seen.attributes.id : seen.status, asked };
}

const service = (id: string, domain: string, phase: Remote["phase"] = "live") =>
  remote({ ...liveService, id, domain }, phase);

describe("an import id", () => {
  it.each<[type: string, importId: string, object: JsonObject]>([
    ["hosting_service", "www.acme.example", liveService],
    ["hosting_service", "WWW.Acme.Example.", liveService],
    ["hosting_service", "bücher.example", { ...liveService, domain: "xn--bcher-kva.example" }],
    ["hosting_service", "xn--bcher-kva.example", { ...liveService, domain: "bücher.example" }],
    ["hosting_grant", `${liveGrant.service_id}/${String(liveGrant.email).toUpperCase()}`, liveGrant],
    ["hosting_webhook", String(liveWebhook.url), liveWebhook],
  ])("of a %s may be its name: %s", async (type, importId, object) => {
    const { id, asked } = await idBy(type, importId, remote(object));
    expect(id).toBe(object.id);
    expect(asked, "one list").toHaveLength(1);
  });

  it("is first an id: an id that is also the name of another object finds the object with the id", async () => {
    const account = { id: "a", name: "b", company_name: null, company_number: null, vat_number: null, currency: "USD" };
    const objects = [remote({ ...account, id: "b", name: "c" }), remote(account)];
    expect((await idBy("hosting_client_account", "b", ...objects)).id).toBe("b");
    expect((await idBy("hosting_client_account", "c", ...objects)).id).toBe("b");
    expect((await idBy("hosting_client_account", "B", ...objects)).id).toBe("a");
  });

  it("without a dot reads one service by GET, and no list", async () => {
    expect(await idBy("hosting_service", "1001", remote(liveService))).toEqual({ id: "1001", asked: ["get 1001"] });
  });

  it("by a domain finds the live service beside ended ones, which the host still lists", async () => {
    const objects = [service("1", "a.example", "gone"), service("2", "a.example"), service("3", "a.example", "gone")];
    expect((await idBy("hosting_service", "a.example", ...objects)).id).toBe("2");
  });

  it("by a domain that only ended services have finds no service", async () => {
    const objects = [service("1", "a.example", "gone"), service("2", "a.example", "gone")];
    expect((await idBy("hosting_service", "a.example", ...objects)).id).toBe("gone");
  });

  it("by a domain of several services is refused, and the message has all ids", async () => {
    const objects = [service("1", "a.example", "gone"), service("2", "a.example"), service("3", "a.example")];
    const { account, kind } = fakeAccount(kindOf("hosting_service"), ...objects);
    const reading = read(account, { kind, prior: undefined, importId: "a.example", config: undefined });
    const refusal = {
      code: "plan.lookalike",
      summary: "Several services have the name a.example: 2, 3, 1 (ended)",
      remedies: ["Import the service by its id."],
    };
    await expect(reading).rejects.toMatchObject({ diagnostics: [refusal] });
  });
});
