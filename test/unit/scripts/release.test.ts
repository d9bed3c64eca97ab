import { execFile, execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { digests, tarball, zip } from "../../../scripts/release/archives.ts";
import { archiveName, dockerfile, formula, installScript } from "../../../scripts/release/channels.ts";
import { PLATFORMS } from "../../../scripts/release/pinned.ts";
import { shares } from "../../../scripts/release/shares.ts";
import { asked, installers, missingFields, publication } from "../../../scripts/release.ts";
import { isInside } from "../../../src/core/files/index.ts";
import { startCanary } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { itWith } from "../../support/needing.ts";
import { UNZIP } from "../../support/programs.ts";

const about = JSON.parse(readFileSync(path.resolve(import.meta.dirname, "../../../package.json"), "utf8"));
const bytes = (text: string) => new TextEncoder().encode(text);

/** Replaces the executable. It prints its version. */
const program = tarball([
  { name: "hostform", content: bytes("#!/bin/sh\necho hostform 1.2.3\n"), mode: 0o755 },
  { name: "LICENSE", content: bytes("MIT\n"), mode: 0o644 },
  { name: "share/man/man1/hostform.1", content: bytes(".TH HOSTFORM 1\n"), mode: 0o644 },
]);
const sha256 = createHash("sha256").update(program).digest("hex");
const published = {
  ...about,
  author: "Acme Hosting Ltd. <code@acme.example>",
  version: "1.2.3",
  key: "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
  downloads: "https://downloads.example",
  base: "https://downloads.example/v1.2.3",
  digests: new Map(PLATFORMS.map((platform) => [archiveName("1.2.3", platform), sha256])),
};

describe("the publisher", () => {
  const filled = {
    author: "A",
    homepage: "https://a.example",
    bugs: { url: "https://a.example/issues" },
    repository: { type: "git", url: "git+https://a.example/a.git" },
    hostform: { downloads: "https://a.example/releases", key: "RWQ" },
  };

  it("is named by fields of package.json, and missing fields are listed", () => {
    expect(missingFields(filled)).toEqual([]);
    expect(missingFields({ ...filled, bugs: about.bugs, author: undefined })).toEqual(["author", "bugs"]);
    expect(missingFields({})).toEqual([
      "author",
      "homepage",
      "bugs",
      "repository",
      "hostform.downloads",
      "hostform.key",
    ]);
  });
});

describe("the files of a release", () => {
  const files = [
    { name: "LICENSE", content: bytes("MIT\n"), mode: 0o644 },
    { name: "terraform-provider", content: bytes("#!/bin/sh\n"), mode: 0o755 },
  ];

  it("have the same bytes each time, in any order and time zone", () => {
    const first = zip(files);
    vi.stubEnv("TZ", "Pacific/Kiritimati");
    expect(Buffer.compare(zip(files.toReversed()), first)).toBe(0);
    const sums = digests(
      new Map([
        ["b", bytes("")],
        ["a", bytes("")],
      ]),
    );
    expect(sums).toMatch(/^e3b0\w+ {2}a\ne3b0\w+ {2}b\n$/);
  });

  itWith(UNZIP)("unpack from a zip with their modes", () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, "a.zip"), zip(files));
    execFileSync("unzip", ["-q", "a.zip"], { cwd: folder });
    const modes = files.map(({ name }) => statSync(path.join(folder, name)).mode & 0o777);
    expect(modes).toEqual([0o644, 0o755]);
  });
});

describe("the command", () => {
  it("builds every platform, or selected platforms for a trial", () => {
    expect(asked([])).toMatchObject({ dryRun: false, platforms: PLATFORMS });
    expect(asked(["--dry-run", "--platform", "linux_amd64", "out"])).toEqual({
      folder: path.resolve("out"),
      dryRun: true,
      platforms: ["linux_amd64"],
    });
    expect(asked(["--npm"])).toMatchObject({ dryRun: true, platforms: [] });
    expect(asked(["--key", "k.pem"])).toMatchObject({ dryRun: false, key: "k.pem", platforms: PLATFORMS });
    expect(() => asked(["--halp"])).toThrow("--halp");
    expect(() => asked(["--platform", "linux_amd64"])).toThrow("--dry-run");
    expect(() => asked(["--dry-run", "--platform", "vax"])).toThrow("no platform vax");
    expect(() => asked(["a", "b"])).toThrow("Name one folder");
  });
});

describe.skipIf(process.platform === "win32")("the archive", () => {
  it("unpacks with its modes, and contains no times or owners", () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, "a.tar.gz"), program);
    execFileSync("tar", ["-xzf", "a.tar.gz"], { cwd: folder });
    expect(readdirSync(folder).sort()).toEqual(["LICENSE", "a.tar.gz", "hostform", "share"]);
    expect(statSync(path.join(folder, "hostform")).mode & 0o777).toBe(0o755);
    expect(readFileSync(path.join(folder, "LICENSE"), "utf8")).toBe("MIT\n");
    const listed = execFileSync("tar", ["--utc", "-tvzf", "a.tar.gz"], { cwd: folder, encoding: "utf8" });
    expect(listed).toMatch(/^-rw-r--r-- 0\/0 .* 1970-01-01 00:00 LICENSE$/m);
  });
});

