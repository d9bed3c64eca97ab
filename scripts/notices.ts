// What goes with a bundle: the notices that the licences of embedded packages require, and the bill of materials that scanners read.
import { statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Metafile } from "esbuild";

const LICENSES = path.join(import.meta.dirname, "licenses");

/** Texts that a package does not bring along: its own licence, or that of what it embeds in turn. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "@bufbuild/protobuf": ["Apache-2.0.txt"],
  "pg-types": ["pg-types.txt"],
  pgpass: ["pgpass.txt"],
  undici: ["llhttp.txt"],
};

/** A package of which files are in a bundle. */
export interface EmbeddedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** Absolute; several when it is installed more than once. */
  readonly folders: readonly string[];
  /** Its files in the bundle, absolute. */
  readonly files: readonly string[];
}

/**
 * The files that bundles were made from, without those that were read and then dropped as unused.
 * @param root the folder that the names of the files are relative to.
 * @throws Error when a bundle does not hold a file as it is on the disk: packages are embedded as they are published.
 */
export function embeddedFiles({ inputs: read, outputs }: Metafile, root: string): string[] {
  const changed = Object.entries(read).filter(
    ([file, { bytes }]) => file !== "<stdin>" && bytes !== sizeOf(root, file),
  );
  if (changed.length > 0) {
    const names = changed.map(([file]) => file).join(", ");
    throw new Error(
      `The bundle has other contents than these files: ${names}. Remove the esbuild plugin that changes them.`,
    );
  }
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
}

/** The size of a file in bytes; undefined for what is no file. */
const sizeOf = (root: string, file: string) => statSync(path.resolve(root, file), { throwIfNoEntry: false })?.size;

/**
 * The packages that files belong to, in the order of their names. The same files in another order give the same.
 * @param inputs relative to `root`, from {@link embeddedFiles}; a file of no package is passed over.
 */
export async function packagesOf(inputs: readonly string[], root: string): Promise<EmbeddedPackage[]> {
  const found = new Map<string, EmbeddedPackage>();
  for (const input of [...new Set(inputs)].sort()) {
    const file = path.resolve(root, input);
    const [, folder] = /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file) ?? [];
    if (folder === undefined) continue;
    const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const key = `${name} ${version}`;
    const { folders = [], files = [] } = found.get(key) ?? {};
    found.set(key, {
      name,
      version,
      license: String(license ?? "").replace(/^\((.*)\)$/, "$1"),
      folders: [...new Set([...folders, folder])],
      files: [...files, file],
    });
  }
  return [...found.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/**
 * What has to go with a bundle: of every package that is in it its name, version and licence, the texts of that licence,
 * and the notices that stand in its bundled files alone. The same packages give the same text.
 * @param head says what the bundle is
 * @throws Error when a package has no text of its licence anywhere: it may not be given away without.
 */
export async function noticesOf(packages: readonly EmbeddedPackage[], head: string): Promise<string> {
  const sections = await Promise.all(packages.map(section));
  return [`${head}\n`, ...sections].join(`\n${"=".repeat(80)}\n\n`);
}

async function section({ name, version, license, folders, files }: EmbeddedPackage): Promise<string> {
  const [folder = ""] = folders;
  const names = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|notice|copying)\b/i.test(file)).sort();
  const places = [
    ...names.map((file) => path.join(folder, file)),
    ...(LEFT_OUT[name] ?? []).map((file) => path.join(LICENSES, file)),
  ];
  if (places.length === 0 || license === "")
    throw new Error(`${name} is bundled and has no file with its licence: add one to scripts/licenses`);
  const texts = await Promise.all(places.map((file) => readFile(file, "utf8")));
  const comments = (await Promise.all(files.map((file) => readFile(file, "utf8")))).flatMap(noticesIn);
  const parts = [`${name} ${version}, ${license}`, ...texts, ...new Set(comments)];
  return `${parts.map((part) => part.replaceAll("\r\n", "\n").trimEnd()).join("\n\n")}\n`;
}

/** The comments of a source that speak of a copyright or a licence, without the marks of a comment. */
export function noticesIn(source: string): string[] {
  const comments = source.match(/\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm) ?? [];
  return comments
    .filter((comment) => /copyright\b.*\d{4}|\blicen[cs]e\./i.test(comment))
    .map((comment) =>
      comment
        .replace(/^\s*\/\*+!?|\*+\/\s*$/g, "")
        .replace(/^[ \t]*(?:\/\/|\*(?= |$))? ?/gm, "")
        .trim(),
    );
}

/** What the bill of materials says of the product. */
export interface Product {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description: string;
}

/** The part of package-lock.json that is read: the digest of each package, by its folder. */
export interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

/**
 * The bill of materials in CycloneDX 1.6, as JSON. It has no time and no random number: the same packages give the same text.
 * @throws Error when the lock file has no digest of a package: what is embedded would not be known.
 */
export function billOfMaterials(packages: readonly EmbeddedPackage[], product: Product, lock: Lock): string {
  const components = packages.map(({ name, version, license }) => ({
    ...component("library", { name, version, license }),
    hashes: [{ alg: "SHA-512", content: digestOf(name, version, lock) }],
  }));
  const root = { ...component("application", product), description: product.description };
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: root },
    components,
    dependencies: [
      { ref: root["bom-ref"], dependsOn: components.map((one) => one["bom-ref"]) },
      ...components.map((one) => ({ ref: one["bom-ref"] })),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function component(type: "application" | "library", { name, version, license }: Omit<Product, "description">) {
  const [, group, own = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  const purl = `pkg:npm/${group === undefined ? "" : `${encodeURIComponent(group)}/`}${own}@${version}`;
  // An expression of one licence is its identifier, by which scanners look it up.
  const terms = / /.test(license) ? { expression: license } : { license: { id: license } };
  return { type, "bom-ref": purl, ...(group && { group }), name: own, version, licenses: [terms], purl };
}

function digestOf(name: string, version: string, { packages }: Lock): string {
  const entries = Object.entries(packages).filter(
    ([folder, one]) => folder.endsWith(`node_modules/${name}`) && one.version === version,
  );
  const [, encoded] = /^sha512-(.+)$/.exec(entries[0]?.[1].integrity ?? "") ?? [];
  if (encoded === undefined)
    throw new Error(`package-lock.json has no SHA-512 of ${name} ${version}, which is bundled`);
  return Buffer.from(encoded, "base64").toString("hex");
}
