// `npm run test:install [WAY …]`: every way to install a release, each from an empty home to a plan against the sandbox; then most of them
// go through the journey of scripts/install-journey.ts. All of them together write the table of docs/install.md. Needs Linux, npm,
// Terraform and, for the roots without Node, the right to make namespaces.
import { type ExecFileOptions, execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import {
  chmod,
  chown,
  copyFile,
  cp,
  glob,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { VERSION } from "../src/core/api/version.ts";
import { PUSHES, SIGNED_PUSH } from "../test/package/consumer.ts";
import {
  type Command,
  type Env,
  type Front,
  firstPlan,
  journey,
  terraformFront,
  yamlFront,
} from "./install-journey.ts";
import { archiveName, dockerfile, installScript } from "./release/channels.ts";
import { PLATFORMS } from "./release/pinned.ts";

const root = path.resolve(import.meta.dirname, "..");
const release = path.join(root, "release/trial");
const platform = `linux_${process.arch === "x64" ? "amd64" : process.arch}`;
const npmPackage = path.join(release, `hostform-${VERSION}.tgz`);
const archive = path.join(release, archiveName(VERSION, platform));
const provider = path.join(release, `terraform-provider-hosting_${VERSION}_${platform}.zip`);
const about = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));

/** Why a way cannot be tried on this machine. */
class Skipped extends Error {}

/** What the plan of `examples/quickstart` says. */
const EXPECTED = "Plan: 4 to add, 0 to change, 0 to destroy.";

const npmConfig = (key: string) =>
  execFileSync("npm", ["config", "get", key], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** The environment without the home, what `npm run` says of this checkout, and hostform's own; npm's registry is the one that is configured. */
const OF_THIS_PROCESS = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|HOSTFORM_|HOSTING_)/i.test(name)),
  ),
  npm_config_registry: npmConfig("registry"),
  npm_config_userconfig: npmConfig("userconfig"),
};

