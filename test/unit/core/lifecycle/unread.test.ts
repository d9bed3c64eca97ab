// Reason for an unread object: depends on the API's response and on whether a list shows the object.
import { describe, expect, it } from "vitest";
import { mayBeRestricted, unreadBy, unreadCondition } from "../../../../src/core/lifecycle/index.ts";
import { ApiError, type Code, HostformError } from "../../../../src/core/model/index.ts";
import { fakeAccount, kindOf, liveService, recorded, remote } from "../../../support/subjects.ts";

const BY_ID = "GET /api/v1/services/{id}";
const GRANTS = "GET /api/v1/services/{id}/grants";

const refusal = (code: Code, { status = 403, endpoint = BY_ID, said = "" }) =>
  new ApiError({ code, summary: "refused", endpoint, reached: "answered", status, serverMessage: said });

const SERVICE = "hosting_service";
const GRANT = "hosting_grant";
const PRIOR = recorded("hosting_service.a", liveService);

describe("an object that was not read", () => {
  it.each<[string, string, ReturnType<typeof refusal>, boolean, string | undefined]>([
    [
      "another account's",
      SERVICE,
      refusal("api.forbidden", { said: "Belongs to another account" }),
      false,
      "handed_over",
    ],
    ["refused without words", SERVICE, refusal("api.forbidden", { said: "Forbidden" }), false, "handed_over"],
    ["outside a restriction", SERVICE, refusal("api.forbidden", { said: "Outside the restriction" }), false, "outside"],
    ["refused, and listed", SERVICE, refusal("api.forbidden", { said: "Belongs to another account" }), true, "failed"],
    ["broken", SERVICE, refusal("api.server", { status: 500 }), false, "failed"],
    [
      "in a list that is refused",
      SERVICE,
      refusal("api.forbidden", { endpoint: "GET /api/v1/services" }),
      false,
      "failed",
    ],
    [
      "kept from a token that views",
      GRANT,
      refusal("api.forbidden", { endpoint: GRANTS, said: "No ability" }),
      false,
      "ability",
    ],
    [
      "kept from another account",
      GRANT,
      refusal("api.forbidden", { endpoint: GRANTS, said: "Wrong account" }),
      false,
      "failed",
    ],
    ["without a token", SERVICE, refusal("api.unauthenticated", { status: 401 }), false, undefined],
  ])("%s %s", async (_, type, error, isListed, cause) => {
    const { account, kind } = fakeAccount(kindOf(type), ...(isListed ? [remote(liveService)] : []));
    expect((await unreadBy(account, kind, PRIOR, error))?.cause).toBe(cause);
  });

  it("is handed over only if a complete list lacks it, and lists cannot lag behind its creation", async () => {
    const { account, kind } = fakeAccount(kindOf(SERVICE));
    const error = refusal("api.forbidden", { said: "Forbidden" });
    const created = new Date(account.hostNow() - 1_000).toISOString();
    const young = { ...PRIOR, private: { created } };
    expect((await unreadBy(account, kind, young, error))?.cause).toBe("failed");
    const restricted = refusal("api.forbidden", { said: "Outside the restriction" });
    expect((await unreadBy(account, kind, young, restricted))?.cause, "a token may order what it cannot see").toBe(
      "outside",
    );
    let readings = 0;
    const moving = {
      ...kind,
      // The row moves to an earlier page during the first reading.
      async *list() {
        readings += 1;
        if (readings > 1) yield remote(liveService);
      },
    };
    const { account: other } = fakeAccount(kindOf(SERVICE));
    expect((await other.list(moving)).size).toBe(0);
    expect((await unreadBy(other, moving, PRIOR, error))?.cause).toBe("failed");
    expect(readings).toBe(2);
  });

  it("is judged by the host's time in the list, because a rejection does not show the host's time", async () => {
    const fake = fakeAccount(kindOf(SERVICE));
    const created = new Date(fake.now()).toISOString();
    fake.now = () => Date.parse(created) + (fake.asked.length > 0 ? 3_600_000 : 0);
    const error = refusal("api.forbidden", { said: "Forbidden" });
    const unread = await unreadBy(fake.account, fake.kind, { ...PRIOR, private: { created } }, error);
    expect(unread?.cause).toBe("handed_over");
  });

  it("has no cause if the failure is a defect, or if there are several kinds of failure", async () => {
    const { account, kind } = fakeAccount(kindOf(SERVICE));
    const both = [...refusal("api.server", {}).diagnostics, ...refusal("api.unauthenticated", {}).diagnostics];
    expect(await unreadBy(account, kind, PRIOR, new Error("x"))).toBeUndefined();
    expect(await unreadBy(account, kind, PRIOR, new HostformError(both))).toBeUndefined();
  });

  it.each([
    ["Belongs to another account", false],
    ["Forbidden", true],
    ["Outside the restriction", true],
  ])("%j: the token may be restricted: %s", async (said, expected) => {
    const { account, kind } = fakeAccount(kindOf(SERVICE));
    const unread = await unreadBy(account, kind, PRIOR, refusal("api.forbidden", { said }));
    expect(unread && mayBeRestricted(unread)).toBe(expected);
  });

  it("is a condition with its name, unless the name is secret or was never recorded", async () => {
    const { account, kind } = fakeAccount(kindOf(SERVICE));
    const unread = await unreadBy(account, kind, PRIOR, refusal("api.forbidden", { said: "Wrong account." }));
    if (unread === undefined) throw new Error("it is read");
    const summary = (of: typeof PRIOR | undefined) => unreadCondition(kind, "hosting_service.a", of, unread)?.summary;
    expect(summary(PRIOR)).toContain(`(${liveService.domain})`);
    expect(summary({ ...PRIOR, sensitive: ["domain"] })).not.toContain(`${liveService.domain}`);
    expect(summary(undefined)).toBeUndefined();
  });
});
