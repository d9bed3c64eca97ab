/** `llms.txt`: the table of docs/README.md as a list of links, for language models. */
export function llmsText(readme: string): string {
  const rows = [...readme.matchAll(/^\| (.+?) \| (.+) \|$/gm)].filter(([, task]) => task !== "task" && task !== "---");
  const links = rows.flatMap(([, task = "", pages = ""]) =>
    [...pages.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, to = ""]) => {
      return `- [${title}](${to.startsWith("../") ? to.slice(3) : `docs/${to}`}): ${task}`;
    }),
  );
  return `# hostform

> hostform manages web-hosting accounts from a declaration in YAML, Terraform or CDKTF: it plans the differences, then applies them, and orders nothing twice.

Agents read [the skill](integrations/agent/SKILL.md) first: an apply costs money, so a person applies a saved plan, or signs a mandate for it.

## Documentation

${links.join("\n")}
`;
}
