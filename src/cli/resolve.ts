import { inQuotes, shellWord } from "../core/model/index.ts";
import { resolveCreates, type Settling } from "../project/resolve.ts";
import { projectFlags } from "../project/stack-diagnostics.ts";
import { forTerraform, terraformFolder } from "../project/terraform-folder.ts";
import { escapeLine, renderEvidence } from "../report/index.ts";
import { raise } from "./messages.ts";
import { type Action, printResult, say } from "./terminal.ts";

interface ResolveFlags {
  /** Id of the created object. */
  readonly adopt?: string;
  /** Accepts differences between the object and the request. */
  readonly force?: boolean;
  /** True if the request created no object. */
  readonly absent?: boolean;
  /** Waits until the account contains the object. */
  readonly wait?: boolean;
  /** Maximum wait, in milliseconds. */
  readonly waitTimeout?: number;
}

const WAIT_MS = 600_000;
const STORED =
  " hostform cannot write to this backend. The next apply on this machine writes the decision to the state.";

/**
 * Runs `hostform resolve [ADDRESS]`: prints evidence about pending creations, or settles one. Returns 1 if the creation at
 * the given address is still pending.
 */
export const runResolve: Action<ResolveFlags, [address?: string]> = async (terminal, project, flags, address) => {
  const folder = await terraformFolder(project);
  const settling = resolveCreates(folder ?? project, address, settlingOf(flags, address));
  const resolved = await (folder === undefined ? settling : settling.catch(forTerraform));
  if ("pending" in resolved) {
    const { pending } = resolved;
    if (pending.length === 0 && !terminal.json) say(terminal, "Nothing is pending.");
    else
      printResult(
        terminal,
        "resolve",
        pending,
        renderEvidence(pending, terminal.clock.now(), {
          ...terminal.outLook,
          apply: `\`${folder ? "terraform" : "hostform"} apply\``,
          command: (pending, answer) => resolveCommand(pending, projectFlags(project.source), answer),
        }),
      );
    const left = folder?.left ?? [];
    project.log.warn(...left);
    return pending.length + left.length === 0 ? 0 : 1;
  }
  const { address: settled, settled: how } = resolved;
  const isStored = folder?.isStored === true;
  const json = {
    address: settled,
    settled: how,
    ...(how === "adopted" && { id: resolved.id }),
    ...(isStored && { stored: true }),
  };
  const text =
    how === "absent"
      ? `${settled} was not created. ${resolved.undeclared ? "No block declares it, so no apply creates it." : "The next apply creates it."}`
      : `${settled} is ${resolved.noun} ${resolved.id}.${resolved.lostSecret ? lostSecret(settled, folder !== undefined) : ""}`;
  printResult(terminal, "resolve", json, `${escapeLine(text)}${isStored ? STORED : ""}\n`);
  return 0;
};

const resolveCommand = (address: string, flags: readonly string[], id: string | null): string => {
  const answer = id === null ? "--absent" : `--adopt${id.startsWith("-") ? "=" : " "}${shellWord(id)}`;
  return ["hostform resolve", shellWord(address), ...flags, answer].join(" ");
};

const lostSecret = (address: string, isTerraform: boolean): string =>
  ` Its secret is lost. For a new one: \`${isTerraform ? "terraform apply -replace=" : "hostform apply --replace "}${inQuotes(address)}\`.`;

/** Converts the options. @throws HostformError `usage` for options that cannot be combined. */
function settlingOf(flags: ResolveFlags, address: string | undefined): Settling | undefined {
  const ways = [flags.adopt !== undefined, flags.absent, flags.wait].filter(Boolean).length;
  if (ways > 1) raise("usage/combined", { options: "--adopt, --absent and --wait" });
  if (ways === 1 && address === undefined) raise("usage/no_pending", {});
  if (flags.adopt !== undefined && !/^(?=.*\S)\P{Cc}{1,1000}$/u.test(flags.adopt)) raise("usage/adopt_id", {});
  if (flags.waitTimeout !== undefined && !flags.wait)
    raise("usage/needs", { option: "--wait-timeout", other: "--wait" });
  if (flags.force && flags.adopt === undefined) raise("usage/needs", { option: "--force", other: "--adopt ID" });
  if (flags.adopt !== undefined) return { adopt: flags.adopt, ...(flags.force && { force: true }) };
  if (flags.absent) return "absent";
  return flags.wait ? { waitMs: flags.waitTimeout ?? WAIT_MS } : undefined;
}
