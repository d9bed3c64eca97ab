import type { Command } from "commander";
import type { CollectionName } from "../commands/looking/collections.ts";
import { examples, type Registration } from "../registration.ts";
import { registerWebhooks } from "./webhooks.ts";

const GROUP = "Looking:";

/** Commands that only read the account: tables for people, arrays of records with `--json`. */
export function registerLooking(registration: Registration): void {
  const { command, action } = registration;
  const looking = (name: string, summary: string, parent?: Command) =>
    command(name, summary, parent === undefined ? GROUP : "Commands:", parent).option(
      "--provider <alias>",
      "the account to look at (default: default)",
    );
  const collection = (name: CollectionName, summary: string) =>
    looking(name, summary).action(
      action(async (invocation, flags: object, id?: unknown) =>
        (await import("../commands/looking/collections.ts")).runCollection(
          invocation,
          flags,
          name,
          typeof id === "string" ? id : undefined,
        ),
      ),
    );

  examples(collection("plans", "list the plans that can be ordered, with prices"), [
    ["hostform plans", "find the plan_id for a declaration"],
  ]);
  examples(collection("services", "list the services, or show one").argument("[id]", "show this one in full"), [
    ["hostform services", "all of the account"],
    ["hostform services 1001", "one, with every field"],
  ]);
  examples(collection("invoices", "list the invoices, or show one").argument("[id]", "show this one in full"), [
    ["hostform invoices --json", "an array of records"],
  ]);
  examples(
    looking("grants", "list with whom a service is shared")
      .argument("<service>", "an id, or an address such as hosting_service.acme-www")
      .action(
        action(async (invocation, flags: object, service: string) =>
          (await import("../commands/looking/grants.ts")).runGrants(invocation, flags, service),
        ),
      ),
    [["hostform grants hosting_service.acme-www", "the id is taken from the state"]],
  );
  registerWebhooks(registration);
  examples(collection("accounts", "list the client accounts (Manage track)"), [
    ["hostform accounts --provider beta", "those of another account"],
  ]);
  examples(
    collection("migrations", "list the migration requests, or show one").argument("[id]", "show this one in full"),
    [["hostform migrations", "with their status"]],
  );
  const domains = command("domains", "ask about domains", GROUP).helpCommand(false);
  examples(
    looking("check", "ask whether domains can be registered", domains)
      .argument("<names...>")
      .action(
        action(async (invocation, flags: object, names: string[]) =>
          (await import("../commands/looking/domains.ts")).runDomainsCheck(invocation, flags, names),
        ),
      ),
    [["hostform domains check acme.example acme.test", "several at once"]],
  );
}
