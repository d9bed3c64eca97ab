import type { runEdit } from "../edit.ts";
import { days, given, type Registration } from "../options.ts";

const GROUP = "Edit the declaration:";
const DRY_RUN = "print the difference, write nothing";

/** Registers `edit …`. */
export function registerEdit({ command, action }: Registration): void {
  const edit = command("edit", "edit the declaration and print the difference", GROUP).helpCommand(false);
  const editing = (name: Parameters<typeof runEdit>[0], summary: string, ...words: readonly string[]) => {
    const spelled = name === "handOver" ? "hand-over" : name;
    const added = command(spelled, summary, "Commands:", edit).option("--dry-run", DRY_RUN);
    for (const word of words) added.argument(word);
    return added.action(action(async () => ({ run: (await import("../edit.ts")).runEdit(name) }), "run", "none"));
  };
  editing("suspend", "declare services as suspended: by domain, by address, or unpaid services", "[services...]")
    .option("--unpaid-over <time>", "only services with an invoice that is overdue for longer, such as 30d or 4w", days)
    .examples(["hostform edit suspend --unpaid-over 30d", "all services that nobody has paid for"]);
  editing("unsuspend", "declare services as not suspended", "[services...]")
    .option("--paid", "only services that are suspended with a comment `# unpaid INVOICE`, if the invoice is paid")
    .examples(["hostform edit unsuspend --paid", "all services that were paid since"]);
  editing("remove", "remove a block: by address, or a service by domain", "<address>").examples([
    "hostform edit remove www.acme.example",
    "the next plan shows the removal",
  ]);
  editing("rename", "rename a block and all references to it, and add `moved`", "<address>", "<to>").examples([
    "hostform edit rename hosting_service.acme acme-www",
    "an apply changes only the state",
  ]);
  editing("handOver", "remove all blocks of a client, and add `removed`: the objects stay", "<client>").examples([
    "hostform edit hand-over acme",
    "the client has a new agency",
  ]);
  editing("add", "add a service that uses a template", "<domain>")
    .requiredOption("--template <name>", "template of the service", given)
    .option("--client <name>", "client of the service", given)
    .examples(["hostform edit add acme.example --template site --client acme", "beside the services of the client"]);
  editing("revoke", "remove all grants of a person; reads the grants of all services", "<email>").examples([
    "hostform edit revoke dev@acme.example",
    "a person leaves",
  ]);
  editing("accept", "write the live values of a resource into its block", "<address>").examples([
    "hostform edit accept hosting_webhook.billing",
    "somebody changed it in the dashboard",
  ]);
  const projects = command("project", "move blocks and their state entries between projects", GROUP).helpCommand(false);
  const moving = (name: string, summary: string, ...words: readonly string[]) => {
    const added = command(name, summary, "Commands:", projects).option("--dry-run", DRY_RUN);
    for (const word of words) added.argument(word);
    return added.action(
      action(async () => ({ run: (await import("../edit.ts")).runMove(name === "join") }), "run", "none"),
    );
  };
  moving(
    "split",
    "move the blocks of a file or a client to the project in another folder",
    "<what>",
    "<folder>",
  ).examples(["hostform project split client:acme ../acme", "one project for each client"]);
  moving("join", "move all blocks of the project in another folder to this project", "<folder>").examples([
    "hostform project join ../acme",
    "the reverse",
  ]);
}
