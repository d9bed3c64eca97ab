/** The check runs against real accounts. It must not be able to order, suspend, mail or set anything, by type or by accident. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { endpoints } from "../../../src/core/api/endpoints.ts";
import { PROBE_ENDPOINTS, type ProbeEndpoint, Prober } from "../../../src/core/api/probe.ts";

const src = path.resolve(import.meta.dirname, "../../../src");
const code = (file: string) => readFileSync(path.join(src, file), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
const files = globSync("contract/**/*.ts", { cwd: src });

const FORBIDDEN = [
  "createService",
  "suspendService",
  "unsuspendService",
  "resetPassword",
  "panelSso",
  "createGrant",
  "revokeGrant",
  "registerDomain",
  "createAccount",
  "createMigrationRequest",
] as const;

describe("what the contract check can name", () => {
  it("is this, and all else is forbidden", () => {
    expect([...PROBE_ENDPOINTS, ...FORBIDDEN].toSorted()).toEqual(Object.keys(endpoints).toSorted());
    const changing = PROBE_ENDPOINTS.filter((name) => endpoints[name].method !== "GET");
    expect(changing).toEqual(["checkDomainsByPost", "createWebhook", "deleteWebhook"]);
  });

  it("is what the compiler lets it name", () => {
    const named: ProbeEndpoint = "listPlans";
    expect(named).toBe("listPlans");
    for (const name of FORBIDDEN) {
      // @ts-expect-error what orders, mails or sets something is no endpoint of a probe
      const forbidden: ProbeEndpoint = name;
      expect(PROBE_ENDPOINTS).not.toContain(forbidden);
    }
  });

  it("is refused at run time too, before anything is sent", async () => {
    const prober = new Prober({ baseUrl: "http://127.0.0.1:9", token: "7|canary-token-Zq81xYp4", env: {} });
    for (const name of FORBIDDEN) {
      const probing = prober.probe({ endpoint: name as ProbeEndpoint, params: { id: "1", grantId: "1" } });
      await expect(probing).rejects.toMatchObject({ diagnostics: [{ code: "api.argument" }] });
    }
    expect(prober.requests).toBe(0);
    await prober.close();
  });

  it("is named in its code, and nothing else is", () => {
    expect(files.length).toBeGreaterThan(5);
    const names = new Set(
      files.flatMap((file) => Object.keys(endpoints).filter((name) => code(file).includes(`"${name}"`))),
    );
    expect([...names].filter((name) => FORBIDDEN.includes(name as never))).toEqual([]);
    expect([...names].toSorted()).toEqual([...PROBE_ENDPOINTS].toSorted());
  });

  it("goes through the prober: no client, no request of its own", () => {
    const sending =
      /HostingClient|\bfetch\(|undici|node:https?|\.request\(|buildRequest|buildChain|from "\.\.\/core\/api\/(?:client|chain|exchange|transport|index)\.ts"/;
    expect(files.filter((file) => sending.test(code(file)))).toEqual([]);
  });
});
