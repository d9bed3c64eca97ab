import { collect, given, lifetime, type Registration, spend, wholeNumber } from "../options.ts";

const number = wholeNumber(0, 1_000_000);

const words = (text: string, earlier: readonly string[] = []) => [...earlier, ...given(text).split(/\s*,\s*/)];

/** Registers `mandate …`: what an approver allows an agent or a pipeline. */
export function registerMandate({ command, action }: Registration): void {
  const mandate = command("mandate", "sign what an agent or a pipeline may apply", "Main commands:").helpCommand(false);
  const added = (name: string, summary: string) => command(name, summary, "Commands:", mandate);
  const load = () => import("../mandate.ts");
  added("key", "create a private key for signatures, and print its public key")
    .argument("<file>", "new file for the private key, outside of the repository")
    .action(action(load, "runMandateKey", "none"))
    .examples(["hostform mandate key ~/.config/hostform/ana.pem", "then set HOSTFORM_MANDATE_KEY_FILE"]);
  added("create", "sign a mandate for a saved plan, or for any plan within limits")
    .argument("[plan]", "allow only this saved plan, once; without a plan, a missing limit allows nothing")
    .option("--kinds <kinds>", "only changes of these kinds, such as service,grant; required without a plan", words)
    .option("--max-orders <n>", "maximum number of orders in all uses", number)
    .option(
      "--max-spend <currency=amount>",
      "maximum amount in all uses, in the unit that `hostform plans --json` shows, such as USD=5000 (repeatable)",
      spend,
    )
    .option("--max-removals <n>", "maximum number of removals in all uses", number)
    .option("--target <address>", "only this resource, a pattern, or client:NAME (repeatable)", collect)
    .option("--no-offline", "refuse each plan that takes a site offline")
    .option("--expires <time>", "lifetime, such as 30m or 7d; at most 90d (default: 2h)", lifetime)
    .option("--uses <n>", "number of applies (default: 1)", wholeNumber(1, 1_000_000))
    .option("--out <file>", "file for the mandate (default: print it)", given)
    .action(action(load, "runMandateCreate"))
    .examples(
      ["hostform mandate create acme.plan --out acme.mandate", "approve exactly this plan"],
      [
        "hostform mandate create --kinds service --max-orders 2 --max-spend USD=5000 --out acme.mandate",
        "for an agent",
      ],
    );
  added("list", "list the mandates that were used or revoked, and what is left")
    .action(action(load, "runMandateList"))
    .examples(["hostform mandate list --json", "for a script"]);
  added("revoke", "revoke a mandate; a running apply sends no further order")
    .argument("<mandate>", "its file, or its id")
    .action(action(load, "runMandateRevoke"))
    .examples(["hostform mandate revoke acme.mandate", "for example after a mistake"]);
  added("receipts", "show what was done with mandates")
    .argument("[files...]", "receipts in files (default: those in the ledger)")
    .option("--verify", "check the signatures with HOSTFORM_RUNNERS; exit with 1 if one is invalid or missing")
    .action(action(load, "runMandateReceipts"))
    .examples(["hostform mandate receipts --verify", "for an audit"]);
}
