/**
 * Passwords declared by their source: hostform reads one only when a request needs it, and neither prints nor stores
 * it.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const WWW = "hosting_service.www";
const PASSWORD = "correct horse battery";
const www = (password: unknown, password_version: number | null = 1) => ({
  project: "passwords",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", password, password_version } },
});

const passwordSent = ({ control }: Project) =>
  control.requests().flatMap(({ path: to, body }) => (to.endsWith("/password") ? [body] : []));

describe("a password", () => {
  it.each<[why: string, source: object | string]>([
    ["the environment", { env: "WWW_PASSWORD" }],
    ["a file", { file: "www.password" }],
    ["a command", { command: ["pass", "show", "www"] }],
  ])("from %s is sent, and is neither stored nor shown", async (_, source) => {
    const project = await startProject({ declare: www(source), env: { WWW_PASSWORD: PASSWORD } });
    writeFileSync(path.join(project.dir, "www.password"), `${PASSWORD}\n`);
    project.onCapture = async (command) => {
      expect(command).toEqual(["pass", "show", "www"]);
      return { stdout: `${PASSWORD}\n`, stderr: "" };
    };
    const texts = [];
    for (const args of [["plan"], ["plan", "--json"], ["apply", "--auto-approve", "--verbose"], ["state", "show", WWW]])
      texts.push((await project.run(...args)).text);
    expect(passwordSent(project)).toEqual([{ password: PASSWORD }]);
    texts.push(...project.memory().values());
    for (const text of texts) expect(text).not.toContain(PASSWORD);
    await project.expectNoChanges();
  });

  it("is read by apply alone, and only when its version has changed", async () => {
    const project = await startProject({ declare: www({ command: ["pass"] }) });
    let runs = 0;
    project.onCapture = async () => ({ stdout: `${PASSWORD} ${++runs}`, stderr: "" });
    expect((await project.run("validate")).code).toBe(0);
    const { config } = await project.changeOf(WWW);
    expect(config).toMatchObject({ password: true, password_version: 1 });
    expect(runs).toBe(0);
    await project.apply();
    expect(runs).toBe(1);
    await project.declare({
      ...www({ command: ["pass"] }),
      webhooks: { a: { url: "https://a.example", events: ["invoice.paid"] } },
    });
    await project.apply();
    expect(runs).toBe(1);
    await project.declare(www({ command: ["pass"] }, 2));
    project.sent();
    await project.apply("--allow-removals");
    expect(runs).toBe(2);
    expect(passwordSent(project)).toEqual([{ password: `${PASSWORD} 2` }]);
  });

  it("is refused, and not read, for a server whose password the API makes", async () => {
    const server = { plan_id: 31, currency: "USD", password_version: 1 };
    const password = { env: "NOT_SET" };
    const project = await startProject({
      declare: { project: "passwords", services: { vps: { ...server, password } } },
    });
    const refused = await project.run("apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain(
      '"password" is not supported for a service of type "vps": the server generates a password',
    );
    await project.declare({ project: "passwords", services: { vps: server } });
    await project.apply();
    expect((await project.recorded("hosting_service.vps"))?.attributes.generated_password).toEqual(expect.any(String));
  });

  it.each([
    ["can be read under another name", (password: string) => ({ data: { login: "root", pass: password } }), 0, 0],
    [
      "cannot be read is an error that names what came, and the live server is not reset once more",
      () => ({ data: { login: "root", code: 7 } }),
      1,
      1,
    ],
  ])("that the API makes and that %s", async (_, body, code, warned) => {
    const box = { project: "passwords", services: { box: { plan_id: 31, currency: "USD" } } };
    const project = await startProject({ declare: box });
    await project.apply();
    await project.declare({ ...box, services: { box: { ...box.services.box, password_version: 1 } } });
    const answer = { status: 200, body: body("gEn1001x1xPa55") };
    project.control.addFault({ method: "POST", path: "/services/*/password", phase: "after", times: 9, ...answer });
    const first = await project.run("apply", "--auto-approve");
    expect(first.code, first.text).toBe(code);
    if (code === 1) {
      expect(first.text).toContain("[secret.lost]");
      expect(first.text).toContain("POST /api/v1/services/{id}/password");
      expect(first.text).toContain("data.login, data.code");
    }
    const { attributes } = (await project.recorded("hosting_service.box")) ?? {};
    expect(attributes?.generated_password).toBe(code === 0 ? "gEn1001x1xPa55" : null);
    const later = await project.run("apply", "--auto-approve");
    expect([later.code, later.text.split("[secret.lost]").length - 1], later.text).toEqual([0, warned]);
    expect(passwordSent(project)).toHaveLength(1);
  });

  it("that the API makes and whose answer is empty is reset once more, and never a third time", async () => {
    const box = { plan_id: 31, currency: "USD", password_version: 1 };
    const project = await startProject({ declare: { project: "passwords", services: { box } } });
    project.control.addFault({
      method: "POST",
      path: "/services/*/password",
      phase: "after",
      times: 9,
      status: 200,
      body: "",
    });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    const third = await project.run("apply", "--auto-approve");
    expect(third.code, third.text).toBe(0);
    expect(passwordSent(project)).toHaveLength(2);
  });

  it("is read once for all that name the same source", async () => {
    const { services } = www({ command: ["pass"] });
    const declare = {
      project: "passwords",
      services: { ...services, b: { ...services.www, domain: "b.acme.example" } },
    };
    const project = await startProject({ declare });
    let runs = 0;
    project.onCapture = async () => ({ stdout: `${PASSWORD} ${++runs}`, stderr: "" });
    await project.apply();
    expect(passwordSent(project)).toEqual([{ password: `${PASSWORD} 1` }, { password: `${PASSWORD} 1` }]);
  });

  it.each([
    ["cannot be read", {}, "It is not set."],
    ["is too short", { WWW_PASSWORD: "s3cr3t" }, "at least 8 characters"],
  ])("that %s is reported at its place; the order is recorded, and the next run goes on", async (_, env, words) => {
    const project = await startProject({ declare: www({ env: "WWW_PASSWORD" }), env });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[secret.source]");
    expect(ran.text).toContain(words);
    expect(ran.text).toMatch(/hosting\.yaml:\d+:\d+ \(hosting_service\.www\)\n +\d+ \| +"?password"?:/);
    expect(ran.text).not.toContain("s3cr3t");
    expect(project.changesSent()).toEqual(["POST /services"]);
    project.env.WWW_PASSWORD = PASSWORD;
    await project.apply();
    expect(project.changesSent()).toEqual(["POST /services/1003/password"]);
    await project.expectNoChanges();
  });

  it("may not stand in the declaration", async () => {
    const project = await startProject({ declare: www(PASSWORD) });
    for (const args of [["validate"], ["plan"], ["apply", "--auto-approve"], ["plan", "--json"]]) {
      const ran = await project.run(...args);
      expect(ran.code).toBe(1);
      expect(ran.text).toContain("config.secret");
      expect(ran.text).not.toContain(PASSWORD);
    }
    expect(project.sent()).toEqual([]);
  });
});
