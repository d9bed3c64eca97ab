import { describe, expect, it } from "vitest";
import { answering, declarationOf, type Project, project, projectWithService } from "./harness.ts";

const PASSWORD = "correct horse battery";

/** Creates a project whose account has a VPS. Returns the VPS's id too. */
async function withVps(): Promise<Project & { readonly vps: string }> {
  const made = await project();
  const [service] = made.sandbox.control.seedServices({ plan_id: 31 });
  return { ...made, vps: String(service?.id) };
}

const posts = (made: Project) => made.sandbox.control.requests().filter(({ method }) => method === "POST");

describe("password", () => {
  it.each([
    ["the environment", ["--password-env", "PW"], { PW: PASSWORD }, ""],
    ["a file, without its last line break", ["--password-file", "pw.token"], {}, ""],
    ["standard input", ["--password-stdin"], {}, `${PASSWORD}\r\n`],
  ])("is set from %s", async (_, flags, more, input) => {
    const made = await projectWithService();
    await made.write("pw.token", `${PASSWORD}\n`);
    const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.agency, ...more };
    const { code, stdout, stderr } = await made.run(["password", made.id, ...flags], { env, input });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`The password of service ${made.id} was set.`);
    expect(stderr).toContain("password_version");
    expect(stderr).not.toContain(PASSWORD);
    expect(posts(made)).toHaveLength(1);
    expect(posts(made)[0]?.body).toEqual({ password: PASSWORD });
  });

  it("is set by an address of the state, without another request for the product type", async () => {
    const made = await projectWithService();
    await made.run(["import", "hosting_service.www", made.id]);
    made.sandbox.control.clearRequests();
    const done = await made.run(["password", "hosting_service.www", "--password-stdin", "--json"], { input: PASSWORD });
    expect(done.json()).toEqual({ format_version: "1.0", service_id: made.id, generated: false });
    // The GET checks that the service is the one in the state.
    expect(made.sandbox.control.requests().map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  it("is generated for a VPS, and is the only text on standard output", async () => {
    const made = await withVps();
    const { code, stdout, stderr } = await made.run(["password", made.vps]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S{8,}\n$/);
    expect(stderr).not.toContain(stdout.trim());
    const json = await made.run(["password", made.vps, "--json", "--quiet"]);
    expect(json.json()).toEqual({
      format_version: "1.0",
      service_id: made.vps,
      generated: true,
      password: expect.any(String),
    });
    expect(json.stderr).toBe("");
  });

  it.each([
    ["no password for shared hosting", [], "requires a password from you"],
    ["--generate for shared hosting", ["--generate"], "requires a password from you"],
    ["two sources", ["--password-env", "PW", "--password-stdin"], "Two sources of a password cannot be combined"],
    ["a variable that is not set", ["--password-env", "NONE"], "NONE is not set"],
    ["what could be the password itself", ["--password-env", "hunter2hunter"], "It may be the secret itself"],
    ["a file that is not there", ["--password-file", "none"], "there is no such file or folder"],
    ["a short one", ["--password-stdin"], "too short"],
    ["several lines", ["--password-env", "LINES"], "more than one line"],
  ])("is rejected with %s, and no request is sent", async (_, flags, message) => {
    const made = await projectWithService();
    const env = {
      HOSTING_BASE_URL: made.sandbox.url,
      HOSTING_TOKEN: made.sandbox.tokens.agency,
      PW: PASSWORD,
      LINES: "one line\nanother line",
    };
    const { code, stdout, stderr } = await made.run(["password", made.id, ...flags], { env, input: "seven77\n" });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
    expect(posts(made)).toEqual([]);
  });

  it("is rejected if the API generates the password", async () => {
    const made = await withVps();
    const { code, stderr } = await made.run(["password", made.vps, "--password-stdin"], { input: PASSWORD });
    expect(code).toBe(1);
    expect(stderr).toContain("A password is not supported");
    expect(posts(made)).toEqual([]);
  });

  it("is an error if the response lacks the generated password", async () => {
    const made = await withVps();
    const env = {
      HOSTING_BASE_URL: await answering(200, "application/json", '{"data":{"id":1,"product_type":"vps"}}'),
      HOSTING_TOKEN: made.sandbox.tokens.agency,
    };
    const { code, stdout, stderr } = await made.run(["password", "1"], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("was reset, but the response does not contain the new password");
  });

  it("is readable if a CI agent would execute a part of it, and the changes are explained", async () => {
    const made = await withVps();
    const body = '{"data":{"id":1,"product_type":"vps","password":"::p##[w"}}';
    const env = {
      HOSTING_BASE_URL: await answering(200, "application/json", body),
      HOSTING_TOKEN: made.sandbox.tokens.agency,
      GITHUB_ACTIONS: "true",
    };
    const { stdout, stderr } = await made.run(["password", "1"], { env });
    expect(stdout).toBe(":\\u003ap##\\u005bw\n");
    expect(stderr).toContain("the password shows \\u005b for [ and \\u003a for a colon");
    expect((await made.run(["password", "1", "--json"], { env })).json().password).toBe("::p##[w");
  });

  it("requires a decision if the product type is unknown", async () => {
    const made = await withVps();
    made.sandbox.control.change("services", Number(made.vps), { product_type: "mainframe" as never });
    const open = await made.run(["password", made.vps]);
    expect(open.code).toBe(1);
    expect(open.stderr).toContain("--generate");
    expect(posts(made)).toEqual([]);
  });
});

describe("sso", () => {
  it("prints only the URL on standard output", async () => {
    const made = await projectWithService();
    const { code, stdout, stderr } = await made.run(["sso", made.id]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(URL.canParse(stdout.trim())).toBe(true);
    expect(stdout.split("\n")).toHaveLength(2);
    const json = await made.run(["sso", made.id, "--json"]);
    expect(json.json()).toEqual({ format_version: "1.0", service_id: made.id, url: expect.stringContaining("://") });
  });

  it.each(["file:///etc/passwd", "javascript:alert(1)", "-h"])("neither opens nor prints the URL %s", async (url) => {
    const made = await project();
    const env = {
      HOSTING_BASE_URL: await answering(200, "application/json", JSON.stringify({ data: { url } })),
      HOSTING_TOKEN: made.sandbox.tokens.agency,
    };
    const { code, stdout, stderr, io } = await made.run(["sso", "1", "--open"], { env });
    expect({ code, stdout, browsed: io.browsed }).toEqual({ code: 1, stdout: "", browsed: [] });
    expect(stderr).not.toContain(url === "-h" ? "\n-h" : url);
    expect((await made.run(["sso", "1"], { env })).stdout).toBe("");
  });

  it("to a service that is not live yet asks the user to wait, with the reason", async () => {
    const made = await project(declarationOf("www.acme.example", "USD"));
    expect((await made.run(["apply", "--auto-approve"])).code).toBe(0);
    made.sandbox.control.addFault({
      path: "/services/:id/panel-sso",
      phase: "before",
      status: 422,
      body: { message: "Not yet." },
    });
    const { code, stdout, stderr } = await made.run(["sso", "hosting_service.www"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/The single sign-on waits until service \d+ is live: its invoice is not paid/);
    expect(stderr).toContain("Not yet.");
  });
});
