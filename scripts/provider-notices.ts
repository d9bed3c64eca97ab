// The notices that the licences of bundled packages require.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

const LICENSES = path.join(import.meta.dirname, "licenses");

/** Texts that a package does not bring along: its own licence, or that of what it embeds in turn. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "@bufbuild/protobuf": ["Apache-2.0.txt"],
  undici: ["llhttp.txt"],
};

interface Package {
  /** Absolute. */
  readonly folder: string;
  /** The files of it that are in the bundle, absolute. */
  readonly files: readonly string[];
}

/**
 * What has to go with a bundle: of every package that is in it its name, version and licence, the texts of that licence,
 * and the notices that stand in its bundled files alone. The same files give the same text.
 * @param inputs the files that the bundle was made from, relative to `root`; what is not of a package is passed over.
 * @throws Error when a package has no text of its licence anywhere: it may not be given away without.
 */
export async function noticesOf(inputs: readonly string[], root: string): Promise<string> {
  const sections = await Promise.all(packagesOf(inputs, root).map(section));
  const head = "The Terraform provider of hostform is one file, and these packages are parts of it. Their licences:\n";
  return [head, ...new Set(sections.toSorted((a, b) => (a < b ? -1 : 1)))].join(`\n${"=".repeat(80)}\n\n`);
}

function packagesOf(inputs: readonly string[], root: string): Package[] {
  const files = new Map<string, string[]>();
  for (const input of inputs.toSorted()) {
    const [, folder] = /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path.resolve(root, input)) ?? [];
    if (folder !== undefined) files.set(folder, [...(files.get(folder) ?? []), path.resolve(root, input)]);
  }
  return [...files].map(([folder, own]) => ({ folder, files: own }));
}

async function section({ folder, files }: Package): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const names = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|notice|copying)\b/i.test(file)).sort();
  const places = [
    ...names.map((file) => path.join(folder, file)),
    ...(LEFT_OUT[name] ?? []).map((file) => path.join(LICENSES, file)),
  ];
  if (places.length === 0)
    throw new Error(`${name} is bundled and has no file with its licence: add one to scripts/licenses`);
  const texts = await Promise.all(places.map((file) => readFile(file, "utf8")));
  const comments = (await Promise.all(files.map((file) => readFile(file, "utf8")))).flatMap(noticesIn);
  const parts = [`${name} ${version}, ${license.replace(/^\((.*)\)$/, "$1")}`, ...texts, ...new Set(comments)];
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
