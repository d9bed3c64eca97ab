// `npm run test:install [WAY …]`: installs a release in each way into an empty home, and goes through one journey there: plan, apply, no changes,
// suspend, a lost answer, destroy. The host answers only behind a proxy, at an https address that no DNS knows, with a certificate that no
// machine trusts. Needs Linux, npm, man, Terraform and the right to create namespaces.
import { type ExecFileOptions, execFile, execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { chmod, chown, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request as ask, createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { VERSION } from "../src/core/api/version.ts";
import { selfSigned } from "../src/fronts/terraform/wire/certificate.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/index.ts";
import { archiveName, installScript } from "./release/channels.ts";
import { PLATFORMS } from "./release/pinned.ts";

type Env = Readonly<Record<string, string>>;

/** Runs a program in the folder of the declaration. @returns its exit code. @throws Error unless it is one of `codes`. */
type Command = (args: readonly string[], env: Env, codes?: readonly number[]) => Promise<number>;

/** A way to run hostform on a declaration. The journey puts the certificate of the host into the folder. */
interface Front {
  readonly folder: string;
  declare(sites: Readonly<Record<string, object>>): Promise<void>;
  /** @returns true when the plan changes something */
  plan(env: Env): Promise<boolean>;
  apply(env: Env): Promise<unknown>;
  destroy(env: Env): Promise<unknown>;
}

const root = path.resolve(import.meta.dirname, "..");
const release = path.join(root, "release/trial");
const platform = `linux_${process.arch === "x64" ? "amd64" : process.arch}`;
const archive = path.join(release, archiveName(VERSION, platform));
const HOST = "api.hosting.example";
const CERTIFICATE = "authority.pem";
const SITE = { plan_id: 11, currency: "USD", term: 12, deletion_policy: "forget" };
const WEBHOOK = { url: "https://hooks.acme.example/hosting", events: ["invoice.paid"] };

const npmConfig = (key: string) => execFileSync("npm", ["config", "get", key], { encoding: "utf8" }).trim();
const ownEnv = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|HOSTFORM_|HOSTING_)/i.test(name));
const environment = {
  ...Object.fromEntries(ownEnv),
  npm_config_registry: npmConfig("registry"),
  npm_config_userconfig: npmConfig("userconfig"),
};

