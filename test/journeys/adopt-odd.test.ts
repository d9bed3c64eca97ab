/**
 * `hostform adopt` of an account with odd values, odd files and a full disk. The report names everything that adopt
 * skips.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { refuse } from "../support/refusing-disk.ts";

/** An account without the sandbox's own services. */
async function account(): Promise<Project> {
  const project = await startProject({ pinned: { status: ["lower"] } });
  for (const { id } of project.control.list("services")) project.control.remove("services", id);
  return project;
}

/** All files of the declaration in one text. */
async function written({ dir }: Project): Promise<string> {
  const names = (await readdir(dir)).filter((name) => /\.(?:hosting\.yaml|tf)$|^hosting\.yaml$/.test(name));
  return (await Promise.all(names.map((name) => readFile(path.join(dir, name), "utf8")))).join("");
}

/** Returns the output with its wrapped lines joined. */
const flat = (text: string) => text.replace(/\s+/g, " ");

/** Each domain, with its form in the declaration or the reason why adopt skips it. */
const DOMAINS: readonly (readonly [shown: string, form: RegExp])[] = [
  ["shop.example.", /domain: shop\.example$/m],
  ["Www.Acme.Example", /domain: Www\.Acme\.Example$/m],
  ["xn--bcher-kva.example", /domain: (?:xn--bcher-kva|bücher)\.example$/m],
  ["https://url.example/", /domain: url\.example$/m],
  [
    "my_shop.example",
    /"my_shop\.example" \(expected a domain name such as www\.acme\.example, and it has an underscore/,
  ],
  ["*.wild.example", /"\*\.wild\.example" \(expected .*it has a wild card/],
  ["localhost", /"localhost" \(expected .*it has one label/],
  ["bad..example", /"bad\.\.example" \(expected .*it has an empty label/],
  ["-x.example", /begins or ends with a hyphen/],
  ["192.0.2.1", /its last label is a number/],
];

describe("an account with odd values", () => {
  it.each(["yaml", "hcl"])(
    "has each domain in the declaration or in the list, with the reason (%s)",
    async (format) => {
      const project = await account();
      const services = project.control.seedServices({ count: DOMAINS.length });
      for (const [at, [domain]] of DOMAINS.entries()) {
        const id = services[at]?.id ?? 0;
        project.control.change("services", id, { domain });
        project.control.create("grants", { service_id: id, email: "dev@acme.example", permission: "view" });
      }
      const { code, out, text } = await project.run("adopt", "--auto-approve", "--format", format);
      expect(code, text).toBe(0);
      const declared = (await written(project)).replace(/ += "(.*)"$/gm, ": $1");
      for (const [domain, form] of DOMAINS) expect(`${declared}\n${flat(out)}`, domain).toMatch(form);
      const listed = services.slice(4);
      for (const { id } of listed)
        expect(flat(out)).toMatch(new RegExp(`service ${id}: Its domain cannot be declared`));
      expect(flat(out).match(/Left out with it: 1 grant \(dev@acme\.example\)/g)).toHaveLength(listed.length);
      if (format === "yaml") await project.expectNoChanges();
      expect((await project.state()).resources.size).toBe(8);
    },
  );

  it("lists what else cannot be declared, and what has ended, in full", async () => {
    const project = await account();
    const { control } = project;
    const [site] = control.seedServices({ count: 1 });
    const ended = control.seedServices({ count: 30, status: "cancelled", domain_prefix: "old" });
    const service_id = site?.id ?? 0;
    const [grant, same] = ["dev@acme.example", "other@acme.example"].map((email) =>
      control.create("grants", { service_id, email, permission: "view" }),
    );
    control.change("grants", grant?.id ?? 0, { email: "no address" });
    control.change("grants", same?.id ?? 0, { email: "Dev@Acme.Example." });
    const hook = control.create("webhooks", { url: "https://hooks.acme.example/", events: ["invoice.paid"] });
    control.change("webhooks", hook.id, { url: "ftp://hooks.acme.example/" });
    const client = control.create("accounts", { name: "Acme", currency: "USD" });
    control.change("accounts", client.id, { name: "\u0000" });
    const { code, out, text } = await project.run("adopt", "--auto-approve");
    expect(code, text).toBe(0);
    for (const { id } of ended) expect(out).toContain(`service ${id} has ended: it is "cancelled".`);
    expect(flat(out)).toContain('Its email cannot be declared: "no address"');
    expect(flat(out)).toContain('Its url cannot be declared: "ftp://hooks.acme.example/"');
    expect(await written(project)).toMatch(/Dev@Acme\.Example: view/i);
    await project.expectNoChanges();
  });

  it("takes a domain with the root's dot for the one that a pattern means", async () => {
    const project = await account();
    const [site] = project.control.seedServices({ count: 1 });
    project.control.change("services", site?.id ?? 0, { domain: "www.acme.example." });
    const { out } = await project.run("adopt", "--auto-approve", "--select", "*.acme.example");
    expect(out).toContain("Adopted 1 service");
  });
});

describe("a file for adopt", () => {
  const latin1 = Buffer.from("service id,client\n1003,Caf\xe9\n", "latin1");

  it.each(["--clients", "--names"])("that is not UTF-8 is refused with line and column (%s)", async (option) => {
    const project = await account();
    await writeFile(path.join(project.dir, "map.csv"), latin1);
    const { code, text } = await project.run("adopt", "--auto-approve", option, "map.csv");
    expect(code).toBe(1);
    expect(text).toContain("map.csv cannot be read: it is not valid UTF-8 (line 2, column 9)");
    expect(project.sent()).toEqual([]);
    expect(await project.stateText()).toBeUndefined();
  });

  it("that is a .gitignore in another encoding keeps its bytes", async () => {
    const project = await account();
    project.control.seedServices({ count: 1 });
    const file = path.join(project.dir, ".gitignore");
    await writeFile(file, latin1);
    const { code, text } = await project.run("adopt", "--auto-approve");
    expect(code).toBe(1);
    expect(text).toContain(".gitignore cannot be read: it is not valid UTF-8");
    expect(Buffer.compare(await readFile(file), latin1)).toBe(0);
  });
});

it("a state that is pushed or a declaration that is formatted is refused when it is not UTF-8, and stays", async () => {
  const project = await startProject();
  const file = path.join(project.dir, "hosting.yaml");
  const bytes = Buffer.from("project: caf\xe9\n", "latin1");
  await writeFile(file, bytes);
  for (const command of [["fmt"], ["state", "push", "hosting.yaml"], ["validate"]]) {
    const { code, text } = await project.run(...command);
    expect([command, code]).toEqual([command, 1]);
    expect(text).toContain("not valid UTF-8");
  }
  expect(Buffer.compare(await readFile(file), bytes)).toBe(0);
});

it("adopt names a full disk, and writes neither files nor a state", async () => {
  const project = await account();
  project.control.seedServices({ count: 1 });
  refuse("open", /\.(?:tfstate|yaml|tmp)/, "ENOSPC");
  const { code, text } = await project.run("adopt", "--auto-approve");
  expect(code).toBe(1);
  expect(text).toContain("no space is left on the disk (ENOSPC)");
  expect(await written(project)).toBe("");
  expect(await project.stateText()).toBeUndefined();
});

it("adopt reports one failure when the host refuses each of its lists", async () => {
  const project = await account();
  project.control.addFault({ method: "GET", path: "/*", phase: "before", status: 403, times: 1000 });
  const { code, text } = await project.run("adopt", "--auto-approve");
  expect(code).toBe(1);
  expect(text).toMatch(/\[api\.forbidden\]/);
});
