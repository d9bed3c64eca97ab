/**
 * Full test of the constructs in other projects: each compiler, each module resolution, Node 22 and 24, and one, both
 * or none of the libraries. Run it with `npm run test:long constructs`. `package.test.ts` runs a sample with `npm
 * test`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIBRARIES } from "../../scripts/bindings/kept.ts";
import { expectedOf, missingPeer, synthesized, TYPESCRIPT_5_9, TYPESCRIPT_6 } from "./constructs-consumer.ts";
import { compile, packed, project, type Resolution, root, run } from "./consumer.ts";
import { consumerProgram } from "./consumer-program.ts";

const NODE_22 = process.env.HOSTFORM_NODE22;
const NODES: readonly (readonly [what: string, node: string])[] = [
  ["this project's Node", process.execPath],
  ...(NODE_22 === undefined ? [] : [["HOSTFORM_NODE22", NODE_22] as const]),
];
const COMPILERS = [
  ["7", path.join(root, "node_modules/typescript"), ["node16", "nodenext", "bundler"]],
  ["6.0", TYPESCRIPT_6, ["node10", "node16", "nodenext", "bundler"]],
  ["5.9", TYPESCRIPT_5_9, ["node10", "node16", "nodenext", "bundler"]],
] as const;
const ways = COMPILERS.flatMap(([version, compiler, resolutions]) =>
  resolutions.map((resolution: Resolution) => [version, resolution, compiler] as const),
);

describe.runIf(process.env.HOSTFORM_LONG)("the constructs, installed from the tarball", { timeout: 120_000 }, () => {
  let folder = "";
  let tarball = "";
  const make = (name: string, peers: readonly string[]) => {
    const place = path.join(folder, name);
    mkdirSync(place);
    return project(place, tarball, peers);
  };
  beforeAll(async () => {
    const missing = [TYPESCRIPT_5_9, TYPESCRIPT_6].some((compiler) => !existsSync(compiler));
    if (missing) execFileSync("npm", ["ci"], { cwd: path.join(root, "scripts/bindings"), stdio: "ignore" });
    folder = mkdtempSync(path.join(tmpdir(), "hostform-constructs-"));
    tarball = await packed();
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("run on the oldest Node: HOSTFORM_NODE22 names a Node 22", ({ skip }) => {
    if (NODE_22 === undefined) skip("HOSTFORM_NODE22 is not set, so nothing was tried on Node 22");
    else expect(run(NODE_22, ["--version"], folder)).toMatch(/^v22\./);
  });

  describe.each(LIBRARIES)("with %s alone", (library) => {
    const other = LIBRARIES.find((one) => one !== library) ?? library;
    let own = "";
    beforeAll(() => {
      own = make(library, [library, "constructs"]);
      writeFileSync(path.join(own, "program.ts"), consumerProgram(library));
    });

    it.each(ways)("compile with TypeScript %s, %s", (version, resolution, compiler) => {
      // TypeScript 6 rejects node10 as deprecated unless this option is set.
      const options = version === "6.0" && resolution === "node10" ? ["--ignoreDeprecations", "6.0"] : [];
      expect(compile(own, "program.ts", resolution, { compiler, options })).toBe("");
    });

    it.each(NODES)("run on %s", (_, node) => {
      expect(synthesized(own, node)).toEqual(expectedOf(library));
    });

    it.each(NODES)("are found from CommonJS by %s", (_, node) => {
      const script = `
        const { Service, service } = require("hostform/${library}");
        const deep = require("hostform/${library}/lib/service");
        console.log(Service === service.Service, Service === deep.Service, Service.tfResourceType);`;
      const args = ["--input-type=commonjs", "-e", script];
      expect(run(node, args, own)).toBe("true true hosting_service\n");
    });

    it("do not need the other library: loading its constructs reports the missing peer", () => {
      for (const said of missingPeer(own, `hostform/${other}`))
        expect(said).toContain(`npm install ${other} constructs`);
    });
  });

  it("work in a project with both libraries", () => {
    for (const [index, library] of LIBRARIES.entries()) {
      const both = index === 0 ? make("both", [...LIBRARIES, "constructs"]) : path.join(folder, "both");
      writeFileSync(path.join(both, "program.ts"), consumerProgram(library));
      expect(compile(both, "program.ts", "node16")).toBe("");
      expect(synthesized(both, process.execPath)).toEqual(expectedOf(library));
    }
  });

  it("do not affect hostform/client, which compiles and runs without either library", () => {
    const none = make("none", []);
    const text = 'import { HostingClient } from "hostform/client";\nconsole.log(typeof HostingClient);\n';
    writeFileSync(path.join(none, "program.ts"), text);
    for (const resolution of ["node16", "nodenext", "bundler"] as const) {
      expect(compile(none, "program.ts", resolution)).toBe("");
    }
    expect(run(process.execPath, ["program.ts"], none)).toBe("function\n");
    for (const library of LIBRARIES) {
      for (const said of missingPeer(none, `hostform/${library}`)) expect(said).toContain(`npm install ${library}`);
    }
  });
});
