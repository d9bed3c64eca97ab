/**
 * Runs each built entry against an https API behind the CONNECT proxy that HTTPS_PROXY names. A private authority
 * signed the API's certificate.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, it, onTestFinished } from "vitest";
import { catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { encodeDynamic } from "../../src/fronts/terraform/codec/dynamic.ts";
import { selfSigned } from "../../src/fronts/terraform/wire/certificate.ts";
import {
  ConfigureProvider_RequestSchema,
  ConfigureProvider_ResponseSchema,
  ReadDataSource_RequestSchema,
  ReadDataSource_ResponseSchema,
} from "../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { builtPackage } from "../support/built-package.ts";
import { temporaryFolder } from "../support/folder.ts";
import { dial } from "../support/grpc-client.ts";
import { startSandbox } from "../support/sandbox.ts";

const HOST = "api.example";

/**
 * Lets a server listen until the test ends.
 * @returns The server's port.
 */
async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Starts a sandbox behind TLS, and a proxy that connects to the sandbox. Only the proxy resolves the name of the API.
 */
async function network() {
  const folder = temporaryFolder();
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const { key, certificate } = selfSigned(Date.now(), HOST);
  const authority = path.join(folder, "authority.pem");
  writeFileSync(authority, certificate);
  // The sandbox accepts only requests to its own host name.
  const api = await portOf(
    createTlsServer({ key, cert: certificate }, ({ method, url, headers }, response) => {
      const options = { method, headers: { ...headers, host: new URL(sandbox.url).host } };
      request(`${sandbox.url}${url}`, options, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      }).end();
    }),
  );
  const asked: string[] = [];
  const proxy = createServer((_, response) => void response.writeHead(405).end());
  proxy.on("connect", ({ url }, socket) => {
    asked.push(String(url));
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    const tunnel = connect(api, "127.0.0.1");
    socket.pipe(tunnel).pipe(socket);
    socket.on("error", () => tunnel.destroy()).on("close", () => tunnel.destroy());
    tunnel.on("error", () => socket.destroy());
  });
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TMPDIR: folder,
    XDG_STATE_HOME: folder,
    HTTPS_PROXY: `http://127.0.0.1:${await portOf(proxy)}`,
    NODE_EXTRA_CA_CERTS: authority,
    HOSTING_BASE_URL: `https://${HOST}`,
    HOSTING_TOKEN: sandbox.tokens.agency,
  };
  const start = (...args: string[]): ChildProcess & { readonly stdout: Readable; readonly stderr: Readable } => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  return { folder, asked, start, dist: path.join(await builtPackage(), "dist") };
}

type Network = Awaited<ReturnType<typeof network>>;

/**
 * Runs Node to its end.
 * @returns Its standard output and standard error.
 */
async function outputOf({ start }: Network, ...args: string[]): Promise<string> {
  const { stdout, stderr } = start(...args);
  return (await Promise.all([text(stdout), text(stderr)])).join("");
}

const run = (to: Network, entry: string, script: (url: string) => string) =>
  outputOf(to, "--input-type=module", "-e", script(pathToFileURL(path.join(to.dist, entry)).href));

const THROUGH_THE_PROXY = new Set([`${HOST}:443`]);

it("dist/hostform.js reaches an https API through a proxy", async () => {
  const to = await network();
  expect(await outputOf(to, path.join(to.dist, "hostform.js"), "plans", "--json")).toContain('"plan_id": 11');
  expect(new Set(to.asked)).toEqual(THROUGH_THE_PROXY);
});

it("dist/client.js reaches an https API through a proxy", async () => {
  const to = await network();
  const output = await run(
    to,
    "client.js",
    (url) => `import { HostingClient } from "${url}";
      const client = new HostingClient({ baseUrl: process.env.HOSTING_BASE_URL, token: process.env.HOSTING_TOKEN });
      for await (const plan of client.plans.list()) console.log(plan.plan_id);
      await client.close();`,
  );
  expect(output.split("\n")).toContain("11");
  expect(new Set(to.asked)).toEqual(THROUGH_THE_PROXY);
});

it("dist/library.js reaches an https API through a proxy", async () => {
  const to = await network();
  const declared = "project: acme\nservices:\n  www: { plan_id: 11, currency: USD, domain: www.acme.example }\n";
  writeFileSync(path.join(to.folder, "hosting.yaml"), declared);
  const output = await run(
    to,
    "library.js",
    (url) => `import { loadProject } from "${url}";
      const project = await loadProject({ directory: "." });
      console.log((await project.plan()).text());`,
  );
  expect(output).toContain("Plan: 1 to add");
  expect(new Set(to.asked)).toEqual(THROUGH_THE_PROXY);
});

it("dist/terraform/provider.cjs reaches an https API through a proxy", async () => {
  const to = await network();
  const reattach = to.start(path.join(to.dist, "terraform/provider.cjs"), "--reattach");
  const [line] = await once(createInterface({ input: reattach.stdout }), "line");
  const [, address = ""] = /"String":"([^"]+)"/.exec(line) ?? [];
  const client = await dial({ network: "unix", address });
  const nothing = (attributes: object) => Object.fromEntries(Object.keys(attributes).map((name) => [name, null]));

  const { attributes } = catalogue.provider;
  const configured = await client.call(
    "/tfplugin6.Provider/ConfigureProvider",
    toBinary(
      ConfigureProvider_RequestSchema,
      create(ConfigureProvider_RequestSchema, { config: encodeDynamic(nothing(attributes), attributes) }),
    ),
  );
  expect(fromBinary(ConfigureProvider_ResponseSchema, configured.message ?? Buffer.of()).diagnostics).toEqual([]);

  const plans = catalogue.dataSources.get("hosting_plans")?.attributes ?? {};
  const read = await client.call(
    "/tfplugin6.Provider/ReadDataSource",
    toBinary(
      ReadDataSource_RequestSchema,
      create(ReadDataSource_RequestSchema, {
        typeName: "hosting_plans",
        config: encodeDynamic(nothing(plans), plans),
      }),
    ),
  );
  const { diagnostics, state } = fromBinary(ReadDataSource_ResponseSchema, read.message ?? Buffer.of());
  expect(diagnostics).toEqual([]);
  expect(state?.msgpack.length).toBeGreaterThan(100);
  expect(new Set(to.asked)).toEqual(THROUGH_THE_PROXY);
  await client.close();
});
