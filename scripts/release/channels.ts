// Files of a release for Homebrew, a shell and a container builder, from its version, address and digests.

/** The name and the address that stand in package.json until it has a publisher. */
export const PLACEHOLDER = /publisher\.example|\bPUBLISHER\b/;

export interface Published {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly homepage: string;
  /** The publisher, as in package.json: `NAME <MAIL> (ADDRESS)`. */
  readonly author: string;
  /** Public key of minisign that signs the releases. */
  readonly key: string;
  /** Address of the folders of all releases. */
  readonly downloads: string;
  /** Address of the files of this release, without a slash at the end. */
  readonly base: string;
  /** SHA-256 of each file, in hexadecimal, by name. */
  readonly digests: ReadonlyMap<string, string>;
}

/** @param platform in Terraform's words: `linux_amd64` */
export function archiveName(version: string, platform: string): string {
  return `hostform_${version}_${platform}.${platform.startsWith("windows") ? "zip" : "tar.gz"}`;
}

export function digestOf({ version, digests }: Published, platform: string): string {
  const digest = digests.get(archiveName(version, platform));
  if (digest === undefined) throw new Error(`the release has no ${archiveName(version, platform)}`);
  return digest;
}

export const archiveUrl = ({ base, version }: Published, platform: string) =>
  `${base}/${archiveName(version, platform)}`;

/** The formula of Homebrew. It signs the executable of macOS, which has no signature in the archive. */
export function formula(of: Published): string {
  const source = (platform: string) => `url "${archiveUrl(of, platform)}"
      sha256 "${digestOf(of, platform)}"`;
  return `class Hostform < Formula
  desc ${JSON.stringify(of.description)}
  homepage "${of.homepage}"
  version "${of.version}"
  license "${of.license}"

  on_macos do
    on_arm do
      ${source("darwin_arm64")}
    end
    on_intel do
      ${source("darwin_amd64")}
    end
  end

  on_linux do
    on_arm do
      ${source("linux_arm64")}
    end
    on_intel do
      ${source("linux_amd64")}
    end
  end

  def install
    bin.install "hostform"
    doc.install "NOTICES.txt"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/hostform"
    zsh_completion.install "share/zsh/site-functions/_hostform"
    fish_completion.install "share/fish/vendor_completions.d/hostform.fish"
    system "codesign", "--force", "--sign", "-", bin/"hostform" if OS.mac?
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hostform --version")
  end
end
`;
}

/** The script that installs the executable. It holds the digests: users trust no other file. */
export function installScript(of: Published): string {
  const platforms = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];
  const cases = platforms.map((platform) => `    ${platform}) sum=${digestOf(of, platform)} ;;`).join("\n");
  return `#!/bin/sh
# Installs hostform ${of.version} for this user, without root: into HOSTFORM_BIN, or ~/.local/bin, with its manual pages beside it in share.
# HOSTFORM_DOWNLOADS names another address of the files of this version; what comes from there is checked all the same.
set -eu

fail() {
  echo "hostform is not installed: $1" >&2
  exit 1
}

fetch() {
  if command -v curl >/dev/null 2>&1; then curl -fsSL -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then wget -qO "$2" "$1"
  else fail "neither curl nor wget is there. Install one of them."
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 "$1"
  else fail "neither sha256sum nor shasum is there, so the download cannot be checked. Install one of them."
  fi
}

# A function, so that a download of this script that breaks off runs nothing.
main() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no executable for $(uname -s). Use the npm package, or on Windows Scoop." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no executable for $(uname -m). Use the npm package." ;;
  esac
  case \${system}_$machine in
${cases}
  esac
  bin=\${HOSTFORM_BIN:-$HOME/.local/bin}
  name=hostform_${of.version}_\${system}_$machine.tar.gz
  url=\${HOSTFORM_DOWNLOADS:-${of.base}}/$name
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  fetch "$url" "$folder/$name" || fail "$url cannot be fetched."
  found=$(digest "$folder/$name")
  [ "\${found%% *}" = "$sum" ] || fail "$url has the SHA-256 \${found%% *}, not $sum. Do not use that file."
  tar -xzf "$folder/$name" -C "$folder"
  if [ "$system" = darwin ]; then codesign --force --sign - "$folder/hostform" || fail "codesign failed; see above."; fi
  "$folder/hostform" --version >/dev/null ||
    fail "the executable does not run here; see above. On Linux it needs glibc 2.28 or later and libstdc++."
  mkdir -p "$bin"
  # Beside the one that may be running, then in its place.
  cp "$folder/hostform" "$bin/.hostform.$$"
  mv -f "$bin/.hostform.$$" "$bin/hostform"
  echo "Installed hostform ${of.version} as $bin/hostform"
  # Manual pages and completions: man and the shells look beside a folder "bin".
  case $bin in
    */bin) { mkdir -p "\${bin%/bin}/share" && cp -R "$folder/share/." "\${bin%/bin}/share/"; } || echo "The manual pages are not installed; see above." ;;
  esac
  case :$PATH: in
    *:"$bin":*) ;;
    *) echo "$bin is not on the PATH: export PATH=\\"$bin:\\$PATH\\"" ;;
  esac
}

main
`;
}

/** Builds the image from the archives beside it: without Node and root; only the volume is written. */
export function dockerfile({ version, license, homepage }: Published): string {
  return `# docker build -t hostform . && docker run --rm --read-only --tmpfs /tmp -v "$PWD:/work" --user "$(id -u):$(id -g)" -e HOSTING_TOKEN -e HOSTING_BASE_URL hostform plan
FROM debian:12-slim
ARG TARGETARCH=amd64
LABEL org.opencontainers.image.version="${version}" org.opencontainers.image.licenses="${license}" org.opencontainers.image.url="${homepage}"
ADD hostform_${version}_linux_\${TARGETARCH}.tar.gz /opt/hostform/
# The project is in /work. What belongs to the user and no project, such as the ledger of requests, is in /tmp: a stranger's checkout must not
# bring it along. To keep it, mount a folder of your own (mode 0700) and name it: -v "$HOME/.local/state/hostform:/state" -e HOSTFORM_STATE_HOME=/state
RUN mkdir /work && chown 65532:65532 /work
ENV HOME=/tmp
WORKDIR /work
VOLUME /work
USER 65532:65532
ENTRYPOINT ["/opt/hostform/hostform"]
`;
}