describe.skipIf(process.platform === "win32")("the install script", () => {
  /** Runs the install script in a shell with an empty home. `content` is the downloaded file. */
  function install(content: Uint8Array | undefined, shell = "sh") {
    const home = temporaryFolder();
    const tools = path.join(home, "tools");
    mkdirSync(tools);
    // Replaces curl: the last argument is the URL, and -o names the file.
    const fetched = content === undefined ? "exit 22" : `cp "${path.join(home, "content")}" "$3"`;
    writeFileSync(path.join(tools, "curl"), `#!/bin/sh\necho "$4" >> "${home}/asked"\n${fetched}\n`);
    // Replaces uname with a platform of the release.
    writeFileSync(path.join(tools, "uname"), '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo aarch64\n');
    for (const name of ["curl", "uname"]) chmodSync(path.join(tools, name), 0o755);
    if (content !== undefined) writeFileSync(path.join(home, "content"), content);
    const env = { HOME: home, PATH: `${tools}:/usr/bin:/bin`, TMPDIR: home };
    const ran = spawnSync(shell, ["-s"], { env, input: installScript(published), encoding: "utf8" });
    return { ...ran, home, left: readdirSync(home).filter((name) => !/^(?:tools|asked|content)$/.test(name)) };
  }

  it.each(["sh", "bash"])("installs a download with the right digest into the home folder, in %s", (shell) => {
    const { status, stdout, stderr, home } = install(program, shell);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const bin = path.join(home, ".local/bin");
    expect(stdout).toContain(`Installed hostform 1.2.3 as ${bin}/hostform\n${bin} is not on the PATH`);
    expect(readdirSync(bin)).toEqual(["hostform"]);
    expect(readFileSync(path.join(home, ".local/share/man/man1/hostform.1"), "utf8")).toBe(".TH HOSTFORM 1\n");
    expect(execFileSync(path.join(bin, "hostform"), { encoding: "utf8" })).toBe("hostform 1.2.3\n");
    const name = "hostform_1.2.3_linux_arm64.tar.gz";
    expect(readFileSync(path.join(home, "asked"), "utf8")).toBe(`https://downloads.example/v1.2.3/${name}\n`);
  });

  it("installs nothing with a wrong digest, and removes its files", () => {
    const { status, stderr, left } = install(bytes("another"));
    expect({ status, left }).toEqual({ status: 1, left: [] });
    expect(stderr).toMatch(/not installed: https:.* has the SHA-256 [0-9a-f]{64}, not [0-9a-f]{64}/);
  });

  it("names the file that it cannot download", () => {
    const { status, stderr, left } = install(undefined);
    expect({ status, left }).toEqual({ status: 1, left: [] });
    expect(stderr).toContain("linux_arm64.tar.gz cannot be fetched.");
  });

  it("runs nothing if its own download was incomplete", () => {
    const whole = installScript(published);
    const { status, stdout } = spawnSync("sh", ["-s"], {
      input: whole.slice(0, whole.indexOf("\nmain\n")),
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });
});

/** Replaces a container engine. It passes on only the given variables, and uses the volume as working folder. */
const DOCKER = `#!/bin/sh
set -eu
[ "$1" != build ] || exit 0
shift
passed=
while :; do
  case "$1" in
    --rm | --read-only) shift ;;
    --tmpfs | --user) shift 2 ;;
    -v) volume="\${2%:/work}"; shift 2 ;;
    -e) passed="$passed $2=$(printenv "$2")"; shift 2 ;;
    hostform) shift; break ;;
    *) echo "docker run $1 is not known" >&2; exit 1 ;;
  esac
done
cd "$volume"
exec env -i "HOME=$IMAGE_HOME" $passed $PROGRAM "$@"
`;

describe("the package managers", () => {
  const files = installers(published);

  it("receive the URL and the digest of each archive", () => {
    const brew = formula(published);
    for (const platform of PLATFORMS.filter((name) => name !== "windows_amd64"))
      expect(brew).toContain(
        `url "https://downloads.example/v1.2.3/hostform_1.2.3_${platform}.tar.gz"\n      sha256 "${sha256}"`,
      );
    const opened = brew.match(/^(?:class|.* do$| *def )/gm);
    expect(brew.match(/^ *end$/gm)).toHaveLength(opened?.length ?? 0);
    const scoop = JSON.parse(files.get("hostform.json") ?? "");
    const windows = "https://downloads.example/v1.2.3/hostform_1.2.3_windows_amd64.zip";
    expect(scoop.architecture["64bit"]).toEqual({ url: windows, hash: sha256 });
    expect(scoop.autoupdate.architecture["64bit"].url.replaceAll("$version", "1.2.3")).toBe(windows);
    const aqua = parse(files.get("aqua-registry.yaml") ?? "").packages[0];
    const filled = (template: string, values: Record<string, string>) =>
      template.replace(/\{\{(?:trimV )?\.(\w+)\}\}/g, (_, name: string) => values[name] ?? name);
    expect(filled(aqua.url, { Version: "1.2.3", OS: "windows", Arch: "amd64", Format: "zip" })).toBe(windows);
    expect(filled(aqua.checksum.url, { Version: "1.2.3" })).toBe("https://downloads.example/v1.2.3/SHA256SUMS");
    expect(files.get("mise.toml")).toContain(`windows-x64 = { url = "${windows}", checksum = "sha256:${sha256}" }`);
    for (const platform of ["linux_amd64", "linux_arm64"])
      expect(files.get("hostform.nix")).toContain(
        `url = "https://downloads.example/v1.2.3/hostform_1.2.3_${platform}.tar.gz"; sha256 = "${sha256}";`,
      );
    expect(() => formula({ ...published, digests: new Map() })).toThrow(
      "the release has no hostform_1.2.3_darwin_arm64",
    );
  });

  it("receive the three manifests of winget, with one identifier from the publisher's name", () => {
    const manifests = [...files].filter(([name]) => name.endsWith(".yaml") && !name.startsWith("aqua"));
    expect(manifests.map(([name]) => name)).toEqual([
      "AcmeHostingLtd.Hostform.yaml",
      "AcmeHostingLtd.Hostform.installer.yaml",
      "AcmeHostingLtd.Hostform.locale.en-US.yaml",
    ]);
    const parsed = manifests.map(([, text]) => parse(text));
    for (const manifest of parsed)
      expect(manifest).toMatchObject({ PackageIdentifier: "AcmeHostingLtd.Hostform", PackageVersion: "1.2.3" });
    expect(parsed.map(({ ManifestType }) => ManifestType)).toEqual(["version", "installer", "defaultLocale"]);
    expect(parsed[1].Installers[0].InstallerSha256).toBe(sha256.toUpperCase());
    expect(parsed[2]).toMatchObject({ Publisher: "Acme Hosting Ltd.", ShortDescription: about.description });
  });

  it("find manual pages and completions below share in each archive", async () => {
    const names = shares().map(({ name }) => name);
    const formulaOf = files.get("hostform.rb") ?? "";
    const installed = [...formulaOf.matchAll(/"(share\/[^"*]+)/g)].map(([, from = ""]) => from);
    expect(installed).toHaveLength(4);
    for (const from of installed)
      expect(
        names.filter((name) => name.startsWith(from)),
        from,
      ).not.toEqual([]);
    const [, inScoop = ""] = /\$dir\\(share\S+ps1)/.exec(JSON.parse(files.get("hostform.json") ?? "").notes) ?? [];
    expect(names).toContain(inScoop.replaceAll("\\", "/"));
    expect(names).toContain("share/man/man1/hostform-plan.1");
  });

  it("are listed with the commands that publish a release", () => {
    const text = publication("release", [...files.keys(), "hostform-1.2.3.tgz", "SHA256SUMS"]);
    expect(text).toContain("npm publish --provenance release/hostform-1.2.3.tgz");
    expect(text).toContain("AcmeHostingLtd.Hostform.installer.yaml");
    expect(text).toContain("copy hostform.rb to the tap");
  });

  it("receive an image that does not run as root, and whose home is outside the project", () => {
    expect(dockerfile(published)).toMatch(/^USER 65532:65532$/m);
    expect(dockerfile(published)).toMatch(/^VOLUME \/work$/m);
    expect(dockerfile(published)).toMatch(/^WORKDIR \/work$/m);
    const home = /^ENV HOME=(.*)$/m.exec(dockerfile(published))?.[1] ?? "/work";
    expect(isInside("/work", home) || isInside(home, "/work")).toBe(false);
  });

  it("receive an image whose first example plans a project and passes on the URL and the token", async () => {
    const [bin, work, home, host] = [temporaryFolder(), temporaryFolder(), temporaryFolder(), await startCanary()];
    const hook = "webhooks: {hook: {url: https://hooks.example/x, events: [invoice.paid]}}";
    writeFileSync(path.join(work, "hosting.yaml"), `project: p\n${hook}\n`);
    const [, line = ""] = /^# (docker build .*)$/m.exec(dockerfile(published)) ?? [];
    writeFileSync(path.join(bin, "docker"), DOCKER, { mode: 0o755 });
    const main = path.resolve(import.meta.dirname, "../../../src/cli/main.ts");
    const env = {
      ...{ PATH: `${bin}:${process.env.PATH}`, IMAGE_HOME: home, PROGRAM: `${process.execPath} ${main}` },
      ...{ HOSTING_TOKEN: "token-of-the-user", HOSTING_BASE_URL: host.url, OTHER: "not passed on" },
    };
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { cwd: work, env });
    expect(stdout).toContain("hosting_webhook.hook");
    expect(host.requests.join()).toContain("token-of-the-user");
    expect(readdirSync(work), "what belongs to the user is not in the project").toEqual(["hosting.yaml"]);
    expect(readdirSync(home)).not.toEqual([]);
  });
});

describe("npm run release -- --help", () => {
  it("prints the usage", () => {
    const script = path.resolve(import.meta.dirname, "../../../scripts/release.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--help"], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: npm run release/);
  });
});
