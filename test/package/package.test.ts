/** Builds and packs the package, installs it in an empty project, and uses its public names. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIBRARIES } from "../../scripts/bindings/kept.ts";
import { prose, readPage } from "../docs/markdown.ts";
import { expectedOf, missingPeer, synthesized, unusedClasses } from "./constructs-consumer.ts";
import { compile, PUSHES, packed, project, root, run, SIGNED_PUSH, STRICTER } from "./consumer.ts";
import { consumerProgram } from "./consumer-program.ts";

const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

describe("the package", { timeout: 60_000 }, () => {
  let folder = "";
  let tarball = "";
  const installed = () => path.join(folder, "node_modules/hostform");

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "hostform-package-"));
    tarball = await packed();
    project(folder, tarball, []);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("contains the expected files and no development files", () => {
    const files = run("find", [".", "-type", "f"], installed()).split("\n");
    expect(files).toContain("./dist/hostform.js");
    expect(files).toContain("./schemas/hosting.schema.json");
    expect(files).toContain("./dist/terraform/provider.cjs");
    expect(files).toContain("./dist/terraform/provider.NOTICES.txt");
    for (const name of ["AGENTS.md", "llms.txt", "integrations/agent/SKILL.md"]) expect(files).toContain(`./${name}`);
    expect(files).toContain("./schemas/provider.json");
    for (const library of ["cdktf", "cdktn"]) {
      for (const name of ["index", "lib/service/index", "lib/provider/index"]) {
        expect(files).toContain(`./dist/${library}/${name}.js`);
        expect(files).toContain(`./dist/${library}/${name}.d.ts`);
      }
      expect(
        files.filter((file) => file.startsWith(`./dist/${library}/`) && /\.map$|(?<!\.d)\.ts$/.test(file)),
      ).toEqual([]);
    }
    expect(files).toContain("./LICENSE");
    expect(files).toContain("./README.md");
    expect(files.filter((file) => /^\.\/(?:src|test|scripts|node_modules|\.ci)\//.test(file))).toEqual([]);
  });

  it("has a package.json without scripts and tools, and with a list of its manual pages", () => {
    const packed = JSON.parse(readFileSync(path.join(installed(), "package.json"), "utf8"));
    const { scripts, devDependencies, allowScripts, ...rest } = manifest;
    const pages = globSync("dist/man/man1/*", { cwd: installed() }).sort();
    expect(packed).toEqual({ ...rest, man: pages.map((page) => `./${page}`) });
    expect(packed.man).toContain("./dist/man/man1/hostform-plan.1");
  });

  it("has no dead link: each relative link in its pages leads to a packed file", () => {
    const links = globSync("**/*.md", { cwd: installed() }).flatMap((file) => {
      const text = prose(readPage(file, readFileSync(path.join(installed(), file), "utf8")));
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .filter(([, to = ""]) => !/^(?:[a-z]+:|#)/.test(to))
        .map(([, to = ""]) => ({ file, to: path.posix.join(path.posix.dirname(file), to.split("#")[0] ?? "") }));
    });
    expect(links.length).toBeGreaterThan(400);
    expect(links.filter(({ to }) => !existsSync(path.join(installed(), to)))).toEqual([]);
  });

  it("is the only way to pack: npm pack in a checkout names the command", () => {
    const packing = spawnSync("npm", ["pack", "--dry-run"], { cwd: root, encoding: "utf8" });
    expect(packing.stderr).toContain("npm run release -- --npm");
    expect(packing.status).toBe(1);
  });

  it("contains the licence of every package whose files it embeds, and a bill of materials with the same names", () => {
    const dist = path.join(installed(), "dist");
    // The bundles of the command line and of the libraries name the source of each embedded file.
    const scripts = globSync("{*.js,chunks/*.js,webhooks/*.js}", { cwd: dist }).map((file) =>
      readFileSync(path.join(dist, file), "utf8"),
    );
    const [, ...sections] = readFileSync(path.join(dist, "NOTICES.txt"), "utf8").split(/\n={80}\n\n/);
    const provider = readFileSync(path.join(dist, "terraform/provider.NOTICES.txt"), "utf8").split(/\n={80}\n\n/);
    const embedded = new Set(
      scripts.flatMap((text) =>
        [...text.matchAll(/^\/\/ node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//gm)].map(([, name]) => name),
      ),
    );
    const names = sections.map((text) => text.split(" ")[0]);
    expect(embedded).toContain("commander");
    expect(names).toEqual(expect.arrayContaining([...embedded]));
    for (const section of provider.slice(1)) expect(names).toContain(section.split(" ")[0]);
    for (const section of sections) expect(section).toMatch(/permi(?:t|ssion)/i);
    const { components } = JSON.parse(readFileSync(path.join(dist, "sbom.cdx.json"), "utf8"));
    expect(components.map(({ group, name }: Record<string, string>) => (group ? `${group}/${name}` : name))).toEqual(
      names,
    );
  });

  it("passes publint: each entry point exists, in the format of package.json", async () => {
    const bytes = readFileSync(tarball);
    const content = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: content }, strict: true });
    expect(pkg?.name).toBe("hostform");
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it("has correct types for every entry point, with every module resolution for ESM", () => {
    // The check runs in its own process, because vitest resolves packages to their sources, and this package has
    // TypeScript sources.
    const script = `
      import { readFileSync } from "node:fs";
      import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
      console.log(JSON.stringify(await checkPackage(createPackageFromTarballData(readFileSync(process.argv[1])))));`;
    const analysis = JSON.parse(run(process.execPath, ["--input-type=module", "-e", script, tarball], root));
    const points = Object.keys(manifest.exports).filter((name) => !name.includes("*"));
    expect(Object.keys(analysis.entrypoints)).toEqual(expect.arrayContaining(points));
    // The package contains only ESM: `require` of it needs Node 22.12, and node10 resolution ignores `exports`.
    const open = analysis.problems.filter(
      ({ kind, resolutionKind }: Record<string, string>) => kind !== "CJSResolvesToESM" && resolutionKind !== "node10",
    );
    expect(open).toEqual([]);
  });

  it("installs no other package: embedded packages are not dependencies", () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(path.join(installed(), "package.json"), "utf8"),
    );
    expect({ dependencies, optionalDependencies }).toEqual({});
  });

  it.each(["README.md", "docs/install.md", "docs/cdktf.md", "examples/README.md"])(
    "is packed under the name that %s installs",
    (page) => {
      const named = readFileSync(path.join(root, page), "utf8").match(/hostform-[\w.-]+\.tgz/g) ?? [];
      expect(named).not.toEqual([]);
      expect(new Set(named)).toEqual(new Set([path.basename(tarball)]));
    },
  );

  it("runs as a command, without its sources", () => {
    const bin = path.join(installed(), manifest.bin.hostform);
    expect(run(process.execPath, [bin, "--version"], folder)).toBe(`hostform ${manifest.version}\n`);
    expect(run(process.execPath, [bin, "sandbox", "--", process.execPath, bin, "plans", "--json"], folder)).toContain(
      '"plan_id": 11',
    );
  });

  it.each(["--version", "-V", "version"])("prints the version for %s without loading the command line", (asked) => {
    // Prints each loaded file of the package on standard error.
    const hook = `import { registerHooks } from "node:module";
      registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
    const bin = path.join(installed(), manifest.bin.hostform);
    const hooked = ["--import", `data:text/javascript,${encodeURIComponent(hook)}`, bin, asked];
    const { stdout, stderr } = spawnSync(process.execPath, hooked, { encoding: "utf8" });
    expect(stdout.startsWith(`hostform ${manifest.version}`)).toBe(true);
    const loaded = stderr.split("\n").filter((url) => url.startsWith("file:"));
    const texts = loaded.map((url) => readFileSync(new URL(url), "utf8"));
    expect(loaded.map((url) => path.basename(url))).toContain("hostform.js");
    expect(texts.filter((text) => /node_modules\/|core\/(?:kinds|engine|record)\//.test(text))).toEqual([]);
  });

  it("contains the Terraform provider, which runs after its installation", () => {
    const hostform = (...args: string[]) =>
      run(process.execPath, [path.join(installed(), manifest.bin.hostform), ...args], folder);
    const { platform, file } = JSON.parse(hostform("terraform", "install", "--mirror", "mirror", "--json"));
    expect(file).toContain(`/registry.terraform.io/hostform/hosting/${manifest.version}/${platform}/`);
    const env = { PATH: process.env.PATH, HOSTFORM_NODE: process.execPath };
    const started = spawnSync(file, { encoding: "utf8", env });
    expect(started.stderr).toContain("This is the Terraform provider");

    writeFileSync(path.join(folder, "hosting.yaml"), "project: acme\nclient_accounts:\n  acme:\n    name: Acme\n");
    expect(hostform("export")).toContain('resource "hosting_client_account" "acme" {');
  });

  it("exports hostform, which a webhook uses to plan at each signed push", () => {
    const site = path.join(folder, "pushed");
    mkdirSync(site);
    writeFileSync(
      path.join(site, "hosting.yaml"),
      "project: acme\nservices:\n  www: { plan_id: 11, currency: USD, domain: www.acme.example, deletion_policy: forget }\n",
    );
    writeFileSync(path.join(folder, "server.mjs"), readFileSync(path.join(root, "examples/plan-on-push/server.mjs")));
    const bin = path.join(installed(), manifest.bin.hostform);
    const args = [bin, "sandbox", "--", process.execPath, "--input-type=module", "-e", PUSHES];
    const output = run(process.execPath, args, folder)
      .split("\n")
      .map((line) => line.trim());
    expect(output).toEqual(expect.arrayContaining([SIGNED_PUSH, "401"]));
    expect(readFileSync(path.join(folder, "plan.html"), "utf8")).toContain("www.acme.example");
  });

  it("exports hostform/client", () => {
    const script = `
      import { HostingClient } from "hostform/client";
      const client = new HostingClient({ baseUrl: process.env.HOSTING_BASE_URL, token: process.env.HOSTING_TOKEN });
      for await (const plan of client.plans.list()) console.log(plan.plan_id);
      await client.close();`;
    const bin = path.join(installed(), manifest.bin.hostform);
    const output = run(
      process.execPath,
      [bin, "sandbox", "--", process.execPath, "--input-type=module", "-e", script],
      folder,
    );
    expect(output.split("\n")).toContain("11");
  });

  it("exports hostform/json: types of the documents, and the schema with the same names", () => {
    writeFileSync(
      path.join(folder, "documents.ts"),
      `import type { JsonOutputs, PlanJson } from "hostform/json";
import schema from "hostform/schemas/output.schema.json" with { type: "json" };
export const creates = ({ resource_changes }: PlanJson): number => resource_changes.length;
export const ids = (rows: JsonOutputs["services"]): string[] => rows.map(({ id }) => id);
export const failed = (line: JsonOutputs["apply"]): readonly string[] =>
  line.type === "change_summary" && "failed" in line.hostform ? line.hostform.failed : [];
export const next = (line: JsonOutputs["watch"]): number | null =>
  line.type === "watch_found" ? line.hostform.next_seconds : null;
// @ts-expect-error no such command
export type None = JsonOutputs["none"];
// @ts-expect-error no such field
export const wrong = (rows: JsonOutputs["services"]) => rows[0]?.raw;
`,
    );
    expect(compile(folder, "documents.ts", "nodenext", { options: ["--resolveJsonModule"] })).toBe("");
    const script = `
      import * as json from "hostform/json";
      import schema from "hostform/schemas/output.schema.json" with { type: "json" };
      console.log(Object.keys(json).length, "plan" in schema.$defs);`;
    expect(run(process.execPath, ["--input-type=module", "-e", script], folder)).toBe("0 true\n");
  });

  it("exports hostform/sandbox, which delivers events", () => {
    const script = `
      import { startSandbox } from "hostform/sandbox";
      const sandbox = await startSandbox({ clock: "2026-11-21T10:00:00Z" });
      sandbox.control.create("webhooks", { url: "http://127.0.0.1:9/deaf", events: ["service.terminated"] });
      sandbox.control.seedServices();
      sandbox.control.advanceClock({ months: 12 });
      const answer = await fetch(sandbox.url + "/api/v1/services", { headers: { authorization: "Bearer " + sandbox.tokens.agency } });
      const { data } = await answer.json();
      console.log(sandbox.control.clock().now, data.map((service) => service.status).join());
      await sandbox.control.settled();
      console.log(sandbox.control.list("deliveries").map(({ event, attempts }) => event + ": " + attempts[0].error).join());
      await sandbox.close();`;
    const output = run(process.execPath, ["--input-type=module", "-e", script], folder);
    expect(output.split("\n")).toEqual([
      "2027-11-21T10:00:00.000Z terminated",
      "service.terminated: connect ECONNREFUSED 127.0.0.1:9",
      "",
    ]);
  });

  it("exports hostform/webhooks, and hostform/webhooks/fetch with the same errors", () => {
    const script = `
      import { nodeHandler, parseEvent, signatureOf, verifySignature, WebhookError } from "hostform/webhooks";
      import { fetchHandler, WebhookError as SameError } from "hostform/webhooks/fetch";
      const body = '{"event":"invoice.paid","data":{"id":1},"timestamp":"2026-11-22T10:00:00+00:00"}';
      const headers = { "X-Service-Signature": signatureOf(body, "secret") };
      const onEvent = ({ event }) => console.log(event);
      nodeHandler({ secrets: "secret", onEvent });
      const answer = await fetchHandler({ secrets: "secret", onEvent })(new Request("https://a.example/", { method: "POST", headers, body }));
      console.log(answer.status, WebhookError === SameError, verifySignature(body, "00", "secret"), parseEvent(body).known);`;
    expect(run(process.execPath, ["--input-type=module", "-e", script], folder)).toBe(
      "invoice.paid\n204 true false true\n",
    );
  });

  it("has types of hostform/webhooks/fetch that need only web types, no types of Node", () => {
    writeFileSync(
      path.join(folder, "worker.ts"),
      `import { fetchHandler, serviceIdOf } from "hostform/webhooks/fetch";
const hooks = fetchHandler({ secrets: "secret", onEvent: (event): string | undefined => serviceIdOf(event) });
export default { fetch: (request: Request): Promise<Response> => hooks(request) };
// @ts-expect-error nothing of Node is known here
void process;
// @ts-expect-error a secret is required
void fetchHandler({ onEvent: () => {} });
`,
    );
    const options = ["--lib", "es2022,dom", "--types", "null"];
    expect(compile(folder, "worker.ts", "bundler", { options })).toBe("");
  });

  it("has types that a consumer compiles against with every strict flag", () => {
    writeFileSync(
      path.join(folder, "consumer.ts"),
      `import { type AccountStore, type Adopted, type Applied, type ApplyEvent, type DeclarationValue, type LoadedProject, loadProject, memoryStores, type OpenStore, type OwnState, type Planned } from "hostform";
import { ApiError, HostingClient, type ServiceRecord } from "hostform/client";
import { type Sandbox, startSandbox } from "hostform/sandbox";
import { createServer } from "node:http";
import { nodeHandler, verifySignature, type WebhookEvent } from "hostform/webhooks";
createServer(nodeHandler({ secrets: ["old", "new"], onEvent: async (event: WebhookEvent) => event.known }));
// @ts-expect-error the exact bytes, not what a parser made of them
verifySignature({ event: "invoice.paid" }, "", "secret");
export async function started(): Promise<string> {
  await using sandbox: Sandbox = await startSandbox({ seed: "a", profile: { status: "words" }, clock: "2026-11-21T10:00:00Z" });
  return sandbox.control.advanceClock({ months: 1 }).now;
}
export async function applied(): Promise<Applied> {
  const project: LoadedProject = await loadProject({ directory: "." });
  const plan: Planned = await project.plan({ targets: ["hosting_service.www"], refresh: "changed", signal: AbortSignal.timeout(1) });
  if (!plan.applicable || !plan.json.applyable) throw new Error(plan.text());
  return project.apply(plan, { maxOrders: 3, onEvent: ({ type }) => console.log(type) });
}
export const adopted = async (): Promise<Adopted> =>
  (await loadProject({ directory: "." })).adopt({ approve: ({ requests }) => requests < 400, select: ["*.example"] });
const declaration = { project: "acme", services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } } } satisfies DeclarationValue;
export const inMemory = (state: OwnState): Promise<LoadedProject> =>
  loadProject({ declaration, state, store: memoryStores() satisfies OpenStore });
