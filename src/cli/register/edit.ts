import type { runEdit } from "../edit.ts";
import { duration, given, type Registration } from "../options.ts";

/** Registers `edit …`, which edits the files of a declaration and prints the difference. */
export function registerEdit({ command, action }: Registration): void {
  const edit = command("edit", "edit the declaration and print the difference", "Edit the declaration:").helpCommand(
    false,
  );
  const editing = (name: Parameters<typeof runEdit>[0], summary: string, ...words: readonly string[]) => {
    const spelled = name === "handOver" ? "hand-over" : name;
    const added = command(spelled, summary, "Commands:", edit).option(
      "--dry-run",
      "print the difference, write nothing",
    );
    for (const word of words) added.argument(word);
    return added.action(action(async () => ({ run: (await import("../edit.ts")).runEdit(name) }), "run", "none"));
  };
  editing("suspend", "declare services as suspended: by domain, by address, or unpaid services", "[services...]")
    .option(
      "--unpaid-over <time>",
      "only live services with an invoice that is overdue for longer, such as 30d",
      duration,
    )
    .examples(["hostform edit suspend --unpaid-over 30d", "all services that nobody has paid for"]);
  editing("unsuspend", "declare services as not suspended", "[services...]")
    .option("--paid", "only services whose late invoice is paid and that have no overdue invoice")
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
}