/** Runs a program in an empty home. @returns its output. @throws Error with the output, and the exit code in `code`. */
async function run(home: string, command: string, args: readonly string[], options: ExecFileOptions = {}) {
  const own = { HOME: home, TMPDIR: home, npm_config_cache: path.join(home, ".npm") };
  const env = { ...environment, ...own, ...options.env };
  try {
    const ended = await promisify(execFile)(command, [...args], { cwd: home, ...options, env, encoding: "utf8" });
    return ended.stdout + ended.stderr;
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout?: string; stderr?: string; code?: number };
    throw Object.assign(new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`), { code });
  }
}

const commandOf =
  (start: (args: readonly string[], env: Env) => Promise<unknown>): Command =>
  async (args, env, codes = [0]) => {
    const code = await start(args, env).then(
      () => 0,
      (error: Error & { readonly code?: number }) => {
        if (error.code === undefined || !codes.includes(error.code)) throw error;
        return error.code;
      },
    );
    if (!codes.includes(code)) throw new Error(`${args[0]} ended with ${code}`);
    return code;
  };

/** The command line with YAML. */
function yamlFront(folder: string, hostform: Command): Front {
  const flags = ["--auto-approve", "--allow-removals"];
  return {
    folder,
    declare: async (sites) => {
      const services = Object.fromEntries(Object.entries(sites).map(([name, site]) => [name, { ...SITE, ...site }]));
      // JSON is YAML.
      const text = JSON.stringify({ project: "trial", services, webhooks: { paid: WEBHOOK } }, null, 2);
      await writeFile(path.join(folder, "hosting.yaml"), text);
    },
    plan: async (env) => (await hostform(["plan", "--detailed-exitcode"], env, [0, 2])) === 2,
    apply: (env) => hostform(["apply", ...flags], env),
    destroy: (env) => hostform(["destroy", ...flags], env),
  };
}

/** The real Terraform, which finds the provider below the home. */
async function terraformFront(home: string): Promise<Front> {
  const folder = path.join(home, "terraform");
  await mkdir(folder);
  const more = { HOSTFORM_PROJECT: "trial", CHECKPOINT_DISABLE: "1" };
  const terraform = commandOf((args, env) => run(home, "terraform", args, { cwd: folder, env: { ...env, ...more } }));
  const flags = ["-input=false", "-no-color"];
  const block = (type: string, name: string, attributes: object) => {
    const lines = Object.entries(attributes).map(([key, value]) => `  ${key} = ${JSON.stringify(value)}\n`);
    return `resource "${type}" "${name}" {\n${lines.join("")}}\n`;
  };
  return {
    folder,
    declare: async (sites) => {
      const source = `{ source = "hostform/hosting", version = "${VERSION}" }`;
      const settings = `terraform {\n  required_providers {\n    hosting = ${source}\n  }\n}\n`;
      const services = Object.entries(sites).map(([name, site]) =>
        block("hosting_service", name, { ...SITE, ...site }),
      );
      const text = [settings, ...services, block("hosting_webhook", "paid", WEBHOOK)].join("");
      await writeFile(path.join(folder, "main.tf"), text);
    },
    plan: async (env) => {
      await terraform(["init", ...flags], env);
      return (await terraform(["plan", ...flags, "-detailed-exitcode"], env, [0, 2])) === 2;
    },
    apply: (env) => terraform(["apply", ...flags, "-auto-approve"], env),
    destroy: (env) => terraform(["destroy", ...flags, "-auto-approve"], env),
  };
}

const port = (server: Server) => (server.address() as AddressInfo).port;

/** Opens the host's https address in front of a sandbox, and the proxy that leads there. */
async function openNetwork(sandbox: Sandbox) {
  const { certificate, key } = selfSigned(Date.now(), HOST);
  const https = createHttpsServer({ cert: certificate, key }, (request, response) => {
    // The sandbox answers to its own name only.
    const headers = { ...request.headers, host: new URL(sandbox.url).host };
    const forwarded = ask(`${sandbox.url}${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  const tunnels: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(403).end());
  proxy.on("connect", (request, client) => {
    tunnels.push(request.url ?? "");
    const host = connect(port(https), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      host.pipe(client).pipe(host);
    });
    for (const socket of [client, host]) socket.on("error", () => undefined);
  });
  for (const server of [https, proxy]) await once(server.listen(0, "127.0.0.1"), "listening");
  const way = `http://127.0.0.1:${port(proxy)}`;
  const env: Env = {
    ...{ HOSTING_BASE_URL: `https://${HOST}`, HOSTING_TOKEN: sandbox.tokens.agency },
    // Settings in small letters win over settings in capitals.
    ...{ HTTPS_PROXY: way, https_proxy: way, NO_PROXY: "", no_proxy: "", NODE_EXTRA_CA_CERTS: CERTIFICATE },
  };
  return { certificate, env, tunnels, close: () => [https, proxy].map((server) => server.close()) };
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the journey failed: ${what}`);
}

async function journey(front: Front): Promise<void> {
  // Own tokens keep the orders of earlier journeys on this machine apart.
  const settings = { seed: randomUUID(), rateLimit: 0, autoPay: true, provisioningSeconds: 0, jobSeconds: 0 };
  const sandbox = await startSandbox(settings);
  const { certificate, env, tunnels, close } = await openNetwork(sandbox);
  const { control } = sandbox;
  const ordered = (domain: string) => control.list("services").filter((one) => one.domain === domain);
  const [first, second] = ["first.acme.example", "second.acme.example"];
  const one = (suspended: boolean) => ({ one: { domain: first, suspended } });
  try {
    await writeFile(path.join(front.folder, CERTIFICATE), certificate);
    await front.declare(one(false));
    check(await front.plan(env), "the first plan has no changes");
    check(ordered(first).length === 0, "a plan ordered a site");
    await front.apply(env);
    check(ordered(first).length === 1, `an apply ordered ${ordered(first).length} sites, not 1`);
    check(!(await front.plan(env)), "there are changes after an apply");

    await front.declare(one(true));
    await front.apply(env);
    check(ordered(first)[0]?.status === "suspended", `a suspended site is ${ordered(first)[0]?.status}`);

    control.addFault({ method: "POST", path: "/services", phase: "after", drop: true });
    await front.declare({ ...one(true), two: { domain: second, suspended: false } });
    await front.apply(env);
    const lost = control.faults().every(({ fired }) => fired === 1);
    check(lost, "no answer was lost");
    check(ordered(second).length === 1, `a lost answer led to ${ordered(second).length} sites, not 1`);
    check(!(await front.plan(env)), "there are changes after a lost answer");

    await front.destroy(env);
    check(control.list("webhooks").length === 0, "a webhook is left after destroy");
    check(tunnels.length > 0 && tunnels.every((to) => to === `${HOST}:443`), `the proxy was asked for ${tunnels}`);
  } finally {
    close();
    await sandbox.close();
  }
}

type Way = (home: string) => Promise<readonly Front[]>;

const tarball = path.join(release, `hostform-${VERSION}.tgz`);

async function yamlOf(
  home: string,
  start: (args: readonly string[], options: ExecFileOptions) => Promise<unknown>,
): Promise<Front> {
  const cwd = path.join(home, "yaml");
  await mkdir(cwd);
  return yamlFront(
    cwd,
    commandOf((args, env) => start(args, { cwd, env })),
  );
}

async function checkPages(home: string, folder: string): Promise<void> {
  const page = await run(home, "man", ["--where", "hostform-plan"], { env: { MANPATH: folder } });
  check(page.startsWith(home), `man finds ${page} for hostform-plan`);
}

/**
 * Installs the package as a global command with one version of npm.
 * @param pages folder of the manual pages below the prefix
 */
const globally =
  (npm: string, pages: string): Way =>
  async (home) => {
    const prefix = path.join(home, "global");
    const flags = ["--global", "--no-audit", "--no-fund", "--prefix", prefix];
    const printed = await run(home, "npx", ["--yes", npm, "install", ...flags, tarball]);
    check(!/scripts?\b/i.test(printed), `${npm} reports scripts: ${printed}`);
    await checkPages(home, path.join(prefix, pages));
    const hostform = path.join(prefix, "bin/hostform");
    await run(home, hostform, ["terraform", "install"]);
    return [await yamlOf(home, (args, options) => run(home, hostform, args, options)), await terraformFront(home)];
  };

/** Installs below an empty home. @returns the fronts of the installed files. */
const WAYS: Readonly<Record<string, Way>> = {
  npm11: globally("npm@11", "share/man"),
  // npm 12 links no manual page.
  npm12: globally("npm@12", "lib/node_modules/hostform/dist/man"),

  async npx(home) {
    const npx = ["--yes", "-p", tarball];
    await run(home, "npx", [...npx, "hostform", "version"]);
    // npm would look for versions of optional packages through the proxy, which leads to the host alone.
    return [
      await yamlOf(home, (args, options) => run(home, "npx", ["--offline", ...npx, "hostform", ...args], options)),
    ];
  },

  /** In a program, which plans with the library. */
  async program(home) {
    await run(home, "npm", ["init", "--yes"]);
    await run(home, "npm", ["install", "--no-audit", "--no-fund", tarball]);
    const bin = path.join(home, "node_modules/.bin/hostform");
    const front = await yamlOf(home, (args, options) => run(home, bin, args, options));
    const source = `import { loadProject } from "hostform";
      const project = await loadProject({ directory: "." });
      process.exitCode = (await project.plan()).hasChanges ? 2 : 0;`;
    const args = ["--input-type=module", "-e", source];
    const library = commandOf((_, env) => run(home, process.execPath, args, { cwd: front.folder, env }));
    return [{ ...front, plan: async (env) => (await library([], env, [0, 2])) === 2 }];
  },

  /** By `install.sh`, without Node, in a root that is read-only but for a volume and /tmp, as nobody: the Dockerfile's. */
  async executable(home) {
    const digest = createHash("sha256")
      .update(await readFile(archive))
      .digest("hex");
    const digests = new Map(PLATFORMS.map((name) => [archiveName(VERSION, name), digest]));
    const about = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
    await writeFile(path.join(home, "install.sh"), installScript({ ...about, version: VERSION, base: "", digests }));
    const server = createServer((_, response) => createReadStream(archive).pipe(response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    await run(home, "sh", ["install.sh"], { env: { HOSTFORM_DOWNLOADS: `http://127.0.0.1:${port(server)}` } });
    server.close();
    const executable = path.join(home, ".local/bin/hostform");
    await checkPages(home, path.join(home, ".local/share/man"));
    // NODE_OPTIONS is for other programs.
    await run(home, executable, ["version"], { env: { NODE_OPTIONS: "--no-such-option" } });
    const bare = await bareRoot(home, executable);
    const work = path.join(home, "work");
    await mkdir(work);
    await chown(work, NOBODY, NOBODY);
    return [
      yamlFront(
        work,
        commandOf((args, env) => inRoot(home, bare, work, args, env)),
      ),
    ];
  },

  async provider(home) {
    const plugins = path.join(home, ".terraform.d/plugins/registry.terraform.io/hostform/hosting");
    await mkdir(plugins, { recursive: true });
    const name = `terraform-provider-hosting_${VERSION}_${platform}.zip`;
    await copyFile(path.join(release, name), path.join(plugins, name));
    return [await terraformFront(home)];
  },
};

