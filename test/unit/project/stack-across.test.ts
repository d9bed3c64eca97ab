import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../../support/project.ts";

const service = (over: object = {}) => ({ plan_id: 31, currency: "USD", deletion_policy: "suspend", ...over });

interface One {
  readonly services: Readonly<Record<string, object>>;
  readonly project?: string;
  readonly path?: string;
}

/** Stacks as cdktf writes them, each with its own state path. */
function synthesize({ dir }: Project, stacks: Readonly<Record<string, One>>): void {
  const manifest = Object.keys(stacks).map((name) => [
    name,
    {
      name,
      constructPath: name,
      workingDirectory: `stacks/${name}`,
      synthesizedStackPath: `stacks/${name}/cdk.tf.json`,
    },
  ]);
  for (const [name, { services, project = "acme", path: state = `terraform.${name}.tfstate` }] of Object.entries(
    stacks,
  )) {
    mkdirSync(path.join(dir, "cdktf.out/stacks", name), { recursive: true });
    const stack = {
      terraform: { backend: { local: { path: path.resolve(dir, state) } } },
      provider: { hosting: [{ project }] },
      resource: { hosting_service: services },
    };
    writeFileSync(path.join(dir, "cdktf.out/stacks", name, "cdk.tf.json"), JSON.stringify(stack));
  }
  writeFileSync(
    path.join(dir, "cdktf.out/manifest.json"),
    JSON.stringify({ version: "0.21.0", stacks: Object.fromEntries(manifest) }),
  );
}

/** Returns the output of a refused command on one line. Fails if the command sent a request. */
async function refused(project: Project, ...args: string[]): Promise<string> {
  const before = project.control.requests().length;
  const { code, text } = await project.run(...args, "--stack", "cdktf.out");
  expect(code).toBe(1);
  expect(project.control.requests().length).toBe(before);
  return text.replaceAll(/\s+/g, " ");
}

describe("stacks of one manifest", () => {
  it("are refused with one state, because each would remove the objects of the other", async () => {
    const project = await startProject();
    const [a, b] = [{ a1: service({ reference: "a" }) }, { b1: service({ reference: "b" }) }];
    synthesize(project, { a: { services: a, path: "s.tfstate" } });
    expect((await project.run("apply", "--auto-approve", "--stack", "cdktf.out")).code).toBe(0);
    const linked = path.join(project.dir, "linked");
    symlinkSync(project.dir, linked);
    for (const other of ["s.tfstate", path.join(linked, "s.tfstate")]) {
      synthesize(project, { a: { services: a, path: "s.tfstate" }, b: { services: b, path: other } });
      for (const args of [["apply", "--auto-approve"], ["plan", "--only", "b"], ["destroy"], ["validate"]]) {
        expect(await refused(project, ...args)).toMatch(
          /the stacks (?:a and b|b and a) keep their state in the same place/,
        );
      }
    }
    // Reading the state still works, because the user needs it for the correction.
    expect((await project.run("state", "list", "--stack", "cdktf.out", "--only", "b")).code).toBe(0);
  });

  it.each<[string, One, One, string | undefined]>([
    [
      "one domain",
      { services: { w: service({ domain: "w.example" }) } },
      { services: { x: service({ domain: "W.example", reference: "other" }) } },
      "Stack b, hosting_service.x: stack a declares the same as hosting_service.w, with the domain w.example",
    ],
    [
      "one reference",
      { services: { w: service({ reference: "r" }) } },
      { services: { x: service({ reference: "r" }) } },
      'with the order reference "r"',
    ],
    [
      "one domain in two projects of one account",
      { services: { w: service({ domain: "w.example" }) } },
      { services: { w: service({ domain: "w.example" }) }, project: "other" },
      "with the domain w.example",
    ],
    [
      "projects of their own",
      { services: { w: service({ reference: "r" }) } },
      { services: { w: service({ reference: "r" }) }, project: "other" },
      undefined,
    ],
    [
      "other references",
      { services: { w: service({ reference: "r" }) } },
      { services: { w: service({ reference: "s" }) } },
      undefined,
    ],
  ])("with %s", async (_, a, b, words) => {
    const project = await startProject();
    synthesize(project, { a, b });
    if (words === undefined) {
      const { code, text } = await project.run("plan", "--stack", "cdktf.out");
      expect(code, text).toBe(0);
    } else {
      for (const args of [["validate"], ["plan"], ["apply", "--auto-approve"]]) {
        expect(await refused(project, ...args)).toContain(words);
      }
    }
  });
});
