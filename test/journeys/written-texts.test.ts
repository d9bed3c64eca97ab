/** The host receives a declaration's texts exactly as written, even if YAML could read them as numbers or as null. */
import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const DOMAIN = `domains:
  acme:
    domain: acme.example
    years: 1
    currency: USD
    nameserver_mode: default
    registrant_contact:
      first_name: Ana
      email: ana@acme.example
      country: GE
      city: Tbilisi
`;

describe("a text without quotes", () => {
  it("reaches the host as it is written", async () => {
    const project = await startProject();
    await project.declare(`project: acme
templates:
  site:
    parameters: {version: 1.10}
    plan_id: 11
    currency: USD
    domain: v\${version}.acme.example
services:
  www: {template: site}
${DOMAIN}      phone: +1.7035551230
      address: 1e3
      postcode: 0108
      last_name: "Null"
`);
    await project.apply();
    expect(project.control.list("domains")[0]?.registrant_contact).toMatchObject({
      phone: "+1.7035551230",
      address: "1e3",
      postcode: "0108",
      last_name: "Null",
    });
    expect(project.control.list("services").map(({ domain }) => domain)).toContain("v1.10.acme.example");
    await project.expectNoChanges();
  });

  it.each([["validate"], ["plan"], ["apply", "--auto-approve"]])(
    "is refused by %s if it means nothing or something else, all at once and before a request",
    async (...command) => {
      const project = await startProject();
      await project.declare(`project: acme\n${DOMAIN}      last_name: Null\n      phone:\n      company: ~\n`);
      const ran = await project.run(...command);
      expect(ran.code).toBe(1);
      expect(ran.err).toContain(
        'registrant_contact.last_name: expected a string, but Null without quotes means "no value"',
      );
      expect(ran.err).toMatch(/hosting\.yaml:13:18 [\s\S]*hosting\.yaml:14:7 [\s\S]*hosting\.yaml:15:16 /);
      expect(ran.err).toContain('Write the value in quotes (`"Null"`)');
      expect(project.sent()).toEqual([]);
    },
  );
});
