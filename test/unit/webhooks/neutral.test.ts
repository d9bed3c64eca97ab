/** `hostform/webhooks/fetch` outside Node: the published bundle runs with only the globals of the web. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildWebhooks } from "../../../scripts/build/dist.ts";
import { quickFolder } from "../../support/folder.ts";
import { bodyOf, delivery, SECRET } from "./deliveries.ts";

type Library = typeof import("../../../src/webhooks/fetch.ts");

/** Globals of a worker that the library uses. There is no process, Buffer or require. */
const { crypto, Headers, Request, Response, TextDecoder, TextEncoder } = globalThis;
const WEB = { crypto, Headers, Request, Response, TextDecoder, TextEncoder };

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(quickFolder("webhooks"));
  await buildWebhooks(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Bundles the published module as a worker's bundler does, and loads it. */
async function inWorker(): Promise<Library> {
  const file = path.join(folder, "fetch.js");
  const options = { bundle: true, write: false, format: "iife", globalName: "library", platform: "neutral" } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [file] });
  const context = createContext({ ...WEB });
  return runInContext(`${outputFiles[0]?.text}; library`, context) as Library;
}

it("the published module imports no module of Node or of another package", () => {
  const published = readdirSync(folder).filter((name) => name !== "index.js");
  expect(published).toEqual(["fetch.js", expect.stringMatching(/^shared-\w+\.js$/)]);
  for (const name of published) {
    const text = readFileSync(path.join(folder, name), "utf8");
    const imports = [...text.matchAll(/\b(?:from|import|require)\s*\(?\s*["']([^"']+)["']/g)].map(([, from]) => from);
    expect(imports.filter((from) => from !== `./${published[1]}`)).toEqual([]);
    expect(text).not.toMatch(/\bprocess\.|\bBuffer\b/);
  }
});

it("the published module receives deliveries with only the globals of the web", async () => {
  const { fetchHandler, serviceIdOf, verifySignatureAsync } = await inWorker();
  const services: unknown[] = [];
  const refused: string[] = [];
  const handler = fetchHandler({
    secrets: SECRET,
    onEvent: (event) => services.push(serviceIdOf(event)),
    onRefused: ({ code }) => refused.push(code),
  });
  const send = async (init: RequestInit) => (await handler(new Request("https://worker.example/", init))).status;
  expect(await send(delivery())).toBe(204);
  expect(await send(delivery())).toBe(204);
  expect(await send(delivery(bodyOf(), { secret: "forged" }))).toBe(401);
  expect(await send(delivery("[]"))).toBe(400);
  expect([services, refused]).toEqual([["1003"], ["webhooks.bad_signature", "webhooks.not_an_event"]]);
  expect(await verifySignatureAsync("Hi", delivery("Hi").headers["X-Service-Signature"], SECRET)).toBe(true);
});
