import { rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { bothLibraries, complaint, newStack, only, synthesize } from "./support.ts";

const libraries = bothLibraries();

describe.each(libraries.names)("ClientWorkspace of %s", (name) => {
  const library = () => libraries.of(name);
  const workspace = (props: object = {}, id = "acme") => {
    const stack = newStack(library());
    const made = new (library().hostform.ClientWorkspace)(stack, id, { name: "Acme", currency: "GEL", ...props });
    return { stack, workspace: made, synth: () => synthesize(library(), stack) };
  };

  it("is a client account that no plan destroys", () => {
    const { synth, workspace: made } = workspace({ companyName: "Acme LLC", companyNumber: "405", vatNumber: "GE405" });
    expect(synth().resource).toEqual({
      hosting_client_account: {
        acme: {
          name: "Acme",
          company_name: "Acme LLC",
          company_number: "405",
          vat_number: "GE405",
          currency: "GEL",
          deletion_policy: "prevent",
          lifecycle: { prevent_destroy: true },
        },
      },
    });
    expect(made.account.friendlyUniqueId).toBe("acme");
    const forgotten = only(workspace({ deletionPolicy: "forget" }).synth(), "hosting_client_account");
    expect(forgotten).not.toHaveProperty("lifecycle");
  });

  it("passes its defaults to its sites, and each site may replace them", () => {
    const { workspace: made, synth } = workspace({
      sites: { planId: 11, term: 12, deletionPolicy: "suspend", grants: { "team@agency.example": "manage" } },
    });
    const www = made.site("www", { domain: "www.acme.example" });
    const shop = made.site("shop", {
      domain: "shop.acme.example",
      planId: 21,
      currency: "USD",
      term: undefined,
      deletionPolicy: "prevent",
      grants: { "Team@agency.example": "view", "boss@acme.example": "view" },
    });
    expect([...made.sites]).toEqual([
      ["www", www],
      ["shop", shop],
    ]);
    const { hosting_service: services = {}, hosting_grant: grants = {} } = synth().resource;
    expect(services[www.service.friendlyUniqueId]).toEqual({
      plan_id: 11,
      currency: "GEL",
      term: 12,
      domain: "www.acme.example",
      deletion_policy: "suspend",
    });
    expect(services[shop.service.friendlyUniqueId]).toMatchObject({
      plan_id: 21,
      currency: "USD",
      term: 12,
      deletion_policy: "prevent",
    });
    const said = Object.values(grants).map(({ email, permission }) => `${email} ${permission}`);
    expect(said.toSorted()).toEqual([
      "Team@agency.example view",
      "boss@acme.example view",
      "team@agency.example manage",
    ]);
  });

  it("names the orders of its servers by their paths", () => {
    const { workspace: made } = workspace({ sites: { planId: 31 } });
    expect(made.site("build", {}).reference).toBe("prod/acme/build");
  });

  it("passes its provider to all its resources", () => {
    const { HostingProvider, ClientWorkspace } = library().hostform;
    const stack = newStack(library());
    const provider = new HostingProvider(stack, "own", { alias: "own", project: "acme", tokenEnv: "OWN_TOKEN" });
    const made = new ClientWorkspace(stack, "acme", { name: "Acme", currency: "GEL", provider });
    made.site("www", { planId: 11, domain: "www.acme.example", grants: { "a@b.example": "view" } });
    const blocks = Object.values(synthesize(library(), stack).resource).flatMap((each) => Object.values(each));
    expect(blocks.map((block) => block.provider)).toEqual(Array(3).fill("hosting.own"));
  });

  it.each([
    ["planId", {}, "[prod/acme/www] planId: neither the site nor the workspace sets it"],
    ["currency", { currency: undefined, sites: { planId: 11 } }, "[prod/acme/www] currency: neither the site"],
  ])("requires %s in one of the two places", (_, props, words) => {
    expect(() => workspace(props).workspace.site("www", { domain: "www.acme.example" })).toThrow(words);
  });

  it("reports an invalid client at synthesis", () => {
    const said = complaint(library(), workspace({ name: "", currency: "GBP", deletionPolicy: "suspend" }).stack);
    expect(said).toContain("[prod/acme] name: expected a non-empty string");
    expect(said).toContain('[prod/acme] currency: "GBP" is not known');
    expect(said).toContain('[prod/acme] deletionPolicy: "suspend" is not known; expected one of "prevent", "forget"');
    const nameless = complaint(library(), workspace({ name: undefined }).stack);
    expect(nameless).toContain("[prod/acme] name: required, without a default");
  });

  it("rejects an id that differs from the name", () => {
    const said = complaint(library(), workspace({}, "3com").stack);
    expect(said).toContain('prod/3com has the name "3com" in Terraform');
  });
});

describe.each(libraries.names)("EventSubscription of %s", (name) => {
  const library = () => libraries.of(name);
  const subscription = (props: object = {}, outdir?: string) => {
    const { Testing, TerraformStack } = library().cdk;
    const stack = outdir === undefined ? newStack(library()) : new TerraformStack(Testing.app({ outdir }), "prod");
    const made = new (library().hostform.EventSubscription)(stack, "billing", {
      url: "https://hooks.acme.example/billing",
      events: ["invoice.paid", "invoice.created", "invoice.paid"],
      secret: "state",
      ...props,
    });
    return { stack, subscription: made, block: () => only(synthesize(library(), stack), "hosting_webhook") };
  };

  it("is a webhook that Terraform replaces before it deletes the old one", () => {
    expect(subscription().block()).toEqual({
      url: "https://hooks.acme.example/billing",
      events: ["invoice.paid", "invoice.created"],
      lifecycle: { create_before_destroy: true },
    });
  });

  it.each([
    [{ file: "/srv/hook.secret" }, { file: "/srv/hook.secret" }],
    [{ envFile: { path: "/srv/hooks.env", name: "HOOK" } }, { env_file: { path: "/srv/hooks.env", name: "HOOK" } }],
    [{ command: ["vault-put", "hook"] }, { command: ["vault-put", "hook"] }],
    [{ file: "${path.root}/hook.secret" }, { file: "${path.root}/hook.secret" }],
  ])("writes its secret to %j", (secret, written) => {
    expect(subscription({ secret }).block()).toMatchObject({ secret_output: written });
  });

  it("resolves a relative path against the working folder of the app, and not against the temporary folder of the stack", () => {
    const inside = path.join(process.cwd(), "node_modules/.cache/hostform-outdir");
    const { stack } = subscription({ secret: { file: "secrets/hook" } }, inside);
    const { secret_output: place } = only(JSON.parse(library().cdk.Testing.synth(stack)), "hosting_webhook");
    rmSync(inside, { recursive: true });
    const folder = path.join(inside, "stacks/prod");
    expect(place).toEqual({ file: "../../../../../secrets/hook" });
    expect(path.resolve(folder, "../../../../../secrets/hook")).toBe(path.resolve("secrets/hook"));
    // The output folder of the test is in another place.
    const elsewhere = subscription({ secret: { envFile: { path: "hooks.env", name: "HOOK" } } }).block();
    expect(elsewhere).toMatchObject({ secret_output: { env_file: { path: path.resolve("hooks.env"), name: "HOOK" } } });
  });

  it("returns a reference to its secret only if the state stores the secret", () => {
    expect(subscription().subscription.secret).toMatch(/^\$\{TfToken/);
    const away = subscription({ secret: { file: "/srv/hook.secret" } }).subscription;
    expect(() => away.secret).toThrow("[prod/billing] the secret is not kept in the state");
    expect(away.secretFingerprint).toMatch(/^\$\{TfToken/);
  });

  it.each([
    ["nothing", undefined, /secret: expected one of \{ file:/],
    ["a word", "vault", /secret: expected one of/],
    ["two forms", { file: "a", command: ["b"] }, /secret: expected one of/],
    ["another form", { vault: "a" }, /secret: expected one of/],
    ["an empty path", { file: "" }, /secret\.file: expected a path/],
    ["a name that is none", { envFile: { path: "a", name: "A-B" } }, /secret\.envFile\.name: "A-B" is not the name/],
    ["no program", { command: [] }, /secret\.command: expected a list/],
    ["a program without a name", { command: [""] }, /secret\.command: expected a list/],
  ])("rejects %s as a place for the secret, with the path", (_, secret, words) => {
    expect(() => subscription({ secret })).toThrow(words);
    expect(() => subscription({ secret })).toThrow(/^\[prod\/billing\] /);
  });

  it.each([
    [
      "an event that is none",
      { events: ["invoice.lost"] },
      'events: "invoice.lost" is not known; expected one of "service.provisioned"',
    ],
    ["no events", { events: [] }, "events: at least one is needed"],
    ["no events at all", { events: undefined }, "events: at least one is needed"],
    ["no address", { url: undefined }, "url: required, without a default"],
    ["an address that is none", { url: "hooks" }, 'url: "hooks" is not an http or https address'],
    ["another protocol", { url: "ftp://a.example" }, "is not an http or https address"],
  ])("reports at synthesis %s", (_, props, words) => {
    expect(complaint(library(), subscription(props).stack)).toContain(
      `[prod/billing] ${words.startsWith("is") ? 'url: "ftp://a.example" ' : ""}${words}`,
    );
  });

  it("passes on values that only Terraform knows", () => {
    const { cdk } = library();
    const events = cdk.Token.asList("${var.events}");
    const { block, stack } = subscription({ url: "${var.url}" });
    expect(block()).toMatchObject({ url: "${var.url}" });
    const other = new (library().hostform.EventSubscription)(stack, "other", {
      url: "https://a.example",
      events: ["invoice.paid"],
      secret: "state",
    });
    other.webhook.events = events;
    expect(complaint(library(), stack)).toBe("");
  });
});
