import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen } from "../../../../../src/fronts/terraform/wire/handshake.ts";

let folder: string;
let server: Server;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "endpoint-"));
  server = createServer();
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

describe("listen", () => {
  it("makes a socket in a folder that only this user may enter, and removes both", async () => {
    const endpoint = await listen(server, { platform: "linux", folder, encrypted: false });
    expect(endpoint.network).toBe("unix");
    expect(statSync(endpoint.address).isSocket()).toBe(true);
    expect(statSync(path.dirname(endpoint.address)).mode & 0o777).toBe(0o700);
    endpoint.remove();
    expect(existsSync(endpoint.address)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes a port of the loopback address on Windows", async () => {
    const endpoint = await listen(server, { platform: "win32", folder, encrypted: true });
    expect(endpoint).toMatchObject({ network: "tcp", address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes a port where the path would be too long for a socket", async () => {
    const endpoint = await listen(server, { platform: "linux", folder: `/${"long".repeat(30)}`, encrypted: true });
    expect(endpoint.network).toBe("tcp");
  });

  it.each([
    ["on Windows", { platform: "win32", folder: "C:\\\\Temp" }],
    ["where the path would be too long for a socket", { platform: "linux", folder: `/${"long".repeat(30)}` }],
  ] as const)("opens no port without encryption, %s", async (_, place) => {
    await expect(listen(server, { ...place, encrypted: false })).rejects.toThrow("open to every user of this machine");
    expect(server.listening).toBe(false);
  });

  it("fails where nothing can be written", async () => {
    await expect(
      listen(server, { platform: "linux", folder: path.join(folder, "none"), encrypted: true }),
    ).rejects.toMatchObject({
      code: "ENOENT",
    });
  });
});
