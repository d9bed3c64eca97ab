/** The remedies in a plan are edits of the declaration. They lead to a plan without changes. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Project, startProject } from "../support/project.ts";

const CONTACT = {
  first_name: "Ana",
  last_name: "Acme",
  email: "ana@acme.example",
  phone: "+995 555 000000",
  address: "1 Rustaveli Ave",
  city: "Tbilisi",
  postcode: "0108",
  country: "GE",
};
const ACME = { domain: "acme.example", years: 1, currency: "USD", nameserver_mode: "default" };
const declared = (name: string, more: object = {}) => ({
  project: "fixes",
  domains: { [name]: { ...ACME, registrant_contact: CONTACT, ...more } },
});

/** Returns the text of a plan that fails, on one line. */
async function refused(project: Project): Promise<string> {
  const ran = await project.run("plan");
  expect(ran.code, ran.text).toBe(1);
  return ran.text.replace(/\s+/g, " ");
}

/** Returns the parts of a text in backticks that begin with this key. */
const edits = (text: string, key: string) =>
  [...text.matchAll(/`([^`]+)`/g)].flatMap(([, snippet = ""]) => (snippet.startsWith(`${key}:`) ? parse(snippet) : []));

describe("a registered domain", () => {
  it.each([
    ["registrant_contact", { ...CONTACT, city: "Batumi" }],
    ["nameserver_mode", "custom"],
  ])("whose %s was changed is not bought again: nothing suggests it", async (name, value) => {
    const project = await startProject({ declare: declared("acme") });
    await project.apply();
    project.sent();
    await project.declare(declared("acme", { [name]: value }));
    const text = await refused(project);
    expect(text).toContain(`The API cannot change "${name}" of hosting_domain.acme`);
    expect(text).toContain("Fix: Restore `");
    expect(text).not.toMatch(/new order|invoice|under a new name|state (?:rm|mv)|order(?:s|ed)? (?:it )?again/);

    // The host has changed the domain. The remedy in the message records the change without a request.
    const [removed] = edits(text, "removed");
    const [adopted] = edits(text, "import");
    await project.declare({ ...declared("acme-2", { [name]: value, ...adopted }), ...removed });
    await project.apply("--allow-removals");
    await project.declare(declared("acme-2", { [name]: value }));
    await project.expectNoChanges();
    expect(project.changesSent()).toEqual([]);
  });

  it("that was renamed moves, and is not ordered again", async () => {
    const project = await startProject({ declare: declared("acme") });
    await project.apply();
    project.sent();
    await project.declare(declared("www"));
    await project.apply();
    await project.expectNoChanges();
    expect(project.changesSent()).toEqual([]);
  });
});

describe("a service", () => {
  const www = { plan_id: 11, currency: "USD", domain: "www.acme.example" };

  it("that may not be removed is forgotten by a removed block", async () => {
    const project = await startProject({ declare: { project: "fixes", services: { www } } });
    await project.apply();
    project.sent();
    await project.declare({ project: "fixes", services: {} });
    const text = await refused(project);
    expect(text).not.toContain("state rm");
    const [removed] = edits(text, "removed");
    await project.declare({ project: "fixes", services: {}, ...removed });
    await project.apply("--allow-removals");
    expect((await project.state()).resources.size).toBe(0);
    expect(project.changesSent()).toEqual([]);
  });

  it("that another provider declares is to be adopted there under another name", async () => {
    const providers = { default: {}, other: { token_env: "OTHER_TOKEN" } };
    const project = await startProject({ declare: { project: "fixes", providers, services: { www } } });
    project.env.OTHER_TOKEN = project.sandbox.tokens.customer;
    await project.apply();
    await project.declare({ project: "fixes", providers, services: { www: { ...www, provider: "other" } } });
    const text = await refused(project);
    expect(text).toContain("cannot move from provider default to other");
    expect(text).not.toContain("state rm");
    expect(edits(text, "removed")).toEqual([{ removed: [{ from: "hosting_service.www", destroy: false }] }]);
    expect(edits(text, "import")).toHaveLength(1);
  });
});
