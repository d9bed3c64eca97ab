// Manifests of a release for package managers that install an archive: Scoop, winget, aqua, mise and Nix.
import { stringify } from "yaml";
import { archiveName, archiveUrl, digestOf, type Published } from "./channels.ts";

const yaml = (value: object) => stringify(value, { lineWidth: 0 });
/** Address of an archive of any version, in a manager's words for the version. */
const pattern = (of: Published, version: string, platform: string) =>
  `${of.downloads}/v${version}/${archiveName(version, platform)}`;

/** The manifest of Scoop for Windows. Scoop finds a new version in the manifest of the latest release. */
export function scoopManifest(of: Published): string {
  const manifest = {
    version: of.version,
    description: of.description,
    homepage: of.homepage,
    license: of.license,
    architecture: {
      "64bit": { url: archiveUrl(of, "windows_amd64"), hash: digestOf(of, "windows_amd64") },
    },
    bin: "hostform.exe",
    notes: `Completion: add this line to $PROFILE: . "$dir\\share\\powershell\\hostform.ps1"`,
    checkver: {
      url: `${of.downloads.replace(/\/download$/, "")}/latest/download/hostform.json`,
      jsonpath: "$.version",
    },
    autoupdate: {
      architecture: { "64bit": { url: pattern(of, "$version", "windows_amd64") } },
      hash: { url: "$baseurl/SHA256SUMS" },
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The three manifests of winget by the names of their files. */
export function wingetManifests(of: Published): ReadonlyMap<string, string> {
  const [publisher = ""] = of.author.split(/ *[<(]/);
  const identifier = `${publisher.replace(/[^A-Za-z0-9]/g, "")}.Hostform`;
  const manifest = (type: string, fields: object) =>
    yaml({
      PackageIdentifier: identifier,
      PackageVersion: of.version,
      ...fields,
      ManifestType: type,
      ManifestVersion: "1.10.0",
    });
  return new Map([
    [`${identifier}.yaml`, manifest("version", { DefaultLocale: "en-US" })],
    [
      `${identifier}.installer.yaml`,
      manifest("installer", {
        InstallerType: "zip",
        NestedInstallerType: "portable",
        NestedInstallerFiles: [{ RelativeFilePath: "hostform.exe", PortableCommandAlias: "hostform" }],
        Installers: [
          {
            Architecture: "x64",
            InstallerUrl: archiveUrl(of, "windows_amd64"),
            InstallerSha256: digestOf(of, "windows_amd64").toUpperCase(),
          },
        ],
      }),
    ],
    [
      `${identifier}.locale.en-US.yaml`,
      manifest("defaultLocale", {
        PackageLocale: "en-US",
        Publisher: publisher,
        PackageName: "hostform",
        PackageUrl: of.homepage,
        License: of.license,
        ShortDescription: of.description,
      }),
    ],
  ]);
}

/** A registry of aqua with hostform alone. macOS is left out: aqua signs no executable. */
export function aquaRegistry(of: Published): string {
  const version = "{{trimV .Version}}";
  const base = `${of.downloads}/v${version}`;
  const signed = { type: "http", url: `${base}/SHA256SUMS.minisig`, public_key: of.key };
  const hostform = {
    name: "hostform/hostform",
    type: "http",
    description: of.description,
    link: of.homepage,
    url: `${base}/hostform_${version}_{{.OS}}_{{.Arch}}.{{.Format}}`,
    format: "tar.gz",
    overrides: [{ goos: "windows", format: "zip" }],
    files: [{ name: "hostform" }],
    supported_envs: ["linux", "windows/amd64"],
    checksum: { type: "http", url: `${base}/SHA256SUMS`, algorithm: "sha256", minisign: signed },
  };
  return yaml({ packages: [hostform] });
}

/** A `mise.toml` with this version of hostform. macOS is left out: mise signs no executable. */
export function miseTool(of: Published): string {
  const platforms = { "linux-x64": "linux_amd64", "linux-arm64": "linux_arm64", "windows-x64": "windows_amd64" };
  const lines = Object.entries(platforms).map(
    ([name, platform]) =>
      `${name} = { url = "${archiveUrl(of, platform)}", checksum = "sha256:${digestOf(of, platform)}" }\n`,
  );
  return `[tools."http:hostform"]\nversion = "${of.version}"\n\n[tools."http:hostform".platforms]\n${lines.join("")}`;
}

/** A function for `callPackage` of nixpkgs. */
export function nixExpression(of: Published): string {
  const source = (system: string, platform: string) =>
    `    ${system} = { url = "${archiveUrl(of, platform)}"; sha256 = "${digestOf(of, platform)}"; };`;
  return `# nix-build -E '(import <nixpkgs> { }).callPackage ./hostform.nix { }'
{ lib, stdenv, fetchurl, autoPatchelfHook }:
let
  sources = {
${source("x86_64-linux", "linux_amd64")}
${source("aarch64-linux", "linux_arm64")}
  };
  system = stdenv.hostPlatform.system;
in
stdenv.mkDerivation {
  pname = "hostform";
  version = "${of.version}";
  src = fetchurl (sources.\${system} or (throw "hostform has no executable for \${system}"));
  sourceRoot = ".";
  nativeBuildInputs = [ autoPatchelfHook ];
  buildInputs = [ stdenv.cc.cc.lib ];
  # The program of hostform is a section of the executable.
  dontStrip = true;
  installPhase = ''
    install -Dm755 hostform $out/bin/hostform
    cp -r share $out/share
  '';
  meta = {
    description = ${JSON.stringify(of.description)};
    homepage = "${of.homepage}";
    license = lib.getLicenseFromSpdxId "${of.license}";
    mainProgram = "hostform";
    platforms = lib.attrNames sources;
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
`;
}
