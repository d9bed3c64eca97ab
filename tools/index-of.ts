/**
 * The names that a program imports from the root of the bindings: each resource, data source and the provider with its
 * configurations (`Service`, `ServiceConfig`, `ServiceTimeouts`), and for each a namespace with all that its file has
 * (`service`), as packages of prebuilt providers have them.
 *
 * @param files the text of each, by path: `lib/service/index.ts`, …, and `lib/index.ts` with the namespaces
 */
export function indexOf(files: ReadonlyMap<string, string>): string {
  const lines = [...files].flatMap(([name, text]) => {
    if (name === "lib/index.ts") return ['export * from "./lib/index.ts";'];
    const exported = [...text.matchAll(/^export (class|interface) (\w+)/gm)].flatMap(([, word, found = ""]) => {
      if (word === "interface") return [`type ${found}`];
      // What is read from an attribute has a class of its own, which nobody makes.
      return /^(?:\w+OutputReference|\w+List)$/.test(found) ? [] : [found];
    });
    return [`export { ${exported.join(", ")} } from "./${name}";`];
  });
  return `${lines.join("\n")}\n`;
}
