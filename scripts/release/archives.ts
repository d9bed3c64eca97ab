// Archives whose bytes follow from the files alone: names in order, no times, no owners. The command `tar` differs between systems.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type Zippable, zipSync } from "fflate";
import type { PackageFile } from "../../src/fronts/terraform/package.ts";

const inOrder = (files: readonly PackageFile[]) => files.toSorted((a, b) => (a.name < b.name ? -1 : 1));

export function zip(files: readonly PackageFile[]): Uint8Array {
  // The earliest time of the format, which has no time zone. Attributes: a regular file of Unix and its mode.
  const common = { mtime: new Date(1980, 0, 1), os: 3, level: 6 } as const;
  const entries = inOrder(files).map(({ name, content, mode }): [string, Zippable[string]] => [
    name,
    [content, { ...common, attrs: (0o100000 | mode) * 0x10000 }],
  ]);
  return zipSync(Object.fromEntries(entries));
}

const BLOCK = 512;

/** Returns a gzipped archive of tar (ustar). */
export function tarball(files: readonly PackageFile[]): Uint8Array {
  const parts = inOrder(files).flatMap(({ name, content, mode }) => {
    const head = Buffer.alloc(BLOCK);
    const octal = (value: number, at: number, width: number) =>
      head.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at, "latin1");
    head.write(name, 0, 100);
    octal(mode, 100, 8);
    octal(0, 108, 8);
    octal(0, 116, 8);
    octal(content.length, 124, 12);
    octal(0, 136, 12);
    head.write("        0", 148, "latin1");
    head.write("ustar\x0000", 257, "latin1");
    octal(
      head.reduce((sum, byte) => sum + byte, 0),
      148,
      7,
    );
    return [head, content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 6 });
}

export const sha256 = (content: Uint8Array | string) => createHash("sha256").update(content).digest("hex");

/** Returns the lines of SHA256SUMS, in the order of the names. */
export function digests(files: ReadonlyMap<string, Uint8Array | string>): string {
  const sums = [...files].map(([name, content]) => `${sha256(content)}  ${name}\n`);
  return sums.toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join("");
}
