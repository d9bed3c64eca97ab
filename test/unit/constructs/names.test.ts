/** Two blocks with the same name in one stack. CDKTF would silently replace the first block with the second. */
import { describe, expect, it } from "vitest";
import fc from "../../support/fc.ts";
import { bothLibraries, complaint, newStack, type Stack, synthesize } from "./support.ts";

const libraries = bothLibraries();
const ORDER = { planId: 11, currency: "USD" } as const;

describe.each(libraries.names)("names in a stack of %s", (name) => {
  const library = () => libraries.of(name);
  const service = (stack: Stack, id: string) =>
    new (library().hostform.Service)(stack, id, { ...ORDER, domain: `${id}.example` });
  const site = (stack: Stack, id: string) =>
    new (library().hostform.HostedSite)(stack, id, { ...ORDER, domain: `${id}.example` });

  it.each([
    ["two sites", site, site],
    ["a site and a service", site, service],
    ["a service and a site", service, site],
    ["two services", service, service],
  ])("that are equal in Terraform are rejected, with both paths: %s", (_, first, second) => {
    const stack = newStack(library());
    first(stack, "a.b");
    second(stack, "ab");
    expect(complaint(library(), stack)).toContain(
      "[prod] prod/ab is hosting_service.ab in Terraform, and so is prod/a.b: choose ids that differ in their letters",
    );
  });

  it("are rejected if the second is a plain resource, or was renamed to the name of the first", () => {
    const stack = newStack(library());
    service(stack, "www");
    new (library().cdk.TerraformResource)(stack, "w.ww", { terraformResourceType: "hosting_service" });
    service(stack, "shop").overrideLogicalId("www");
    const said = complaint(library(), stack);
    expect(said).toContain("prod/w.ww is hosting_service.www in Terraform, and so is prod/www");
    expect(said).toContain("prod/shop is hosting_service.www in Terraform, and so is prod/www");
  });

  it("of data sources are rejected too, because one would return the values of the other", () => {
    const { DataHostingPlan } = library().hostform;
    const stack = newStack(library());
    new DataHostingPlan(stack, "start.", { planId: 11 });
    new DataHostingPlan(stack, "start", { planId: 12 });
    expect(complaint(library(), stack)).toContain("prod/start is data.hosting_plan.start in Terraform, and so is");
  });

  it("may be equal for another type, in another stack, and after a rename", () => {
    const stack = newStack(library());
    const { DataHostingService, Webhook } = library().hostform;
    site(stack, "a.b").service.overrideLogicalId("first");
    service(stack, "ab");
    new DataHostingService(stack, "a-b", { id: "1" }).overrideLogicalId("ab");
    new Webhook(stack, "a_b", { url: "https://a.example", events: ["invoice.paid"] }).overrideLogicalId("ab");
    const inner = new (library().cdk.TerraformStack)(stack, "inner");
    new (library().hostform.HostingProvider)(inner, "hosting", {});
    service(inner, "ab");
    expect(complaint(library(), stack)).toBe("");
    expect(Object.keys(synthesize(library(), stack).resource.hosting_service ?? {})).toEqual(["ab", "first"]);
  });

  it("begin with a letter; synthesis adds one to the others", () => {
    const stack = newStack(library());
    service(stack, "1and1");
    site(stack, "2nd").grant("a@b.example", "view");
    const said = complaint(library(), stack);
    expect(said).toMatch(/\[prod\] prod\/1and1 has the name "1and1" in Terraform.* such as "site-1and1"$/m);
    expect(said).toMatch(/\[prod\] prod\/2nd has the name "2nd" in Terraform.* such as "site-2nd"$/m);
    expect(said).not.toContain("a@b");
  });

  it("are rejected, or the stack contains every service of the program", () => {
    const id = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", ".", "_", "ü", " ", "1") });
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 4 }), fc.boolean(), (ids, raw) => {
        const stack = newStack(library());
        for (const one of ids) {
          const made = raw ? service(stack, one) : site(stack, one).service;
          made.domain = "www.acme.example";
        }
        if (complaint(library(), stack) !== "") return;
        expect(Object.keys(synthesize(library(), stack).resource.hosting_service ?? {})).toHaveLength(ids.length);
      }),
      { numRuns: 60 },
    );
  });
});
