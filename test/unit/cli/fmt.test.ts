import { chmod, readFile, readlink, rename, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";
import { refuse } from "../../support/refusing-disk.ts";
import { runIn } from "./harness.ts";

const UGLY = "services:\n    a: {plan_id: 11, currency: USD, domain: a.example}\nproject: p\n";
const FORM = "project: p\n\nservices:\n  a: {plan_id: 11, currency: USD, domain: a.example}\n";

async function folder() {
  const project = await startProject();
  const file = (name: string) => path.join(project.dir, name);
  await writeFile(file("hosting.yaml"), UGLY);
  return { project, file, read: (name: string) => readFile(file(name), "utf8") };
}

it("fmt writes the formatted file, keeps its mode, and changes nothing the second time", async () => {
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

it("fmt writes no file if one file is unreadable or invalid", async () => {
  const { project, file, read } = await folder();
  await writeFile(file("broken.yaml"), "services: [");
  for (const other of ["broken.yaml", "missing.yaml"]) {
    expect((await project.run("fmt", "hosting.yaml", other)).code).toBe(1);
    expect(await read("hosting.yaml")).toBe(UGLY);
  }
});

it.each([
  ["in Latin-1", Buffer.from("project: caf\xe9\n", "latin1"), "hosting.yaml is not valid UTF-8"],
  ["in UTF-16", Buffer.from("\ufeffproject: p\n", "utf16le"), "hosting.yaml is not valid UTF-8, but in UTF-16"],
])(
  "fmt and validate refuse a file %s with the same fix, and fmt changes no file",
  async (_encoding, bytes, summary) => {
    const { project, file } = await folder();
    await writeFile(file("hosting.yaml"), bytes);
    for (const words of [["fmt"], ["fmt", "hosting.yaml"], ["validate"]]) {
      const { code, text } = await project.run(...words);
      expect({ words, code }).toEqual({ words, code: 1 });
      expect(text).toContain(`${summary} [config.syntax]`);
      expect(text).toContain("as UTF-8.");
      expect(text).not.toContain("permissions");
    }
    expect(await readFile(file("hosting.yaml"))).toEqual(bytes);
  },
);

it("fmt formats standard input for `-` on standard output, and writes no file", async () => {
  const { project, read } = await folder();
  const run = (input: string, ...options: readonly string[]) => runIn(project.dir, ["fmt", "-", ...options], { input });
  expect(await run(UGLY)).toMatchObject({ code: 0, stdout: FORM, stderr: "" });
  expect(await run(UGLY, "--check")).toMatchObject({ code: 3, stdout: "" });
  expect(await run(FORM, "--check")).toMatchObject({ code: 0, stdout: "" });
  expect((await run(UGLY, "--diff")).stdout).toContain("--- old/stdin");
  expect((await run(UGLY, "--json")).json()).toEqual({ format_version: "1.0", changed: ["-"], text: FORM });
  expect((await run(FORM, "--json")).json()).toEqual({ format_version: "1.0", changed: [], text: FORM });
  expect(await run("services: [")).toMatchObject({ code: 1, stdout: "" });
  expect((await run(UGLY, "hosting.yaml")).stderr).toContain("`-` and files cannot be combined");
  expect(await read("hosting.yaml")).toBe(UGLY);
});

it("fmt --json names the changed files, and prints an error on standard output", async () => {
  const { project, file, read } = await folder();
  await writeFile(file("good.yaml"), FORM);
  const run = (...options: readonly string[]) => runIn(project.dir, ["fmt", "--json", ...options]);
  const checked = await run("--check", "hosting.yaml", "good.yaml");
  expect([checked.code, checked.json()]).toEqual([3, { format_version: "1.0", changed: ["hosting.yaml"] }]);
  expect(await read("hosting.yaml")).toBe(UGLY);
  expect((await run("hosting.yaml")).json()).toEqual({ format_version: "1.0", changed: ["hosting.yaml"] });
  expect((await run("hosting.yaml")).json()).toEqual({ format_version: "1.0", changed: [] });
  await writeFile(file("broken.yaml"), "services: [");
  const broken = await run("broken.yaml");
  expect(broken.code).toBe(1);
  expect(JSON.stringify(broken.json())).toContain("broken.yaml");
});

it("fmt writes the target of a symbolic link, and keeps the link", async () => {
  const { project, file, read } = await folder();
  await rename(file("hosting.yaml"), file("real.yaml.txt"));
  await symlink("real.yaml.txt", file("hosting.yaml"));
  expect(await project.run("fmt")).toMatchObject({ code: 0, out: "hosting.yaml\n" });
  expect(await readlink(file("hosting.yaml"))).toBe("real.yaml.txt");
  expect(await read("real.yaml.txt")).toBe(FORM);
});

it("fmt restores the files that it has written if a later file cannot be written", async () => {
  const { project, file, read } = await folder();
  await writeFile(file("last.hosting.yaml"), UGLY);
  refuse("renameSync", "last.hosting.yaml", "EROFS");
  const { code, text } = await project.run("fmt", "hosting.yaml", "last.hosting.yaml");
  expect([code, text]).toEqual([1, expect.stringContaining("No file was written: last.hosting.yaml")]);
  for (const name of ["hosting.yaml", "last.hosting.yaml"]) expect(await read(name)).toBe(UGLY);
});
