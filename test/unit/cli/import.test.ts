import { describe, expect, it } from "vitest";

import { project, projectWithService } from "./harness.ts";

const DOMAIN = `project: test
domains:
  acme:
    domain: acme.example
    years: 1
    currency: USD
    nameserver_mode: default
    registrant_contact:
      email: ana@acme.example
`;

const WWW = "hosting_service.www";

describe("import", () => {
  it("adopts a service with GET requests only, and the next plan is empty", async () => {
    const made = await projectWithService();
    made.sandbox.control.clearRequests();

    const imported = await made.run(["import", WWW, made.id]);
    expect(imported).toMatchObject({ code: 0, stdout: `Imported ${WWW}: service ${made.id}\n` });
    expect(imported.stderr).toContain("It matches the declaration.");
    expect(new Set(made.sandbox.control.requests().map(({ method }) => method))).toEqual(new Set(["GET"]));

    const planned = await made.run(["plan", "--detailed-exitcode"]);
    expect(planned.stdout).toMatch(/no changes/i);
    expect(planned.code).toBe(0);
  });

  it("accepts the domain instead of the id", async () => {
    const made = await projectWithService();
    const { domain } = made.sandbox.control.list("services").find(({ id }) => String(id) === made.id) ?? {};
    const imported = await made.run(["import", WWW, String(domain)]);
    expect(imported).toMatchObject({ code: 0, stdout: `Imported ${WWW}: service ${made.id}\n` });
    expect((await made.run(["plan", "--detailed-exitcode"])).code).toBe(0);
  });

  it("takes values that the API never returns from the declaration: policy, reference, coupon", async () => {
    const made = await projectWithService("    coupon_code: WELCOME10\n    reference: main\n");
    expect((await made.run(["import", WWW, made.id])).code).toBe(0);
    const shown = await made.run(["state", "show", WWW, "--json"]);
    expect(shown.json().attributes).toMatchObject({
      deletion_policy: "forget",
      reference: "main",
      coupon_code: "WELCOME10",
    });
    expect((await made.run(["plan", "--detailed-exitcode"])).code).toBe(0);
  });

  it("lists the differences and keeps them for the next plan", async () => {
    const made = await projectWithService("    suspended: true\n");
    const { code, json } = await made.run(["import", WWW, made.id, "--json"]);
    expect(code).toBe(0);
    expect(json()).toEqual({ format_version: "1.0", address: WWW, id: made.id, differences: ["suspended"] });
    expect((await made.run(["plan", "--detailed-exitcode"])).code).toBe(2);
  });

  const contradictions: readonly (readonly [string, (d: string) => string, RegExp])[] = [
    ["plan", (text) => text.replace("plan_id: 11", "plan_id: 12"), /plan_id 11; hosting_service\.www declares 12/],
    [
      "domain",
      (text) => text.replace(/domain: .*/, "domain: other.example"),
      /domain "[^"]+"; hosting_service\.www declares "other\.example"/,
    ],
    [
      "currency",
      (text) => text.replace(/currency: .*/, "currency: GEL"),
      /currency "USD"; hosting_service\.www declares "GEL"/,
    ],
    ["term", (text) => `${text}    term: 12\n`, /term 1; hosting_service\.www declares 12/],
  ];
  it.each(contradictions)(
    "rejects another %s than the declaration has, and names both values",
    async (_, edit, both) => {
      const made = await projectWithService();
      const declared = edit(await made.read("hosting.yaml"));
      await made.write("hosting.yaml", declared);
      const { code, stdout, stderr } = await made.run(["import", WWW, made.id]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(both);
      await expect(made.read("hosting.tfstate"), "no state was written").rejects.toThrow();

      // The same import in the declaration fails too, and the apply changes nothing.
      await made.write("hosting.yaml", `${declared}    import: "${made.id}"\n`);
      const applied = await made.run(["apply", "--auto-approve"]);
      expect(applied.code).toBe(1);
      expect(applied.stdout).toMatch(both);
      expect(applied.stdout).not.toContain("will be imported");
      await expect(made.read("hosting.tfstate"), "no state was written").rejects.toThrow();
    },
  );

  it("adopts a grant by its e-mail address once its service is known", async () => {
    const made = await projectWithService("    grants:\n      dev@acme.example: manage\n");
    const grant = made.sandbox.control.create("grants", {
      service_id: Number(made.id),
      email: "dev@acme.example",
      permission: "manage",
    });
    const address = 'hosting_grant.www["dev@acme.example"]';

    const early = await made.run(["import", address, "dev@acme.example"]);
    expect(early.code).toBe(1);
    expect(early.stderr).toContain("SERVICE_ID/dev@acme.example");

    expect((await made.run(["import", WWW, made.id])).code).toBe(0);
    const wrongParent = await made.run(["import", address, `${Number(made.id) + 1}/${grant.id}`]);
    expect(wrongParent.code).toBe(1);
    expect(wrongParent.stderr).toContain(`is declared with service_id ${made.id}`);

    expect((await made.run(["import", address, "dev@acme.example"])).code).toBe(0);
    expect((await made.run(["plan", "--detailed-exitcode"])).code).toBe(0);
    const state = JSON.parse(await made.read("hosting.tfstate"));
    const recorded = state.resources.find(({ type }: { type: string }) => type === "hosting_grant");
    expect(recorded.instances[0].dependencies).toEqual([WWW]);
  });

  it("adopts a domain by the declaration alone, because the API cannot return it", async () => {
    const made = await project(DOMAIN);
    const { code, stderr } = await made.run(["import", "hosting_domain.acme", "77"]);
    expect(code).toBe(0);
    expect(stderr).toContain("could be checked");
    expect((await made.run(["plan", "--detailed-exitcode"])).code).toBe(0);
  });

  it.each([
    [
      "an address that is not declared",
      "hosting_service.ww",
      "No resource hosting_service.ww is declared. Did you mean",
    ],
    ["no address at all", "www", "No resource www is declared"],
    ["an id that does not exist", WWW, "service 999999 does not exist", "999999"],
  ])("refuses %s, and writes no state", async (_, address, message, id?: string) => {
    const made = await projectWithService();
    const { code, stdout, stderr } = await made.run(["import", address, id ?? made.id]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
    await expect(made.read("hosting.tfstate"), "no state was written").rejects.toThrow();
  });

  it("rejects an address that the state contains, and an object of another address", async () => {
    const made = await projectWithService();
    await made.run(["import", WWW, made.id]);
    const before = await made.read("hosting.tfstate");

    const again = await made.run(["import", WWW, made.id]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("is already in the state");

    const text = await made.read("hosting.yaml");
    await made.write("hosting.yaml", `${text}  other:\n    plan_id: 31\n    currency: USD\n`);
    const twin = await made.run(["import", "hosting_service.other", made.id]);
    expect(twin.code).toBe(1);
    expect(twin.stderr).toContain(`\`moved: [{from: ${WWW}, to: hosting_service.other}]\``);
    expect(await made.read("hosting.tfstate")).toBe(before);
  });
});
