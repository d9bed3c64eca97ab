import { duration, given, type Registration } from "../options.ts";

const GROUP = "Edit the declaration:";

/** Registers `edit …` and `project …`, which edit the files of a declaration and print the difference. */
export function registerEdit({ command, action }: Registration): void {
  const edit = command(
    "edit",
    "edit the declaration and print the difference; an apply does the rest",
    GROUP,
  ).helpCommand(false);
  const editing = (name: string, summary: string) =>
    command(name, summary, "Commands:", edit).option("--dry-run", "print the difference, write nothing");
  const load = () => import("../edit.ts");
  editing("suspend", "declare services as suspended")
    .argument("[services...]", "domains or addresses (default: all services)")
    .option(
      "--unpaid-over <time>",
      "only live services with an invoice that is overdue for longer, such as 30d",
      duration,
    )
    .action(action(load, "runSuspend", "none"))
    .examples(
      ["hostform edit suspend --unpaid-over 30d", "all services that have not been paid for 30 days"],
      ["hostform edit suspend www.acme.example", "one service"],
    );
  editing("unsuspend", "declare services as not suspended")
    .argument("[services...]", "domains or addresses (default: all services)")
    .option("--paid", "only services whose late invoice is paid and that have no overdue invoice")
    .action(action(load, "runUnsuspend", "none"))
    .examples(["hostform edit unsuspend --paid", "all services that have been paid since"]);
  editing("remove", "remove the block of a resource")
    .argument("<address>", "its address, or the domain of a service")
    .action(action(load, "runRemove", "none"))
    .examples(["hostform edit remove www.acme.example", "the next plan shows the removal"]);
  editing("rename", "rename a block and all references to it; adds `moved`")
    .argument("<address>", "its address, or the domain of a service")
    .argument("<to>", "the new name or address")
    .action(action(load, "runRename", "none"))
    .examples(["hostform edit rename hosting_service.acme acme-www", "an apply changes only the state"]);
  editing("hand-over", "remove all blocks of a client; adds `removed`, so that the objects stay")
    .argument("<client>")
    .action(action(load, "runHandOver", "none"))
    .examples(["hostform edit hand-over acme", "the client has a new agency"]);
  editing("add", "add a service that uses a template")
    .argument("<domain>")
    .requiredOption("--template <name>", "template of the service", given)
    .option("--client <name>", "client of the service", given)
    .action(action(load, "runAdd", "none"))
    .examples([
      "hostform edit add shop.acme.example --template site --client acme",
      "beside the services of the client",
    ]);
  editing("revoke", "remove all grants of a person; reads the grants of all services")
    .argument("<email>")
    .action(action(load, "runRevoke", "none"))
    .examples(["hostform edit revoke dev@acme.example", "a person leaves"]);
  editing("accept", "write the live values of a resource into the declaration")
    .argument("<address>", "its address, or the domain of a service")
    .action(action(load, "runAccept", "none"))
    .examples(["hostform edit accept hosting_webhook.billing", "somebody changed the webhook in the dashboard"]);
}