// @ts-expect-error no such attribute
void loadProject({ declaration: { project: "acme", services: { www: { plan: 11 } } } });
// @ts-expect-error no such currency
void loadProject({ declaration: { project: "acme", services: { www: { currency: "CHF" } } } });
export const step = (event: ApplyEvent): number => (event.type === "waiting" ? event.addresses.length : event.type === "busy" ? event.status : 0);
// @ts-expect-error nothing is written without a decision
void loadProject().then((project) => project.adopt({}));
// @ts-expect-error nothing is ordered without a plan
void loadProject().then((project) => project.apply());
// @ts-expect-error a plan comes from a project
void loadProject().then(async (project) => project.apply({ ...(await project.plan()) }));
// @ts-expect-error no such switch
void startSandbox({ profile: { colour: "red" } });
const client = new HostingClient({ baseUrl: "https://api.example", token: "t" });
export async function domains(): Promise<(string | null)[]> {
  try {
    const services: ServiceRecord[] = await client.services.list().all();
    return services.map(({ domain }) => domain);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}
// @ts-expect-error an Idempotency-Key is required
void client.services.create({ plan_id: 1 });
`,
    );
    // This project has neither cdktf nor cdktn.
    expect(compile(folder, "consumer.ts", "nodenext", { options: STRICTER })).toBe("");
  });

  it("names the missing peer of the constructs", () => {
    for (const library of ["cdktf", "cdktn"] as const) {
      for (const name of [`hostform/${library}`, `hostform/${library}/lib/service`]) {
        for (const said of missingPeer(folder, name)) {
          expect(said, name).toContain(
            `Error: hostform/${library} needs the packages ${library} and constructs: npm install ${library} constructs.`,
          );
        }
      }
    }
  });

  /** `npm run test:long constructs` runs the other compilers, `moduleResolution: node10`, and Node 22. */
  describe.each(LIBRARIES)("in a project of %s", (library) => {
    let own = "";
    beforeAll(() => {
      own = path.join(folder, library);
      mkdirSync(own);
      project(own, tarball, [library, "constructs"]);
      writeFileSync(path.join(own, "program.ts"), consumerProgram(library));
    });

    it("compiles with every strict flag", () => {
      const options = STRICTER;
      expect(compile(own, "program.ts", library === "cdktf" ? "bundler" : "node16", { options })).toBe("");
    });

    it("runs, and synthesizes the expected stacks", () => {
      expect(synthesized(own, process.execPath)).toEqual(expectedOf(library));
    });

    it("uses every class of the constructs", () => {
      expect(unusedClasses(own, library)).toEqual([]);
    });
  });
});
