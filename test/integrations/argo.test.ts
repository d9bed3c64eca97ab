/** The Argo CD plugin: its manifests against Kubernetes, and the Job as a pod runs it. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../support/built-once.ts";
import { compile, type Manifest, manifestsIn, validate } from "../support/manifests.ts";
import { host, STATE } from "./host.ts";

const FOLDER = path.join(ROOT, "integrations/argo");
const text = (file: string) => readFileSync(path.join(FOLDER, file), "utf8");
const APP = { ARGOCD_APP_NAME: "agency", HOSTFORM_IMAGE: "registry.acme.example/hostform:0.1.0" };

interface Files extends Manifest {
  readonly binaryData: { readonly "files.tar.gz": string };
}
interface Job extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [{ readonly image: string; readonly args: string[] }];
        readonly initContainers: readonly [{ readonly command: string[] }];
        readonly volumes: readonly [{ readonly configMap: { readonly name: string } }];
      };
    };
  };
}

async function application() {
  const its = await host();
  const generate = (more: Readonly<Record<string, string>> = {}) =>
    its.run(["sh", path.join(FOLDER, "generate.sh")], { ...APP, ...more });
  return { ...its, generate };
}

describe("the Argo CD plugin", () => {
  it("generates a ConfigMap and a hook Job that are valid, restricted and the same for the same files", async () => {
    const { generate, write, env } = await application();
    const { stdout, status } = await generate();
    const [files, job] = manifestsIn(stdout) as unknown as [Files, Job];
    for (const one of [files, job]) validate(one);
    expect([status, compile([files, job])]).toEqual([0, ""]);
    expect((await generate()).stdout).toBe(stdout);
    expect(job).toMatchObject({
      metadata: {
        name: "agency-apply",
        annotations: {
          "argocd.argoproj.io/hook": "Sync",
          "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation",
        },
      },
      spec: {
        backoffLimit: 0,
        template: {
          spec: {
            restartPolicy: "Never",
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true },
            containers: [
              {
                image: APP.HOSTFORM_IMAGE,
                envFrom: [{ secretRef: { name: "hostform" } }],
                securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
              },
            ],
            volumes: [{ configMap: { name: files.metadata.name } }, {}, {}],
          },
        },
      },
    });
    expect(stdout).not.toContain(env.HOSTING_BASE_URL);
    write("other.yaml", "x: 1\n");
    const [changed] = manifestsIn((await generate()).stdout);
    expect(changed?.metadata.name).not.toBe(files.metadata.name);
  });

  it("runs a Job that applies the declaration", async () => {
    const { generate, base, run, sandbox } = await application();
    const [files, job] = manifestsIn((await generate()).stdout) as unknown as [Files, Job];
    const pod = path.join(base, "pod");
    mkdirSync(pod);
    writeFileSync(path.join(base, "files.tar.gz"), Buffer.from(files.binaryData["files.tar.gz"], "base64"));
    const { initContainers, containers } = job.spec.template.spec;
    const unpack = initContainers[0].command.map((one) => one.replace("/files/", `${base}/`));
    expect((await run(unpack, {}, pod)).status).toBe(0);
    const ran = await run(["hostform", ...containers[0].args], { ...STATE, HOSTING_TOKEN: sandbox.tokens.agency }, pod);
    expect([ran.status, existsSync(path.join(pod, ".git"))], ran.text).toEqual([0, false]);
    expect(ran.text).toContain("Apply complete! 1 added");
  });

  it.each([
    ["no backend", { "hosting.yaml": "project: acme\n" }, {}, "The declaration has no backend"],
    ["an image without a version", {}, { HOSTFORM_IMAGE: "registry:5000/hostform" }, "has no tag and no digest"],
    ["an environment with other characters", {}, { ARGOCD_ENV_ENVIRONMENT: "a]\nx: y" }, "is not a name"],
    ["more than 1 MB of files", { "picture.webp": randomBytes(800_000).toString("latin1") }, {}, "exceed the limit"],
  ])("generates nothing for %s", async (_, files, more, words) => {
    const { generate, write } = await application();
    for (const [name, content] of Object.entries(files)) write(name, content);
    const { status, stdout, text } = await generate(more);
    expect([status, stdout, text]).toEqual([1, "", expect.stringContaining(words)]);
  });

  it("accepts a backend in another file of the declaration", async () => {
    const { checkout, generate, write } = await application();
    write("state.hosting.yaml", readFileSync(path.join(checkout, "hosting.yaml"), "utf8"));
    write("hosting.yaml", "description: no backend\n");
    expect(await generate()).toMatchObject({ status: 0 });
  });

  it.each([
    ["a long name", "a".repeat(63)],
    ["a name with dots", `${"a.".repeat(20)}example`],
    ["a name with its namespace", "team_agency"],
  ])("gives valid names of at most 63 characters to an application with %s", async (_, name) => {
    const { generate } = await application();
    const names = async (of: string) =>
      manifestsIn((await generate({ ARGOCD_APP_NAME: of })).stdout).map(({ metadata }) => metadata.name);
    const own = await names(name);
    expect(own).toHaveLength(2);
    for (const one of own) expect(one).toMatch(/^[a-z\d]([a-z\d-]{0,61}[a-z\d])$/);
    expect(await names(`${name}b`)).not.toContain(own[1]);
  });

  it("uses an environment", async () => {
    const { generate, write, backend } = await application();
    const { address = "", lock_address } = backend.settings;
    write("hosting.yaml", "project: acme\n");
    write("environments/staging.yaml", `backend:\n  http: {address: "${address}", lock_address: "${lock_address}"}\n`);
    const { stdout, text } = await generate({ ARGOCD_ENV_ENVIRONMENT: "staging" });
    const [, job] = manifestsIn(stdout) as unknown as [Files, Job];
    expect(job?.spec.template.spec.containers[0].args.slice(-2), text).toEqual(["-e", "staging"]);
  });

  it("is installed as a sidecar that mounts the plugin", () => {
    const [kustomization, plugin, patch] = ["kustomization.yaml", "plugin.yaml", "repo-server.yaml"].map((file) =>
      parse(text(file)),
    );
    expect(plugin).toEqual({
      apiVersion: "argoproj.io/v1alpha1",
      kind: "ConfigManagementPlugin",
      metadata: { name: "hostform" },
      spec: {
        discover: { fileName: "hosting.yaml" },
        generate: { command: ["sh", "/home/argocd/cmp-server/config/generate.sh"] },
      },
    });
    // The Deployment of Argo CD has the selector, the labels and these volumes.
    const { template } = patch.spec;
    const volumes = [...template.spec.volumes, { name: "var-files", emptyDir: {} }, { name: "plugins", emptyDir: {} }];
    const labels = { "app.kubernetes.io/name": "argocd-repo-server" };
    const whole = {
      ...patch,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { ...template.spec, volumes } },
      },
    };
    validate(whole);
    expect(template.spec.containers[0].env[0].value).toMatch(/hostform:\d+\.\d+\.\d+$/);
    expect(compile([whole])).toBe("");
    expect(kustomization.configMapGenerator).toEqual([
      { name: "hostform-plugin", files: ["plugin.yaml", "generate.sh"] },
    ]);
    expect(template.spec.volumes[0]).toEqual({ name: "hostform-plugin", configMap: { name: "hostform-plugin" } });
  });
});
