/** Runs `edit …`: edits the files of the declaration, and prints the difference. Changes nothing in the account or the state. */
import path from "node:path";
import { writeFiles } from "../project/adopt/write.ts";
import { restoreServices, suspendServices } from "../project/edit/bills.ts";
import { acceptLive, addService, handOver, removeResource, renameResource } from "../project/edit/changes.ts";
import type { Edited } from "../project/edit/declaration-edit.ts";
import { revokePerson } from "../project/edit/revoke.ts";
import type { Project } from "../project/project.ts";
import { escapeLine } from "../report/index.ts";
import { patch } from "./fmt.ts";
import { refuse } from "./messages.ts";
import { type Action, printJson, type Switches, say, type Terminal } from "./terminal.ts";

type EditFlags = Switches<"dryRun">;

export const runSuspend: Action<EditFlags & { readonly unpaidOver?: number }, [services: readonly string[]]> = (
  terminal,
  project,
  { dryRun, unpaidOver },
  services,
) => {
  if (services.length === 0 && unpaidOver === undefined) refuse("usage/no_services", { option: "--unpaid-over" });
  const unpaid = unpaidOver !== undefined && { unpaidOverMs: unpaidOver };
  return finish(terminal, project, { dryRun }, suspendServices(project, { services, ...unpaid }));
};

export const runUnsuspend: Action<EditFlags & Switches<"paid">, [services: readonly string[]]> = (
  terminal,
  project,
  { dryRun, paid = false },
  services,
) => {
  if (services.length === 0 && !paid) refuse("usage/no_services", { option: "--paid" });
  return finish(terminal, project, { dryRun }, restoreServices(project, { services, isPaidOnly: paid }));
};

export const runRemove: Action<EditFlags, [address: string]> = (terminal, project, flags, address) =>
  finish(terminal, project, flags, removeResource(project, address));

export const runRename: Action<EditFlags, [address: string, to: string]> = (terminal, project, flags, address, to) =>
  finish(terminal, project, flags, renameResource(project, address, to));

export const runHandOver: Action<EditFlags, [client: string]> = (terminal, project, flags, client) =>
  finish(terminal, project, flags, handOver(project, client));

export const runAdd: Action<EditFlags & { readonly template: string; readonly client?: string }, [domain: string]> = (
  terminal,
  project,
  flags,
  domain,
) => finish(terminal, project, flags, addService(project, domain, flags));

export const runRevoke: Action<EditFlags, [email: string]> = (terminal, project, flags, email) =>
  finish(terminal, project, flags, revokePerson(project, email));

export const runAccept: Action<EditFlags, [address: string]> = (terminal, project, flags, address) =>
  finish(terminal, project, flags, acceptLive(project, address));

/** Prints the difference, and writes all files or none. */
export async function finish(
  terminal: Terminal,
  { source }: Project,
  { dryRun = false }: EditFlags,
  editing: Promise<Edited>,
  write: (edited: Edited) => Promise<void> = ({ changes }) => writeFiles(changes, async () => undefined),
): Promise<number> {
  const edited = await editing;
  const { changes, notes } = edited;
  if (!dryRun && changes.length > 0) await write(edited);
  const diffs = changes.map(({ file, before = "", text }) => {
    const name = path.relative(source.cwd, file);
    return { file: name, diff: patch({ name, before, after: text }) };
  });
  if (terminal.json) printJson(terminal, { dry_run: dryRun, changes: diffs, notes });
  else if (changes.length === 0) terminal.out("Nothing to change.\n");
  else terminal.out(diffs.map(({ diff }) => diff).join(""));
  if (terminal.json) return 0;
  for (const note of notes) say(terminal, escapeLine(note));
  if (changes.length > 0)
    say(terminal, dryRun ? "No file was written." : "Next: review the difference, then `hostform plan`.");
  return 0;
}