/** Runs a program to its end, in an empty home. @returns what it prints. @throws Error with the output, and the exit code in `code`. */
async function run(home: string, command: string, args: readonly string[], options: ExecFileOptions = {}) {
  const env = {
    ...OF_THIS_PROCESS,
    HOME: home,
    TMPDIR: home,
    npm_config_cache: path.join(home, ".npm"),
    ...options.env,
  };
  try {
    const { stdout, stderr } = await promisify(execFile)(command, [...args], {
      cwd: home,
      ...options,
      env,
      encoding: "utf8",
    });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr, code } = error as {
      readonly stdout?: string;
      readonly stderr?: string;
      readonly code?: number;
    };
    throw Object.assign(new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`), { code });
  }
}

/** A command for the journey: `start` runs a program. */
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

async function emptyFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  return folder;
}

/** The journey of an installed command line. */
const yamlJourney = (home: string, hostform: string) => async () => {
  const cwd = await emptyFolder(path.join(home, "journey"));
  // Each way to install loads a function of a policy.
  const judge = `export default (effects: object[]) => (Array.isArray(effects) ? [] : [{ deny: true, sentence: "No" }]);\n`;
  await writeFile(path.join(cwd, "policy.ts"), judge);
  return yamlFront(
    cwd,
    commandOf((args, env) => run(home, hostform, args, { cwd, env: { ...env, HOSTFORM_POLICY: "policy.ts" } })),
  );
};

/** The journey of the real Terraform, whose provider `install` puts below the home. */
const terraformJourney = (home: string, install: () => Promise<unknown>) => async () => {
  await install();
  const cwd = await emptyFolder(path.join(home, "terraform"));
  const terraform = commandOf((args, env) =>
    run(home, "terraform", args, { cwd, env: { ...env, CHECKPOINT_DISABLE: "1" } }),
  );
  return terraformFront(cwd, VERSION, terraform);
};

function expect(output: string, text: string): void {
  if (!output.includes(text)) throw new Error(`"${text}" is not in what was printed:\n${output}`);
}

interface Way {
  readonly title: string;
  readonly needs: string;
  readonly download: string;
  /** Installs below an empty home, and ends with a plan. */
  readonly install: (home: string) => Promise<Installed>;
}

interface Installed {
  /** The folders that are there because of it. */
  readonly folders: readonly string[];
  /** The ways to run the journey on what is installed. */
  readonly fronts?: readonly (() => Promise<Front>)[];
}

const NODE = "Node.js 22.20 or later";

const WAYS: Readonly<Record<string, Way>> = {
  npm: {
    title: "`npm install -g` of the packed file",
    needs: NODE,
    download: npmPackage,
    async install(home) {
      const prefix = path.join(home, "global");
      await run(home, "npm", ["install", "--global", "--no-audit", "--no-fund", "--prefix", prefix, npmPackage]);
      const hostform = path.join(prefix, "bin/hostform");
      expect(await run(await declared(home), hostform, ["sandbox", "--", hostform, "plan"]), EXPECTED);
      const install = () => run(home, hostform, ["terraform", "install"]);
      return { folders: [prefix], fronts: [yamlJourney(home, hostform), terraformJourney(home, install)] };
    },
  },
  npx: {
    title: "`npx` of the packed file",
    needs: NODE,
    download: npmPackage,
    async install(home) {
      const folder = await declared(home);
      const args = ["--yes", "--package", npmPackage, "hostform", "sandbox", "--", "hostform", "plan"];
      expect(await run(home, "npx", args, { cwd: folder }), EXPECTED);
      return { folders: [path.join(home, ".npm")] };
    },
  },
  executable: {
    title: "the single executable, by `install.sh`, without Node.js",
    needs: "glibc 2.28 and libstdc++ on Linux",
    download: archive,
    async install(home) {
      const digest = createHash("sha256")
        .update(await readFile(archive))
        .digest("hex");
      // Of the other platforms nothing is fetched here.
      const digests = new Map(
        PLATFORMS.map((name) => [archiveName(VERSION, name), name === platform ? digest : "0".repeat(64)]),
      );
      await writeFile(path.join(home, "install.sh"), installScript({ ...about, version: VERSION, base: "", digests }));
      const server = createServer((_request, response) => createReadStream(archive).pipe(response)).listen(
        0,
        "127.0.0.1",
      );
      await once(server, "listening");
      const env = { HOSTFORM_DOWNLOADS: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      expect(await run(home, "sh", ["install.sh"], { env }), `Installed hostform ${VERSION}`);
      server.close();
      const executable = path.join(home, ".local/bin/hostform");
      const options = { env: { NODE_OPTIONS: "--no-such-option" } };
      expect(await run(home, executable, ["version"], options), `hostform ${VERSION}`);
      const empty = await bareRoot(home, executable, "/bin/hostform");
      await declared(path.join(empty, "root"));
      const inside = { cwd: "/root", home: "/root" };
      const planned = ["/bin/hostform", "sandbox", "--", "/bin/hostform", "plan"];
      expect(await inRoot(home, empty, inside, planned), EXPECTED);
      const front = async () => {
        const hostform = commandOf((args, env) => inRoot(home, empty, inside, ["/bin/hostform", ...args], env));
        return yamlFront(path.join(empty, "root"), hostform);
      };
      return { folders: [path.dirname(executable)], fronts: [front] };
    },
  },
  container: {
    title: "the root of the `Dockerfile`: read-only, not root, without Node.js",
    needs: "a container engine",
    download: archive,
    async install(home) {
      // What the Dockerfile says, line by line: a line that is not carried out here fails the trial.
      const said = dockerfile({ ...about, version: VERSION, base: "", digests: new Map() });
      const line = (pattern: RegExp) => {
        const found = pattern.exec(said);
        if (found === null) throw new Error(`The Dockerfile has no line ${pattern}; mend scripts/test-install.ts`);
        return found[1] ?? "";
      };
      const known =
        /^(?:#.*|FROM|ARG|LABEL|ADD|RUN mkdir \/work && chown 65532:65532 \/work|ENV|WORKDIR|VOLUME|USER|ENTRYPOINT)/;
      const other = said.split("\n").find((one) => one !== "" && !known.test(one));
      if (other !== undefined) throw new Error(`This line of the Dockerfile is not tried: ${other}`);
      const [user, cwd, volume] = [Number(line(/^USER (\d+):\1$/m)), line(/^WORKDIR (.*)$/m), line(/^VOLUME (.*)$/m)];
      const target = line(/^ADD hostform_\S+ (.*)\/$/m);
      const entry = line(/^ENTRYPOINT \["(.*)"\]$/m);
      const unpacked = path.join(home, "unpacked");
      await mkdir(unpacked);
      await run(home, "tar", ["-xzf", archive, "-C", unpacked]);
      const image = await bareRoot(home, path.join(unpacked, "hostform"), path.join(target, "hostform"));
      const work = await declared(path.join(home, "volume"));
      for (const name of ["", ...(await readdir(work))])
        await chown(path.join(work, name), user, user).catch(unprivileged);
      const inside = { cwd, home: line(/^ENV HOME=(.*)$/m), user, volume: [work, volume] as const };
      expect(await inRoot(home, image, inside, [entry, "sandbox", "--", entry, "plan"]), EXPECTED);
      const front = async () => {
        const hostform = commandOf((args, env) => inRoot(home, image, inside, [entry, ...args], env));
        return yamlFront(work, hostform);
      };
      return { folders: [unpacked], fronts: [front] };
    },
  },
  provider: {
    title: "`terraform init` with the provider's archive, without Node.js",
    needs: "Terraform",
    download: provider,
    async install(home) {
      const plugins = path.join(home, ".terraform.d/plugins/registry.terraform.io/hostform/hosting");
      await mkdir(plugins, { recursive: true });
      await copyFile(provider, path.join(plugins, path.basename(provider)));
      const front = terraformJourney(home, async () => undefined);
      await firstPlan(await front());
      return { folders: [path.join(home, "terraform/.terraform")], fronts: [front] };
    },
  },
  library: {
    title: "`npm install` in a program, which plans at each push",
    needs: NODE,
    download: npmPackage,
    async install(home) {
      const program = path.join(home, "program");
      await declared(path.join(program, "pushed"));
      await writeFile(path.join(program, "package.json"), '{"type": "module"}');
      await copyFile(path.join(root, "examples/plan-on-push/server.mjs"), path.join(program, "server.mjs"));
      const inProgram = { cwd: program };
      await run(home, "npm", ["install", "--no-audit", "--no-fund", npmPackage], inProgram);
      const args = ["sandbox", "--", process.execPath, "--input-type=module", "-e", PUSHES];
      expect(await run(home, "node_modules/.bin/hostform", args, inProgram), SIGNED_PUSH);
      expect(await readFile(path.join(program, "plan.html"), "utf8"), "www.acme.example");
      return { folders: [program] };
    },
  },
};

/** A folder with the declaration of the quick start. */
async function declared(folder: string): Promise<string> {
  await cp(path.join(root, "examples/quickstart"), folder, { recursive: true });
  return folder;
}

/** A folder that is a root: an executable at `place`, the libraries that it names, and nothing else. */
async function bareRoot(home: string, executable: string, place: string): Promise<string> {
  const folder = path.join(home, "empty-root");
  const libraries = (await run(home, "ldd", [executable])).matchAll(/(?:=> )?(\/\S+) \(0x/g);
  for (const [from, to] of [
    [executable, place],
    ...[...libraries].map(([, file = ""]) => [file, file]),
  ] as string[][]) {
    await mkdir(path.join(folder, path.dirname(to as string)), { recursive: true });
    await copyFile(from as string, path.join(folder, to as string));
    await chmod(path.join(folder, to as string), 0o755);
  }
  for (const name of ["proc", "tmp", "work"]) await mkdir(path.join(folder, name));
  return folder;
}

interface Inside {
  readonly cwd: string;
  readonly home: string;
  /** Without: the one who runs this. */
  readonly user?: number;
  /** A folder, and where it is the volume of a root that is read-only but for it and /tmp. */
  readonly volume?: readonly [folder: string, place: string];
}

/** Runs a program where `folder` is the root. @throws Skipped where nobody may make namespaces. */
async function inRoot(
  home: string,
  folder: string,
  { cwd, home: own, user, volume }: Inside,
  program: readonly string[],
  given: Env = {},
) {
  const isRoot = process.getuid?.() === 0;
  if (user !== undefined && !isRoot) unprivileged();
  const namespaces = ["--mount", "--pid", "--fork", ...(isRoot ? [] : ["--map-root-user"])];
  await run(home, "unshare", [...namespaces, "true"]).catch(unprivileged);
  const lines = [
    "set -eu",
    'mount --bind "$FOLDER" "$FOLDER"',
    'mount -t proc proc "$FOLDER/proc"',
    'mount -t tmpfs tmpfs "$FOLDER/tmp"',
    ...(volume === undefined
      ? []
      : [
          'mount --bind "$VOLUME" "$FOLDER$PLACE"',
          'mount -o remount,ro,bind "$FOLDER"',
          'if touch "$FOLDER/written" 2>/dev/null; then echo "the root is not read-only"; exit 1; fi',
        ]),
    'exec env -i "HOME=$OWN" $GIVEN unshare --root "$FOLDER" --wd "$WD" $WHO -- "$@"',
  ];
  const [source = "", place = ""] = volume ?? [];
  const env = {
    ...{ FOLDER: folder, VOLUME: source, PLACE: place, OWN: own, WD: cwd },
    WHO: user === undefined ? "" : `--setgid ${user} --setuid ${user}`,
    GIVEN: Object.entries(given)
      .map(([name, value]) => `${name}=${value}`)
      .join(" "),
  };
  return run(home, "unshare", [...namespaces, "sh", "-c", lines.join("\n"), "sh", ...program], { env });
}

function unprivileged(): never {
  throw new Skipped("it needs a root of its own, which this user may not make (unshare, chroot). Run it as root.");
}

interface Figures {
  readonly disk: number;
  readonly packages: number;
  readonly seconds: number;
}

async function tried(way: Way): Promise<Figures> {
  const home = await mkdtemp(path.join(tmpdir(), "hostform-install-"));
  try {
    const started = performance.now();
    const { folders, fronts = [] } = await way.install(home);
    const seconds = (performance.now() - started) / 1000;
    const du = execFileSync("du", ["-skc", ...folders], { encoding: "utf8" });
    let packages = 0;
    for (const folder of folders)
      for await (const _ of glob("**/node_modules/{*,@*/*}/package.json", { cwd: folder })) packages++;
    for (const front of fronts) await journey(await front());
    return { disk: Number(/(\d+)\s+total/.exec(du)?.[1]) * 1024, packages, seconds };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/** One way was there before: a checkout with all that a contributor needs. */
const HEAD = `| way | needs | download | on disk | packages | time to a first plan |
| --- | --- | --- | --- | --- | --- |
| before: a clone, built and linked | Node.js 22.20 or later, git | | 797 MB | 400 | |`;

if (process.platform !== "linux") {
  console.error(`npm run test:install needs Linux, not ${process.platform}`);
  process.exit(1);
}
const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(WAYS, name));
if (unknown !== undefined) {
  console.error(
    `There is no way "${unknown}". Usage: npm run test:install [WAY …], with ${Object.keys(WAYS).join(", ")}`,
  );
  process.exit(1);
}
console.log(`Making the release of ${platform} in ${release}…`);
const making = [path.join(root, "scripts/release.ts"), "--dry-run", "--platform", platform, release];
execFileSync(process.execPath, making, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });

const rows = [HEAD];
for (const [name, way] of Object.entries(WAYS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  try {
    const { disk, packages, seconds } = await tried(way);
    const cells = [
      way.title,
      way.needs,
      megabytes((await stat(way.download)).size),
      megabytes(disk),
      packages,
      `${Math.ceil(seconds)} s`,
    ];
    rows.push(`| ${cells.join(" | ")} |`);
    console.log(`ok       ${name}: ${megabytes(disk)}, ${packages} packages, ${seconds.toFixed(1)} s to a plan`);
  } catch (error) {
    const skipped = error instanceof Skipped;
    console.log(
      `${skipped ? "SKIPPED " : "FAILED  "} ${name}: ${error instanceof Error ? error.message : String(error)}`,
    );
    if (!skipped) process.exitCode = 1;
  }
}
console.log(`\n${rows.join("\n")}`);
if (rows.length === Object.keys(WAYS).length + 1) {
  const page = path.join(root, "docs/install.md");
  const text = await readFile(page, "utf8");
  const between = /(<!-- made by npm run test:install -->\n)[\s\S]*?(\n<!-- made -->)/;
  if (!between.test(text)) throw new Error("docs/install.md has no place for the table");
  await writeFile(
    page,
    text.replace(between, (_, open, close) => open + rows.join("\n") + close),
  );
  console.log(`\nWritten into ${path.relative(root, page)}.`);
} else if (process.exitCode !== 1) console.log("\nNot written: not every way was tried.");