const NOBODY = 65532;

/** Makes a root with the executable, the libraries that it names, and nothing else. */
async function bareRoot(home: string, executable: string): Promise<string> {
  const folder = path.join(home, "root");
  const libraries = (await run(home, "ldd", [executable])).matchAll(/(?:=> )?(\/\S+) \(0x/g);
  for (const [from, to] of [[executable, "/hostform"], ...[...libraries].map(([, file = ""]) => [file, file])]) {
    const target = path.join(folder, to ?? "");
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(from ?? "", target);
    await chmod(target, 0o755);
  }
  for (const name of ["proc", "tmp", "work"]) await mkdir(path.join(folder, name));
  return folder;
}

/** Runs the executable of a bare root. */
function inRoot(home: string, folder: string, work: string, args: readonly string[], given: Env): Promise<string> {
  const script = `set -eu
    mount --bind "$FOLDER" "$FOLDER"
    mount -t proc proc "$FOLDER/proc"
    mount -t tmpfs tmpfs "$FOLDER/tmp"
    mount --bind "$WORK" "$FOLDER/work"
    mount -o remount,ro,bind "$FOLDER"
    if touch "$FOLDER/written" 2>/dev/null; then echo "the root is not read-only"; exit 1; fi
    exec env -i HOME=/tmp $GIVEN unshare --root "$FOLDER" --wd /work --setgid ${NOBODY} --setuid ${NOBODY} -- /hostform "$@"`;
  const variables = Object.entries(given).map(([name, value]) => `${name}=${value}`);
  const env = { FOLDER: folder, WORK: work, GIVEN: variables.join(" ") };
  return run(home, "unshare", ["--mount", "--pid", "--fork", "sh", "-c", script, "sh", ...args], { env });
}

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(WAYS, name));
if (process.platform !== "linux" || unknown !== undefined) {
  console.error(`Usage: npm run test:install [WAY …], on Linux, with ${Object.keys(WAYS).join(", ")}`);
  process.exit(1);
}
console.log(`Making the release of ${platform} in ${release}…`);
const making = [path.join(root, "scripts/release.ts"), "--dry-run", "--platform", platform, release];
execFileSync(process.execPath, making, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
for (const name of names.length > 0 ? names : Object.keys(WAYS)) {
  const home = await mkdtemp(path.join(tmpdir(), "hostform-install-"));
  try {
    const started = performance.now();
    const fronts = (await WAYS[name]?.(home)) ?? [];
    console.log(`installed ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    for (const front of fronts) await journey(front);
    console.log(`ok        ${name}`);
  } catch (error) {
    console.log(`FAILED    ${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
