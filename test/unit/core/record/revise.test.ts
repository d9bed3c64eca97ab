import { describe, expect, test } from "vitest";
import {
  decodeState,
  emptyDocument,
  encodeState,
  moveResources,
  selectResources,
  taintedAddresses,
} from "../../../../src/core/record/index.ts";
import { diagnosticOf, resource, withoutResources, withResource } from "./builders.ts";

const document = withResource(
  emptyDocument(),
  resource("hosting_service.acme", "1"),
  resource('hosting_grant.acme["a@x"]', "2", { dependencies: ["hosting_service.acme"] }),
  resource('hosting_grant.acme["b@x"]', "3", { dependencies: ["hosting_service.acme"] }),
  resource("hosting_webhook.hook", "4"),
);

const addresses = (each: typeof document) => [...each.state.resources.keys()];

describe("putting and removing", () => {
  test("a resource that says the same gives the very same document, so that nothing is written", () => {
    const same = resource('hosting_grant.acme["a@x"]', "2", { dependencies: ['hosting_service.acme["k"]'] });
    expect(withResource(document, same)).toBe(document);
    expect(withoutResources(document, ["hosting_service.absent"])).toBe(document);
  });
});

describe("selecting", () => {
  test.each([
    ["an exact address", "hosting_webhook.hook", ["hosting_webhook.hook"]],
    ["one instance", 'hosting_grant.acme["a@x"]', ['hosting_grant.acme["a@x"]']],
    ["another spelling of the key", 'hosting_grant.acme["\\u0061@x"]', ['hosting_grant.acme["a@x"]']],
    ["all instances", "hosting_grant.acme", ['hosting_grant.acme["a@x"]', 'hosting_grant.acme["b@x"]']],
  ])("%s", (_reason, address, expected) => {
    expect(selectResources(document.state, address).map((each) => each.address)).toEqual(expected);
  });

  test.each([
    ["a name with a slip", "hosting_webhook.hok", /^The state has no resource .*Did you mean "hosting_webhook.hook"/s],
    ["no address at all", "&&", /no resource &&/],
  ])("%s is an error", async (_reason, address, texts) => {
    const diagnostic = await diagnosticOf(() => selectResources(document.state, address));
    expect(diagnostic).toMatchObject({ code: "plan.address" });
    expect([diagnostic?.summary, diagnostic?.detail].join("\n")).toMatch(texts);
  });
});

describe("moving", () => {
  test("one resource; what depends on it follows", () => {
    const { document: next, moved } = moveResources(document, "hosting_service.acme", "hosting_service.main");
    expect(moved).toEqual([{ from: "hosting_service.acme", to: "hosting_service.main" }]);
    expect(addresses(next)).toEqual([
      'hosting_grant.acme["a@x"]',
      'hosting_grant.acme["b@x"]',
      "hosting_service.main",
      "hosting_webhook.hook",
    ]);
    expect(next.state.resources.get('hosting_grant.acme["a@x"]')?.dependencies).toEqual(["hosting_service.main"]);
    expect(next.state.resources.get("hosting_service.main")?.address).toBe("hosting_service.main");
  });

  test("all instances keep their keys", () => {
    const { moved } = moveResources(document, "hosting_grant.acme", "hosting_grant.team");
    expect(moved.map((each) => each.to)).toEqual(['hosting_grant.team["a@x"]', 'hosting_grant.team["b@x"]']);
  });

  test("one instance to another key, or to none", () => {
    const to = (target: string) => moveResources(document, 'hosting_grant.acme["a@x"]', target).moved[0]?.to;
    expect(to('hosting_grant.acme["c@x"]')).toBe('hosting_grant.acme["c@x"]');
    expect(to("hosting_grant.solo")).toBe("hosting_grant.solo");
  });

  test("what depends on a resource of which instances remain keeps its dependency", () => {
    const user = resource("hosting_webhook.user", "5", { dependencies: ["hosting_grant.acme"] });
    const { document: next } = moveResources(
      withResource(document, user),
      'hosting_grant.acme["a@x"]',
      "hosting_grant.z",
    );
    expect(next.state.resources.get("hosting_webhook.user")?.dependencies).toEqual(["hosting_grant.acme"]);
  });

  test("Terraform's marks move along", () => {
    const text = encodeState({ ...document, state: { ...document.state, lineage: "l" } });
    const json = JSON.parse(text);
    json.resources.find((each: { type: string }) => each.type === "hosting_webhook").instances[0].status = "tainted";
    const tainted = decodeState(JSON.stringify(json), "test");
    expect(taintedAddresses(tainted)).toEqual(["hosting_webhook.hook"]);
    const { document: next } = moveResources(tainted, "hosting_webhook.hook", "hosting_webhook.other");
    expect(taintedAddresses(decodeState(encodeState(next), "test"))).toEqual(["hosting_webhook.other"]);
  });

  test("refused: a destination that another provider's resource occupies", async () => {
    const json = JSON.parse(encodeState({ ...document, state: { ...document.state, lineage: "l" } }));
    const service = json.resources.find((each: { type: string }) => each.type === "hosting_service");
    json.resources.push({ ...service, name: "theirs", provider: 'provider["x.example/other/hosting"]' });
    const shared = decodeState(JSON.stringify(json), "test");
    const move = () => moveResources(shared, "hosting_service.acme", "hosting_service.theirs");
    expect(await diagnosticOf(move)).toMatchObject({
      code: "usage",
      summary: expect.stringMatching(/already in the state/),
    });
  });

  test.each([
    ["nothing there", "hosting_service.no", "hosting_service.yes", "plan.address", /no resource/],
    ["not an address", "hosting_service.acme", "acme", "usage", /not an address/],
    ["another type", "hosting_service.acme", "hosting_webhook.acme", "usage", /types differ/],
    ["occupied", "hosting_service.acme", "hosting_service.acme", "usage", /already in the state/],
    ["several into one", "hosting_grant.acme", 'hosting_grant.b["k"]', "usage", /cannot all move/],
  ])("refused: %s", async (_reason, from, to, code, summary) => {
    const diagnostic = await diagnosticOf(() => moveResources(document, from, to));
    expect(diagnostic).toMatchObject({ code, summary: expect.stringMatching(summary) });
  });
});
