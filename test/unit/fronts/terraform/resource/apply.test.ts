// Apply of one resource through Terraform: the state, marks, entries and messages afterwards. A create that fails after an object
// was created must not be an error, because Terraform would create the object again.
import { describe, expect, it } from "vitest";
import { type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { terraformRemedies } from "../../../../../src/fronts/terraform/remedies.ts";
import { applyResource } from "../../../../../src/fronts/terraform/resource/apply.ts";
import type { Answer, Mark } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { readResource } from "../../../../../src/fronts/terraform/resource/read.ts";
import { fullText } from "../../../../support/full-text.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { liveService, liveWebhook, remote } from "../../../../support/subjects.ts";
import {
  type Asked,
  ask,
  DOMAIN,
  HOOK,
  hookMade,
  lost,
  ORDER,
  ordered,
  pendingOf,
  refused,
  saidIn,
} from "./apply-cases.ts";
import { asHeld, codesOf, fakeScope, memoryEntries, type Options } from "./fake-scope.ts";

const shown = (answer: Answer) => ({
  id: answer.state === null ? null : answer.state.id,
  mark: answer.mark,
  said: saidIn(answer),
});

describe("a create", () => {
  it("is recorded with the values of its response, and with its host and account", async () => {
    const { answer, sent, entries, front, kind } = await ask("hosting_webhook", HOOK, { answer: hookMade });
    expect(shown(answer)).toMatchObject({ id: "201", mark: { host: "here" }, said: [] });
    expect(answer.state).toMatchObject({ url: HOOK.url, secret: "whsec_1", created_at: liveWebhook.created_at });
    expect(sent).toEqual(["createWebhook"]);
    expect(answer.mark.made, "under its name").toBeDefined();
    expect(front.ownerOf(kind, { id: "201" }), "no other create is looked for in it").toBeDefined();
    expect((await entries.get("hosting_webhook", answer.mark.made ?? ""))?.attributes.id).toBe("201");
  });

  it("whose answer is lost notes what was to follow it: the state has that as declared, and hostform may go on from there", async () => {
    const config = { ...ORDER, suspended: true, password: "a-good-one", password_version: 1 };
    const { answer } = await ask("hosting_service", config, { answer: lost });
    expect(answer.state).toMatchObject({ suspended: true, password_version: 1 });
    expect(answer.mark).toMatchObject({ pending: { operation: "createService" } });
    expect(answer.mark.waiting?.toSorted()).toEqual(["password_version", "suspended"]);
  });

  it("whose answer is lost is not taken for what the state has, nor for what this process has made", async () => {
    const others = ["202", "203"].map((id) => ({ ...liveWebhook, id, url: `https://${id}.example` }));
    const { answer, sent } = await ask("hosting_webhook", HOOK, {
      prior: HOOK,
      mark: { host: "here", pending: { ...pendingOf("createWebhook"), knowsAll: true } },
      objects: others.map((each) => remote(each)),
      answer: hookMade,
      prepare: ({ kind, front }) => {
        front.addRecorded(kind, others[0] as JsonObject);
        front.add({ label: "another" }, kind, { id: "203" });
      },
    });
    expect(sent).toEqual(["createWebhook"]);
    expect(shown(answer)).toMatchObject({ id: "201", said: [] });
  });

  it.each<[string, Asked, string, true | undefined]>([
    ["tainted", {}, "Apply again: Terraform has marked it as tainted", true],
    [
      "not tainted when its request was held already",
      { prior: HOOK, mark: { host: "here", pending: pendingOf("createWebhook") } },
      "`terraform apply -replace=ADDRESS`",
      undefined,
    ],
  ])("whose answers hold no secret is an error, and the object is held, %s", async (_, asked, fix, lost) => {
    const silent = () => ({ ...hookMade(), secret: null });
    const { answer, sent } = await ask("hosting_webhook", HOOK, { ...asked, answer: silent });
    expect(sent, "made again once").toEqual(["createWebhook", "deleteWebhook", "createWebhook"]);
    expect(answer.state).toMatchObject({ id: "201", secret: null });
    expect(answer.mark).toMatchObject({ host: "here", made: "https://hooks.acme.example/ invoice.paid" });
    expect(answer.mark.lost).toBe(lost);
    expect(saidIn(answer)).toEqual(["error secret.lost", "warning secret.lost"]);
    expect(answer.diagnostics.map((each) => fixOf(each))).toEqual([expect.stringContaining(fix), undefined]);
  });

  it("refused in place of one that was deleted, since its secret was lost, is over: the next refresh drops it", async () => {
    const pending = pendingOf("createWebhook");
    const { answer, sent, kind, front } = await ask("hosting_webhook", HOOK, {
      prior: { ...HOOK, id: null },
      mark: { pending, host: "here" } as Mark,
      objects: [remote({ ...liveWebhook, created_at: pending.since })],
      answer: ({ endpoint }) => (endpoint === "createWebhook" ? refused() : null),
    });
    expect(sent).toEqual(["deleteWebhook", "createWebhook"]);
    expect(shown(answer)).toEqual({ id: null, mark: { host: "here" }, said: ["error api.server"] });
    expect(answer.state, "as it was").toMatchObject(HOOK);
    const read = await readResource(kind, answer.state ?? {}, answer.mark, front);
    expect(read).toEqual({ state: null, mark: {}, diagnostics: [] });
  });

  it("of a paid server whose generated password is lost taints nothing and waits for nothing: a warning", async () => {
    const config = { plan_id: 31, currency: "USD", reference: "box", password_version: 1 };
    const { answer } = await ask("hosting_service", config, {
      answer: ({ endpoint }) =>
        endpoint === "resetPassword"
          ? { password: null, names: "data.login" }
          : { service: { ...ordered()().service, domain: null, product_type: "vps" }, invoice: null },
    });
    expect(saidIn(answer)).toEqual(["warning secret.lost", "warning apply.skipped"]);
    expect(answer.mark.waiting).toBeUndefined();
    expect(answer.state).toMatchObject({ id: "1001", password_version: 1, generated_password: null });
  });

  it("of one object under two addresses is sent once", async () => {
    const place = fakeScope("hosting_webhook", { answer: hookMade });
    const question = () => {
      const planned = { ...asHeld(place.kind, HOOK), id: UNKNOWN, secret: UNKNOWN, created_at: UNKNOWN } as ValueObject;
      return { prior: null, planned, config: asHeld(place.kind, HOOK) as ValueObject, mark: {} };
    };
    const first = await applyResource(place.kind, question(), place.front);
    const second = await applyResource(place.kind, question(), place.front);
    expect(shown(first)).toMatchObject({ id: "201" });
    expect(second.state).toBeNull();
    expect(codesOf(second.diagnostics)[0]).toMatch(/^error /);
    expect(place.sent).toHaveLength(1);
  });

  it("that was refused with 422 orders under another key the next time, in this process or a later one (§4)", async () => {
    const entries = memoryEntries();
    const keys = new Map<string, number>();
    const answer: Options["answer"] = ({ idempotencyKey = "" }) => {
      keys.set(idempotencyKey, (keys.get(idempotencyKey) ?? 0) + 1);
      return keys.size < 3 ? refused() : ordered()();
    };
    for (let nth = 1; nth <= 3; nth++) {
      const { answer: end } = await ask("hosting_service", ORDER, { answer, session: { entries } });
      expect(shown(end), `order ${nth}`).toMatchObject({ id: nth < 3 ? null : "1001" });
    }
    expect([...keys.values()]).toEqual([1, 1, 1]);
  });

  it("that was rejected releases its name", async () => {
    let times = 0;
    const answer = () => (times++ === 0 ? refused() : hookMade());
    const place = fakeScope("hosting_webhook", { answer });
    const planned = { ...asHeld(place.kind, HOOK), id: UNKNOWN, secret: UNKNOWN, created_at: UNKNOWN } as ValueObject;
    const question = { prior: null, planned, config: asHeld(place.kind, HOOK) as ValueObject, mark: {} };
    expect((await applyResource(place.kind, question, place.front)).state).toBeNull();
    expect((await applyResource(place.kind, question, place.front)).state).toMatchObject({ id: "201" });
  });
});

describe("a change", () => {
  const prior = { ...liveService, plan_id: 11, deletion_policy: "prevent" };
  const suspended = remote({ ...liveService, status: "suspended", suspended: true }, "suspended");

  it.each<[string, readonly string[], JsonObject, readonly string[] | undefined]>([
    ["that another change leaves alone still waits", ["suspended"], { deletion_policy: "forget" }, ["suspended"]],
    ["that is done does not wait any more", ["suspended"], { suspended: true }, undefined],
  ])("an attribute %s", async (_, waiting, config, expected) => {
    const { answer } = await ask(
      "hosting_service",
      { ...ORDER, ...config },
      { prior, objects: [suspended], answer: () => ({}), mark: { waiting } as Mark },
    );
    expect(answer.mark.waiting).toEqual(expected);
  });
});

describe("a create in the journal that Terraform did not record", () => {
  it("is adopted, and not sent again", async () => {
    const name = (await ask("hosting_webhook", HOOK, { answer: hookMade })).answer.mark.made ?? "";
    const note = { attributes: { ...HOOK, id: "201", secret: "whsec_kept", created_at: null } as JsonObject };
    const { answer, sent } = await ask("hosting_webhook", HOOK, {
      note: { name, note },
      objects: [remote({ ...liveWebhook })],
    });
    expect(sent).toEqual([]);
    expect(answer.state).toMatchObject({ id: "201", secret: "whsec_kept" });
    expect(answer.mark).toMatchObject({ host: "here", made: name });
  });

  it("whose object no longer exists is sent again", async () => {
    const name = (await ask("hosting_webhook", HOOK, { answer: hookMade })).answer.mark.made ?? "";
    const note = { attributes: { ...HOOK, id: "199", secret: "whsec_kept", created_at: null } as JsonObject };
    const { answer, sent } = await ask("hosting_webhook", HOOK, { note: { name, note }, answer: hookMade });
    expect(sent).toEqual(["createWebhook"]);
    expect(answer.state).toMatchObject({ id: "201", secret: "whsec_1" });
  });
});

describe("the complete answer to Terraform", () => {
  const prior = { ...liveService, plan_id: 11, deletion_policy: "prevent" };
  const suspended = remote({ ...liveService, status: "suspended", suspended: true }, "suspended");
  const wanted = { ...ORDER, suspended: true };
  const orderThenRefused = ((mutation: { endpoint: string }) =>
    mutation.endpoint === "createService" ? ordered()() : refused()) as Options["answer"];
  const openDomain = { name: "acme.example", note: { private: { pending: pendingOf("registerDomain") } } };
  const marked = { host: "here", made: "x" };
  const situations: readonly (readonly [string, string, JsonObject, Asked])[] = [
    ["a webhook is made", "hosting_webhook", HOOK, { answer: hookMade }],
    ["a webhook is refused", "hosting_webhook", HOOK, { answer: refused }],
    ["the answer of a webhook is lost", "hosting_webhook", HOOK, { answer: lost }],
    ["the answer of a domain is lost", "hosting_domain", DOMAIN, { answer: lost }],
    ["a domain is noted without an outcome", "hosting_domain", DOMAIN, { note: openDomain }],
    [
      "a domain is held without an outcome",
      "hosting_domain",
      DOMAIN,
      { prior: DOMAIN, mark: { pending: pendingOf("registerDomain"), host: "here" } as Mark },
    ],
    ["an order is live", "hosting_service", ORDER, { answer: ordered() }],
    ["an order waits", "hosting_service", wanted, { answer: ordered("pending") }],
    ["an order has a status that is not understood", "hosting_service", wanted, { answer: ordered("Odd") }],
    ["an order is made and then refused its suspension", "hosting_service", wanted, { answer: orderThenRefused }],
    [
      "a service is suspended",
      "hosting_service",
      wanted,
      { prior, objects: [suspended], answer: () => ({}), mark: marked },
    ],
    ["a suspension is not seen", "hosting_service", wanted, { prior, answer: () => ({}), mark: marked }],
    ["a suspension is refused", "hosting_service", wanted, { prior, answer: refused, mark: marked }],
    ["the answer of a suspension is lost", "hosting_service", wanted, { prior, answer: lost, mark: marked }],
    ["a pending service is to be suspended", "hosting_service", wanted, { prior: { ...prior, status: "pending" } }],
    [
      "a service of an odd status is to be suspended",
      "hosting_service",
      wanted,
      { prior: { ...prior, status: "Odd" } },
    ],
    ["a service of another host is to be suspended", "hosting_service", wanted, { prior, mark: { host: "elsewhere" } }],
    [
      "a policy is changed",
      "hosting_service",
      { ...ORDER, deletion_policy: "forget" },
      { prior, mark: { ...marked, waiting: ["suspended"] } as Mark },
    ],
  ];

  // `npm test -- -u test/unit/fronts/terraform/resource/apply.test.ts`, then read the diff.
  it("equals the golden file", async () => {
    const text: string[] = [];
    for (const [name, type, config, asked] of situations) {
      const { answer, sent } = await ask(type, config, asked);
      text.push(`# ${name}\n${fullText({ ...answer, sent }, terraformRemedies(terraformKind(type)))}\n`);
    }
    // The id of an intent is random.
    const fixed = text.join("\n").replaceAll(/"id":"[0-9a-f]{8}-[0-9a-f-]{27}"/g, '"id":"UUID"');
    await expect(fixed).toMatchFileSnapshot("../../../../golden/terraform/apply.txt");
  });
});
