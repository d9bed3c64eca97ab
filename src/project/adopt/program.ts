/** Writes an adoption as a TypeScript program with hostform's constructs. The stack of the program uses the state of the adoption. */
import { createHash } from "node:crypto";
import path from "node:path";
import { exists } from "../../core/files/index.ts";
import { type Json, type JsonObject, jsonText, parseAddress } from "../../core/model/index.ts";
import type { NewBlock } from "./declare.ts";
import type { Language, Written } from "./language.ts";
import type { Texts } from "./proof.ts";
import { nestedKind } from "./read.ts";

const STACK = "hosting";

/** Returns the language TypeScript with `cdktf` or `cdktn`. Both libraries have the same classes. */
export const programFor = (library: "cdktf" | "cdktn"): Language => ({
  commentsOut: false,
  // Construct names are unique within a stack.
  namesShared: true,
  // Construct names of the provider and the backend.
  reserved: [STACK, "backend"],
  isOwn: (file) => file === "main.ts" || /^sites\/[^/]+\.ts$/.test(file),
  addressesIn: (texts) =>
    [...texts.values()].flatMap((source) =>
      [...source.matchAll(/new \w+\(stack, "([\w-]+)"/g)].map(([, name]) => `hosting_service.${name}`),
    ),
  addressOf: stackAddress,
  referenceOf: (address) => address,
  textsOf: async (of) => programTexts(library, of),
});

/**
 * Returns the address in the stack. `cdktf` and `cdktn` name a nested construct by the words of its path and eight digits of
 * an MD5 hash.
 */
function stackAddress(address: string): string {
  const { type = "", name = "", key } = parseAddress(address) ?? {};
  if (typeof key !== "string") return address;
  const parts = [name, key.trim().toLowerCase()];
  const words = parts.map((part) => part.replace(/[^A-Za-z0-9_-]/g, "")).join("_");
  const hash = createHash("md5").update(parts.join("/")).digest("hex").slice(0, 8).toUpperCase();
  return `${type}.${words.slice(0, 240)}_${hash}`;
}

function programTexts(library: string, { desired, blocks, before, source }: Written): Texts {
  const texts = new Map(before);
  const add = (name: string, text: string) => texts.set(path.join(source.dir, name), text);
  if (before.size === 0) {
    add("main.ts", mainOf(library, desired.project, path.relative(source.dir, source.state)));
    const own: Readonly<Record<string, JsonObject>> = {
      "cdktf.json": { language: "typescript", app: "node main.ts", sendCrashReports: "false" },
      "package.json": { private: true, type: "module" },
    };
    for (const [name, value] of Object.entries(own)) {
      // Keep an existing file, because it belongs to the user.
      if (!exists(path.join(source.dir, name))) add(name, `${JSON.stringify(value, null, 2)}\n`);
    }
  }
  for (const [name, of] of Map.groupBy(blocks, ({ file }) => file)) {
    // A person may have edited the existing file, so write new sites to another file.
    let file = `sites/${name}.ts`;
    for (let count = 2; texts.has(path.join(source.dir, file)); count++) file = `sites/${name}-${count}.ts`;
    add(file, siteFile(library, of));
  }
  return texts;
}

const mainOf = (
  library: string,
  project: string,
  state: string,
) => `// hostform wrote this from an existing account. The files in sites/ declare the content of the account.
import { readdirSync } from "node:fs";
import path from "node:path";
import { App, LocalBackend, TerraformStack } from "${library}";
import { HostingProvider } from "hostform/${library}";

const app = new App();
const stack = new TerraformStack(app, "${STACK}");
new LocalBackend(stack, { path: path.join(import.meta.dirname, ${JSON.stringify(state)}) });
new HostingProvider(stack, "${STACK}", { project: ${JSON.stringify(project)} });

const sites = path.join(import.meta.dirname, "sites");
for (const file of readdirSync(sites).sort()) {
  const { default: declare } = await import(path.join(sites, file));
  declare(stack);
}
app.synth();
`;

/** Construct and its properties, by section. The constructs set `deletion_policy` to `prevent` by default. */
const CONSTRUCTS: Readonly<Record<string, { readonly construct: string; propsOf(block: NewBlock): JsonObject }>> = {
  services: {
    construct: "HostedSite",
    propsOf: ({ name, body: { client: _, deletion_policy: __, grants, ...site } }) => ({
      ...site,
      // The state entry of a service without a domain has an order reference.
      ...(site.domain === undefined && { reference: `hosting_service.${name}` }),
      ...(grants !== undefined && { grants }),
    }),
  },
  client_accounts: { construct: "ClientWorkspace", propsOf: ({ body: { deletion_policy: _, ...account } }) => account },
  webhooks: { construct: "EventSubscription", propsOf: ({ body }) => ({ ...body, secret: "state" }) },
  migration_requests: { construct: "MigrationRequest", propsOf: ({ body }) => body },
};

function siteFile(library: string, blocks: readonly NewBlock[]): string {
  const made = blocks.flatMap((block) => {
    const of = CONSTRUCTS[block.section];
    return of === undefined ? [] : [{ ...of, block }];
  });
  const names = [...new Set(made.map(({ construct }) => construct))].sort();
  const lines = made.map(
    ({ construct, block, propsOf }) =>
      `${(block.notes ?? []).map((line) => `  // ${line}\n`).join("")}  new ${construct}(stack, "${block.name}", ${typeScriptOf(propsOf(block), "  ")});\n`,
  );
  return `import type { TerraformStack } from "${library}";
import { ${names.join(", ")} } from "hostform/${library}";

export default function declare(stack: TerraformStack): void {
${lines.join("")}}
`;
}

/** Returns a value as TypeScript. Attributes are in camel case; keys of grants are e-mail addresses and stay unchanged. */
function typeScriptOf(value: Json, indent: string, isOfAttributes = true): string {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((item) => typeScriptOf(item, indent)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value as JsonObject).map(([key, part]) => {
    const name = isOfAttributes ? key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : textOf(key);
    const isOfGrants = isOfAttributes && key === nestedKind.nested?.section;
    return `${indent}  ${name}: ${typeScriptOf(part as Json, `${indent}  `, !isOfGrants)},\n`;
  });
  return `{\n${entries.join("")}${indent}}`;
}

/** Escapes `%{`, which starts a template directive in a stack. `${` is escaped already. */
const textOf = (value: string) => jsonText(value.replaceAll("%{", "%%{"));
