import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const UGLY = "services:\n    a: {plan_id: 11, currency: USD, domain: a.example}\nproject: p\n";
const FORM = "project: p\n\nservices:\n  a: {plan_id: 11, currency: USD, domain: a.example}\n";

async function folder() {
  const project = await startProject();
  const file = (name: string) => path.join(project.dir, name);
  await writeFile(file("hosting.yaml"), UGLY);
  return { project, file, read: (name: string) => readFile(file(name), "utf8") };
}

it("fmt writes what changes, keeps its mode, and has nothing to do afterwards", async () => {
  const { project, file, read } = await folder();
  await chmod(file("hosting.yaml"), 0o600);
  const checked = await project.run("fmt", "--check", "--diff");
  expect(checked.code).toBe(3);
  expect(checked.out).toContain("-services:\n");
  expect(await read("hosting.yaml")).toBe(UGLY);
  expect((await project.run("fmt")).out).toContain("hosting.yaml");
  expect(await read("hosting.yaml")).toBe(FORM);
  expect((await stat(file("hosting.yaml"))).mode & 0o777).toBe(0o600);
  expect(await project.run("fmt", "--check")).toMatchObject({ code: 0, out: "" });
});

it("fmt writes no file when one cannot be read or parsed", async () => {
  const { project, file, read } = await folder();
  await writeFile(file("broken.yaml"), "services: [");
  for (const other of ["broken.yaml", "missing.yaml"]) {
    expect((await project.run("fmt", "hosting.yaml", other)).code).toBe(1);
    expect(await read("hosting.yaml")).toBe(UGLY);
  }
});
