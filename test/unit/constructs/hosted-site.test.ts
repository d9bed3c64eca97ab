import { describe, expect, it } from "vitest";
import { bothLibraries, complaint, newStack, only, synthesize } from "./support.ts";

const libraries = bothLibraries();
const SITE = { planId: 11, currency: "USD", domain: "www.acme.example" } as const;

describe.each(libraries.names)("HostedSite of %s", (name) => {
  const library = () => libraries.of(name);
  const site = (props: object = {}, id = "acme") => {
    const stack = newStack(library());
    const made = new (library().hostform.HostedSite)(stack, id, { ...SITE, ...props });
    return { stack, site: made, synth: () => synthesize(library(), stack) };
  };

  it("is a service that no plan destroys, under its own name", () => {
    expect(site().synth().resource).toEqual({
      hosting_service: {
        acme: {
          plan_id: 11,
          currency: "USD",
          domain: "www.acme.example",
          deletion_policy: "prevent",
          lifecycle: { prevent_destroy: true },
        },
      },
    });
  });

  it("uses the domain as the name of an order, and the path for an order without a domain", () => {
    expect(site().site.reference).toBeUndefined();
    const server = site({ domain: undefined }, "build");
    expect(server.site.reference).toBe("prod/build");
    expect(only(server.synth(), "hosting_service")).toMatchObject({ reference: "prod/build" });
    expect(site({ domain: undefined, reference: "build-1" }).site.reference).toBe("build-1");
    expect(only(site({ reference: "first" }).synth(), "hosting_service")).toMatchObject({ reference: "first" });
  });

  it("releases a service as its deletion policy says", () => {
    const { lifecycle, deletion_policy } = only(site({ deletionPolicy: "suspend" }).synth(), "hosting_service");
    expect({ lifecycle, deletion_policy }).toEqual({ lifecycle: undefined, deletion_policy: "suspend" });
    expect(only(site({ preventDestroy: false }).synth(), "hosting_service")).not.toHaveProperty("lifecycle");
    const kept = only(site({ deletionPolicy: "forget", preventDestroy: true }).synth(), "hosting_service");
    expect(kept).toMatchObject({ deletion_policy: "forget", lifecycle: { prevent_destroy: true } });
  });

  it("does not manage a suspension until it is declared", () => {
    expect(only(site().synth(), "hosting_service")).not.toHaveProperty("suspended");
    for (const [say, suspended] of [
      [() => site({ suspended: true }), true],
      [() => ({ ...site(), synth: () => suspendedAnd(false) }), true],
      [() => ({ ...site(), synth: () => suspendedAnd(true) }), false],
    ] as const) {
      expect(only(say().synth(), "hosting_service")).toMatchObject({ suspended });
    }
  });

  function suspendedAnd(back: boolean) {
    const { site: made, synth } = site();
    made.suspend();
    if (back) made.unsuspend();
    return synth();
  }

  it("shares the service with the given people, and with people who are added later", () => {
    const { site: made, synth } = site({
      grants: { "Boss@acme.example": "view", "dev@acme.example": { permission: "manage", expiresAt: "2027-01-31" } },
    });
    const late = made.grant("late@acme.example", "view", { expiresAt: new Date(Date.UTC(2027, 0, 31)) });
    expect([...made.grants.keys()]).toEqual(["boss@acme.example", "dev@acme.example", "late@acme.example"]);
    expect(made.grants.get("late@acme.example")).toBe(late);
    const grants = Object.values(synth().resource.hosting_grant ?? {});
    expect(grants).toEqual(
      expect.arrayContaining([
        { service_id: "${hosting_service.acme.id}", email: "Boss@acme.example", permission: "view" },
        expect.objectContaining({ email: "dev@acme.example", permission: "manage", expires_at: "2027-01-31" }),
        expect.objectContaining({ email: "late@acme.example", expires_at: "2027-01-31T00:00:00.000Z" }),
      ]),
    );
  });

  it("moves a website to the service, and forgets the move when the migration is removed", () => {
    const { synth } = site({ migration: { questions: { source: "cpanel", mailboxes: 3, dns: true } } });
    expect(only(synth(), "hosting_migration_request")).toEqual({
      domain: "www.acme.example",
      order_id: "${hosting_service.acme.id}",
      questions: { source: "cpanel", mailboxes: "3", dns: "true" },
      deletion_policy: "forget",
    });
    const elsewhere = site({ migration: { domain: "old.example", deletionPolicy: "prevent" } }).synth();
    expect(only(elsewhere, "hosting_migration_request")).toMatchObject({
      domain: "old.example",
      deletion_policy: "prevent",
    });
  });

  const warnings = ({ site: made, synth }: ReturnType<typeof site>) => {
    synth();
    return made.node.metadata.filter(({ type }) => type.endsWith("/warn")).map(({ data }) => data);
  };

  it("warns of a migration to a site that is suspended in the end", () => {
    const suspended = site({ migration: {} });
    suspended.site.suspend();
    expect(warnings(suspended)).toEqual([expect.stringContaining("The site is suspended")]);
    const back = site({ migration: {} });
    back.site.suspend().unsuspend();
    expect(warnings(back)).toEqual([]);
  });

  it("warns of credentials among the questions, and does not repeat them", () => {
    const warned = (questions: object) => warnings(site({ migration: { questions } }));
    expect(warned({ source: "cpanel", compass: "north" })).toEqual([]);
    const [said = ""] = warned({ "ftp-Password": "hunter22" });
    expect(said).toContain('migration.questions: "ftp-Password" looks like access data');
    expect(said).not.toContain("hunter22");
  });

  it("accepts a password from a variable that nothing stores", () => {
    const stack = newStack(library());
    const { HostedSite, Password } = library().hostform;
    const password = Password.fromVariable(stack, "shop_password", { description: "of the shop" });
    new HostedSite(stack, "shop", { ...SITE, password });
    const again = Password.fromVariable(stack, "shop_password");
    new HostedSite(stack, "b", { ...SITE, domain: "b.example", password: again, passwordVersion: 3 });
    const { variable, resource } = synthesize(library(), stack);
    expect(variable).toEqual({
      shop_password: {
        type: "string",
        sensitive: true,
        ephemeral: true,
        nullable: false,
        description: "of the shop",
      },
    });
    expect(resource.hosting_service?.shop).toMatchObject({
      password: "${var.shop_password}",
      password_version: 1,
    });
    expect(resource.hosting_service?.shop).not.toHaveProperty("secret_output");
    expect(resource.hosting_service?.b).toMatchObject({ password: "${var.shop_password}", password_version: 3 });
  });

  it("lets the host generate the password, and writes the password to a place", () => {
    const { Password } = library().hostform;
    const server = { domain: undefined, passwordVersion: 2 };
    const written = site({ ...server, password: Password.generated({ file: "/srv/build.password" }) }).synth();
    expect(only(written, "hosting_service")).toMatchObject({
      password_version: 2,
      secret_output: { file: "/srv/build.password" },
    });
    const kept = only(site({ ...server, password: Password.generated("state") }).synth(), "hosting_service");
    expect(kept).not.toHaveProperty("secret_output");
    expect(kept).not.toHaveProperty("password");
  });

  it("passes on values that only Terraform knows", () => {
    const { cdk, hostform } = library();
    const stack = newStack(library());
    const variable = (id: string, type: string) => new cdk.TerraformVariable(stack, id, { type });
    const made = new hostform.HostedSite(stack, "acme", {
      planId: variable("plan", "number").numberValue,
      currency: variable("currency", "string").stringValue as "USD",
      term: cdk.Token.asNumber("${var.term}") as 1,
      domain: `www.${variable("zone", "string").stringValue}.example`,
      reference: `build ${variable("part", "number").numberValue}`,
      suspended: variable("off", "bool").booleanValue,
    });
    made.grant(variable("boss", "string").stringValue, "view", { id: "boss" });
    const { resource } = synthesize(library(), stack);
    expect(resource.hosting_service?.acme).toMatchObject({
      plan_id: "${var.plan}",
      currency: "${var.currency}",
      domain: "www.${var.zone}.example",
      reference: "build ${var.part}",
      suspended: "${var.off}",
    });
    expect(made.grants.get("boss")).toBeDefined();
  });

  it("reports a number that CDKTF lost in a string", () => {
    const { cdk } = library();
    const number = cdk.Token.asNumber("${var.n}");
    const zone = cdk.Token.asString("${var.zone}");
    for (const reference of [`${zone}-${number}`, `build-${number}`, `${number}.example`, `build ${number * 2}`]) {
      const said = complaint(library(), site({ reference }).stack);
      expect(said).toContain("was computed from a number that only Terraform knows");
    }
    for (const reference of [`${zone} ${number}`, `build-${cdk.Token.asString(number)}.example`]) {
      const { stack, synth } = site({ reference });
      expect(complaint(library(), stack)).toBe("");
      expect(JSON.stringify(synth())).toMatch(/\$\{var\.n\}/);
    }
  });

  it("accepts a number that Terraform computes; a sum in TypeScript is lost without an error, as the page says", () => {
    const { cdk } = library();
    const { site: made, stack, synth } = site();
    const number = new cdk.TerraformVariable(stack, "plan", { type: "number" }).numberValue;
    const plan = (planId: number) => {
      made.service.planId = planId;
      return only(synth(), "hosting_service").plan_id;
    };
    expect(plan(cdk.Token.asNumber(cdk.Op.add(number, 1)))).toBe("${(var.plan + 1)}");
    expect(plan(number + 1)).toBe("${var.plan}");
  });

  it("provides references to its attributes", () => {
    const { site: made, stack } = site();
    new (library().cdk.TerraformOutput)(stack, "of", { value: [made.id, made.domain] });
    expect(synthesize(library(), stack)).toMatchObject({
      output: { of: { value: ["${hosting_service.acme.id}", "${hosting_service.acme.domain}"] } },
    });
  });

  it("keeps the name of its order after a move in the tree, without a terraform program", () => {
    const { site: moved, stack, synth } = site({ domain: undefined, reference: "prod/build" }, "builder");
    const to = `hosting_service.${moved.service.friendlyUniqueId}`;
    stack.addOverride("moved", [{ from: "hosting_service.build", to }]);
    expect(synth()).toMatchObject({
      moved: [{ from: "hosting_service.build", to: "hosting_service.builder" }],
      resource: { hosting_service: { builder: { reference: "prod/build" } } },
    });
  });

  it("passes its dependencies and its provider to its own resources", () => {
    const { HostedSite, HostingProvider, EventSubscription } = library().hostform;
    const stack = newStack(library());
    const own = new HostingProvider(stack, "own", { project: "acme", alias: "own", tokenEnv: "OWN_TOKEN" });
    const events = new EventSubscription(stack, "events", {
      url: "https://a.example",
      events: ["invoice.paid"],
      secret: "state",
      provider: own,
    });
    new HostedSite(stack, "acme", {
      ...SITE,
      provider: own,
      dependsOn: [events.webhook],
      grants: { "a@b.example": "view" },
      migration: {},
    });
    const { resource } = synthesize(library(), stack);
    expect(resource.hosting_service?.acme).toMatchObject({ depends_on: ["hosting_webhook.events"] });
    const blocks = Object.values(resource).flatMap((each) => Object.values(each));
    expect(blocks.map(({ provider }) => provider)).toEqual(Array(4).fill("hosting.own"));
  });

  it.each([
    ["planId", 0, "planId: 0 is not a positive whole number"],
    [
      "planId",
      -1.6219124425182757e299,
      "planId: -1.6219124425182757e+299 was computed from a number that only Terraform",
    ],
    ["currency", "GBP", 'currency: "GBP" is not known; expected one of "GEL", "USD", "EUR"'],
    ["term", 2, "term: 2 is not known; expected one of 1, 3, 6, 12, 24, 36"],
    ["domain", "acme", 'domain: "acme" is not a domain name'],
    ["domain", "", 'domain: "" is not a domain name'],
    ["couponCode", "", "couponCode: expected a non-empty string"],
    ["reference", "x".repeat(201), "reference: expected a string of 1 to 200 characters"],
    ["passwordVersion", 1.5, "passwordVersion: 1.5 is not a positive whole number"],
    [
      "deletionPolicy",
      "delete",
      'deletionPolicy: "delete" is not known; expected one of "prevent", "forget", "suspend"',
    ],
    ["grants", { "dev@": "view" }, 'grant "dev@": email: "dev@" is not an e-mail address'],
    ["grants", { "a@b.example": "own" }, 'grant "a@b.example": permission: "own" is not known'],
    [
      "grants",
      { "a@b.example": { permission: "view", expiresAt: "soon" } },
      'grant "a@b.example": expiresAt: "soon" is not a time such as',
    ],
    [
      "grants",
      { "a@b.example": { permission: "view", expiresAt: new Date(Number.NaN) } },
      'expiresAt: "an invalid Date" is not a time',
    ],
    ["migration", { domain: "old" }, 'migration.domain: "old" is not a domain name'],
    ["migration", { deletionPolicy: "suspend" }, 'migration.deletionPolicy: "suspend" is not known'],
  ])("reports at synthesis, with the path, that %s must not be %j", (property, value, words) => {
    const said = complaint(library(), site({ [property]: value }).stack);
    expect(said).toContain("[prod/acme] ");
    expect(said).toContain(words);
  });

  it("reports all errors of a stack at once, including those of overrides", () => {
    const { stack } = site({ term: 5, planId: -1 });
    const other = new (library().hostform.HostedSite)(stack, "other", { ...SITE, domain: "other.example" });
    other.service.domain = "nowhere";
    const lines = complaint(library(), stack).split("\n");
    expect(lines.filter((line) => line.includes("[prod/acme]"))).toHaveLength(2);
    expect(lines.filter((line) => line.includes("[prod/other] domain:"))).toHaveLength(1);
  });

  it.each([
    [
      "two grants for one address",
      { grants: { "a@b.example": "view", " A@b.example": "manage" } },
      /is already shared with a@b\.example/,
    ],
    [
      "a grant for an address that is a token, without an id",
      { grants: { "${var.boss}": "view" } },
      /cannot be the construct.s id/,
    ],
    [
      "a move to a server that does not say of what",
      { domain: undefined, migration: {} },
      /migration: the site has no domain/,
    ],
  ])("refuses %s at once, with the path", (_, props, words) => {
    expect(() => site(props)).toThrow(words);
    expect(() => site(props)).toThrow(/^\[prod\/acme\] /);
  });

  it.each([
    ["an id that begins with a digit", "1and1", /prod\/1and1 has the name "1and1" in Terraform.*such as "site-1and1"/],
    ["an id of which nothing is left", "საიტი", /has the name "" in Terraform/],
  ])("refuses %s", (_, id, words) => {
    expect(complaint(library(), site({}, id).stack)).toMatch(words);
  });

  it("can have another name in Terraform", () => {
    const { site: made, stack, synth } = site({}, "1and1");
    // CDKTF accepts a new logical id until something refers to the first one.
    made.service.overrideLogicalId("one");
    made.grant("a@b.example", "view").overrideLogicalId("boss");
    expect(complaint(library(), stack)).toBe("");
    expect(only(synth(), "hosting_grant")).toMatchObject({ service_id: "${hosting_service.one.id}" });
  });

  it.each([
    ["planId", undefined],
    ["planId", null],
    ["currency", undefined],
    ["currency", null],
  ])("reports at synthesis, with the path, that %s is %s", (property, value) => {
    const said = complaint(library(), site({ [property]: value }).stack);
    expect(said).toContain(`[prod/acme] ${property}: required, without a default`);
  });

  it("reports an incomplete grant", () => {
    const { site: made, stack } = site({ grants: { "a@b.example": null, "c@d.example": {} } });
    const said = complaint(library(), stack);
    for (const email of ["a@b.example", "c@d.example"])
      expect(said).toContain(`[prod/acme] grant "${email}": permission: required, without a default`);
    expect(() => made.grant(undefined as unknown as string, "view")).toThrow(
      "[prod/acme] grant: undefined is not an e-mail address",
    );
  });

  it("treats null as an omitted value, because files contain null", () => {
    const { site: made, synth } = site({
      domain: null,
      reference: null,
      password: null,
      migration: null,
      grants: null,
    });
    expect(made.reference).toBe("prod/acme");
    expect(only(synth(), "hosting_service")).toMatchObject({ reference: "prod/acme" });
    expect(only(synth(), "hosting_service")).not.toHaveProperty("password_version");
  });

  it.each([
    ["a text", "hunter2-canary", /^\[prod\/acme\] password: a literal text would stand in clear text/],
    ["a token", "${var.pw}", /^\[prod\/acme\] password: give it with Password\.fromVariable/],
    ["another object", { file: "canary" }, /^\[prod\/acme\] password: give it with Password\.fromVariable/],
  ])("refuses %s in place of a Password, and does not repeat it", (_, password, words) => {
    expect(() => site({ password })).toThrow(words);
    expect(() => site({ password })).not.toThrow(/canary/);
  });

  it("rejects an object that only looks like a Password, and a Password without a place", () => {
    const { stack } = site({ password: { value: "hunter2-canary", place: undefined } });
    const said = complaint(library(), stack);
    expect(said).toContain("[prod/acme] password: a literal text would stand in clear text");
    expect(said).not.toContain("canary");
    const password = library().hostform.Password.generated(undefined as unknown as "state");
    expect(() => site({ password })).toThrow(/^\[prod\/acme\] secret: expected one of/);
  });

  it.each([
    ["without `sensitive`", { type: "string" }, /must be sensitive/],
    ["with a default", { type: "string", sensitive: true, default: "hunter22" }, /must not have a default/],
  ])("refuses a variable for a password %s, and does not repeat it", (_, config, words) => {
    const variable = new (library().cdk.TerraformVariable)(newStack(library()), "pw", config);
    expect(() => library().hostform.Password.of(variable)).toThrow(words);
    expect(() => library().hostform.Password.of(variable)).not.toThrow(/hunter22/);
  });

  it.each(["", "1st", "a-b", "ü", "${var.x}"])("refuses %j as the name of a variable", (variable) => {
    expect(() => library().hostform.Password.fromVariable(newStack(library()), variable)).toThrow(
      /is not the name of a variable/,
    );
  });

  it("rejects a variable whose name another construct uses", () => {
    const { stack } = site();
    expect(() => library().hostform.Password.fromVariable(stack, "acme")).toThrow("prod/acme is another construct");
  });

  it("rejects a password that an override sets in clear text", () => {
    const { stack, site: made } = site();
    made.service.password = "correct horse";
    const said = complaint(library(), stack);
    expect(said).toContain("[prod/acme] password: a literal text would stand in clear text");
    expect(said).not.toContain("correct horse");
  });
});

describe("a password under cdktn", () => {
  it("is rejected with the fix, unless the app names the Terraform version that it targets", () => {
    const said = (name: "cdktf" | "cdktn") => {
      const stack = newStack(libraries.of(name), "prod", {});
      const { HostedSite, Password } = libraries.of(name).hostform;
      new HostedSite(stack, "shop", { ...SITE, password: Password.fromVariable(stack, "pw") });
      return complaint(libraries.of(name), stack);
    };
    expect(said("cdktf")).toBe("");
    expect(said("cdktn")).toContain(
      "[prod/shop] password: it needs Terraform 1.11. Set it as the target: new App({ context:",
    );
  });
});
