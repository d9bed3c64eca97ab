/** Runs `edit …`: edits the files of the declaration, and prints the difference. Account and state stay unchanged. */
import path from "node:path";
import { shellPath } from "../core/model/index.ts";
import { writeFiles } from "../project/adopt/write.ts";
import { revokePerson, setSuspended } from "../project/edit/account.ts";
import { acceptLive, addService, handOver, removeResource, renameResource } from "../project/edit/changes.ts";
import type { Edited } from "../project/edit/declaration-edit.ts";
import { moveBlocks } from "../project/edit/projects.ts";
import type { Project } from "../project/project.ts";
import { escapeLine } from "../report/index.ts";
import { patch } from "./fmt.ts";
import { raise } from "./messages.ts";
import { printJson, type Switches, say, type Terminal } from "./terminal.ts";

export interface EditFlags extends Switches<"dryRun" | "paid"> {
  readonly unpaidOver?: number;
  readonly template?: string;
  readonly client?: string;
}

const suspending =
  (suspended: boolean) =>
  (project: Project, flags: EditFlags, services: readonly string[]): Promise<Edited> => {
    if (services.length === 0 && flags.unpaidOver === undefined && !flags.paid) raise("usage/no_services", {});
    return setSuspended(project, { ...flags, services, suspended });
  };

/** Edits by name. */
export const EDITS = {
  suspend: suspending(true),
  unsuspend: suspending(false),
  remove: (project: Project, _: EditFlags, address: string) => removeResource(project, address),
  rename: (project: Project, _: EditFlags, address: string, to: string) => renameResource(project, address, to),
  handOver: (project: Project, _: EditFlags, client: string) => handOver(project, client),
  add: (project: Project, { template = "", client }: EditFlags, domain: string) =>
    addService(project, domain, { template, ...(client !== undefined && { client }) }),
  revoke: (project: Project, _: EditFlags, email: string) => revokePerson(project, email),
  accept: (project: Project, _: EditFlags, address: string) => acceptLive(project, address),
} satisfies Record<string, (project: Project, flags: EditFlags, ...words: never[]) => Promise<Edited>>;

/** Returns the action of `edit NAME`: writes all files or none, and prints the difference. */
export const runEdit =
  (name: keyof typeof EDITS) =>
  async (terminal: Terminal, project: Project, flags: EditFlags, ...words: never[]): Promise<number> => {
    const edit: (project: Project, flags: EditFlags, ...words: never[]) => Promise<Edited> = EDITS[name];
    const edited = await edit(project, flags, ...words);
    if (!flags.dryRun) await writeFiles(edited.changes, async () => undefined);
    printEdited(terminal, project, edited, flags);
    return 0;
  };

/** Runs `project split FILE|client:NAME TARGET` and `project join SOURCE`. */
export const runMove =
  (isJoin: boolean) =>
  async (terminal: Terminal, project: Project, flags: EditFlags, ...words: string[]): Promise<number> => {
    const { source } = project;
    const dir = path.resolve(source.cwd, words.at(-1) ?? "");
    const other = project.on({
      ...source,
      dir,
      files: [],
      state: path.join(dir, "hosting.tfstate"),
      stateNamed: false,
    });
    const [from, to] = isJoin ? [other, project] : [project, other];
    const moved = await moveBlocks(from, to, isJoin ? undefined : words[0], flags.dryRun === true);
    printEdited(terminal, project, moved, flags);
    if (!isJoin && !flags.dryRun && !terminal.json)
      say(terminal, `To undo, run \`hostform project join ${shellPath(words[1] ?? "")}\`.`);
    return 0;
  };

/** Returns the difference of each file. */
export const diffsOf = ({ source }: Project, { changes }: Edited) =>
  changes.map(({ file, before = "", text }) => {
    const name = path.relative(source.cwd, file);
    return { file: name, diff: patch({ name, before, after: text }) };
  });

/** Prints the difference of each file, and the notes. */
export function printEdited(terminal: Terminal, project: Project, edited: Edited, { dryRun = false }: EditFlags) {
  const { notes } = edited;
  const diffs = diffsOf(project, edited);
  if (terminal.json) return printJson(terminal, "edit accept", { dry_run: dryRun, changes: diffs, notes });
  terminal.out(diffs.length === 0 ? "Nothing to change.\n" : diffs.map(({ diff }) => diff).join(""));
  for (const note of notes) say(terminal, escapeLine(note));
  if (diffs.length > 0)
    say(terminal, dryRun ? "No file was written." : "Review the difference, then run `hostform plan`.");
}
