// The notices that the licences of embedded packages require, and the bill of materials that scanners read.
import { statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Metafile } from "esbuild";

const LICENSES = path.join(import.meta.dirname, "licenses");

/** Licences that a package does not bring along: its own, or those of code that it embeds. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "@bufbuild/protobuf": ["Apache-2.0.txt"],
  "pg-types": ["pg-types.txt"],
  pgpass: ["pgpass.txt"],
  undici: ["llhttp.txt"],
};

/** A package with files in a bundle. */
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
 * Returns the files in the bundles, without unused ones.
 * @param root folder that the names are relative to
 * @throws Error when a bundle holds other contents than the file on the disk: packages are embedded as published
 */
export function embeddedFiles({ inputs: read, outputs }: Metafile, root: string): string[] {
  const sizeOf = (file: string) => statSync(path.resolve(root, file), { throwIfNoEntry: false })?.size;
  const changed = Object.keys(read).filter((file) => file !== "<stdin>" && read[file]?.bytes !== sizeOf(file));
  if (changed.length > 0)
    throw new Error(
      `The bundle has other contents than these files: ${changed.join(", ")}. Remove the esbuild plugin that changes them.`,
    );
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0),
  );
}

/**
 * Returns the packages of files by name. The same files in another order give the same result.
 * @param inputs from {@link embeddedFiles}; files outside of packages are skipped
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
 * Returns name, version and licence of each package in a bundle, the texts of the licence, and the notices inside bundled files.
 * @param head describes the bundle
 * @throws Error when a package has no text of its licence: it may not be distributed without one
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
    throw new Error(`${name} is bundled and has no file with its licence: add one to scripts/build/licenses`);
  const texts = await Promise.all(places.map((file) => readFile(file, "utf8")));
  const comments = (await Promise.all(files.map((file) => readFile(file, "utf8")))).flatMap(noticesIn);
  const parts = [`${name} ${version}, ${license}`, ...texts, ...new Set(comments)];
  return `${parts.map((part) => part.replaceAll("\r\n", "\n").trimEnd()).join("\n\n")}\n`;
}

/** Returns comments with a copyright or a licence, without the marks of a comment. */
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

/** The product in the bill of materials. */
export interface Product {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description: string;
}

/** The digest of each package in package-lock.json, by its folder. */
export interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

/**
 * Returns the bill of materials in CycloneDX 1.6, without times and random numbers. `npm sbom` lists what is installed, not what is
 * embedded.
 * @throws Error when the lock file has no digest of a package
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
