/** Explains an error code, an address or a page of the documentation. */
import path from "node:path";
import { listNow, textNow } from "../../core/files/index.ts";
import { attempt, type Code, codes, parseAddress } from "../../core/model/index.ts";
import { packageRoot } from "../terraform.ts";
import type { Call } from "./call.ts";
import { raise } from "./messages.ts";

/** Returns the files of the documentation by page. Empty if the package has none. */
function pages(): ReadonlyMap<string, string> {
  const folder = path.join(packageRoot(), "docs");
  const names = attempt(
    () => listNow(folder),
    () => [],
  ).filter((name) => name.endsWith(".md"));
  return new Map(names.map((name) => [path.parse(name).name, path.join(folder, name)]));
}

/** Returns the explanation of a topic. @throws HostformError `mcp.topic` for an unknown topic. */
export async function explain(about: string, { project, load, work }: Call): Promise<object> {
  const known = pages();
  const textOf = (page: string) => textNow(known.get(page) ?? "");
  if (Object.hasOwn(codes, about)) {
    const row = textOf("errors")
      ?.split("\n")
      .find((line) => line.startsWith(`| \`${about}\``));
    return { code: about, meaning: codes[about as Code], row };
  }
  if (parseAddress(about) === undefined)
    return { page: about, markdown: textOf(about) ?? raise("mcp.topic", { about, pages: [...known.keys()] }) };
  const { desired } = await project.declaration.check();
  const range = desired?.resources.find(({ address }) => address === about)?.locate([]);
  const { json, conditions, diagnostics } = await (await load()).plan({ targets: [about], ...work });
  const isOwn = ({ address }: { readonly address: string }) => address === about;
  return {
    address: about,
    declared: range && { file: range.file, line: range.line },
    conditions: conditions.filter(isOwn),
    change: json.resource_changes.find(isOwn)?.change,
    diagnostics,
  };
}
