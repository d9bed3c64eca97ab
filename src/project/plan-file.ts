import path from "node:path";
import { beside, createSynced, isInside, isMount, look, read, realPath, systemDisk } from "../core/files/index.ts";
import { attempt, fail, ifErrno } from "../core/model/index.ts";
import type { ProjectSource } from "./source.ts";
import { writtenPlace } from "./trust.ts";

/** What the file of a saved plan says it is: its first member, so that a damaged one is known as well. */
export const FORM = "hostform plan";

const BEGINNING = new RegExp(`^\\s*\\{\\s*"form"\\s*:\\s*"${FORM}"`);
/** Enough for the beginning, however a tool has laid it out. */
const BEGINNING_BYTES = 256;

/** Whether a text is the beginning of a saved plan, a damaged one too. */
export function beginsAsPlan(text: string): boolean {
  return BEGINNING.test(text);
}

/**
 * Where `--out FILE` leads, links followed: those of an untrusted project only inside of it. Nothing but a saved plan is ever replaced by one, and no name is taken that the
 * state or the declaration would be looked for under.
 * @param holds a report replaces whatever file stands there, but for a saved plan, and nothing of the state or the declaration.
 * @returns an absolute path in a folder that can be written to.
 * @throws HostformError `usage` for a place where no plan may go, `plan.saved` for one where none can be written, `trust.file`.
 */
export async function placeForPlan(
  source: ProjectSource,
  file: string,
  holds: "plan" | "report" = "plan",
): Promise<string> {
  const isPlan = holds === "plan";
  const refuse = (detail: string) =>
    fail("usage", isPlan ? `The plan cannot be saved as ${file}` : `The report cannot be written to ${file}`, {
      detail: `${detail} Nothing was changed.`,
      remedies: [`Name another file: \`hostform plan ${isPlan ? "--out acme.plan" : "--report plan.html"}\`.`],
    });
  return orUnwritable(file, async () => {
    const named = path.resolve(source.cwd, file);
    const target = writtenPlace(source, file);
    // A stranger's declaration may name the place of the state: its text alone is compared.
    const [state, folder] = [source.untrusted === true ? source.state : realOf(source.state), realOf(source.dir)];
    for (const place of [named, target]) {
      if ([source.state, state].some((of) => belongsToState(place, of))) {
        refuse("hostform keeps the state, its backup, its journal or its lock there.");
      }
      const isOfProject = [source.dir, folder].some((dir) => isInside(dir, place));
      if (isOfProject && /\.ya?ml$/i.test(place))
        refuse("A file of that name may be read as a part of the declaration.");
      if (source.stack !== undefined && path.dirname(place) === folder && /\.(?:tf|tfvars)(?:\.json)?$/i.test(place)) {
        refuse("Terraform would read a file of that name as part of the stack.");
      }
      if (source.files.includes(place)) refuse("It is a file of the declaration.");
    }
    await refuseOthers(target, holds, refuse);
    const temporary = beside(target);
    await createSynced(systemDisk, temporary, "");
    await systemDisk.remove(temporary);
    if (await isMount(systemDisk, { path: target, temporary }))
      refuse("The file there is a mount of its own, and no other file can replace it. Mount its folder instead.");
    return target;
  });
}

/** Does a step on the disk; the system's refusal becomes a message. */
export function orUnwritable<T>(file: string, step: () => Promise<T>): Promise<T> {
  const refuse = (reason: string) =>
    fail("plan.saved", `The plan cannot be written to ${file}: ${reason}`, {
      remedies: ["Check that the folder exists and that you may write there. Nothing was changed."],
    });
  return step().catch(ifErrno(refuse));
}

const realOf = (file: string): string =>
  attempt(
    () => realPath(file),
    () => file,
  );

/** `hosting.tfstate`, `hosting.tfstate.backup`, `.hosting.tfstate.lock`: all that begins as the state's name does is its own. */
function belongsToState(place: string, state: string): boolean {
  if (path.dirname(place) !== path.dirname(state)) return false;
  // Some file systems know one file by names in either case.
  const [name, own] = [path.basename(place).toLowerCase(), path.basename(state).toLowerCase()];
  return name === own || name.startsWith(`${own}.`) || name.startsWith(`.${own}.`);
}

/** Refuses a place where anything but a saved plan stands; for a report a saved plan, a folder or a device. */
async function refuseOthers(
  target: string,
  holds: "plan" | "report",
  refuse: (detail: string) => never,
): Promise<void> {
  const form = look(target)?.form;
  if (form === undefined) return;
  if (form === "folder") refuse("It is a folder.");
  const isPlan = form === "file" && beginsAsPlan((await read(target, { limit: BEGINNING_BYTES })).toString());
  if (holds === "plan" && !isPlan)
    refuse("The file there is not a plan that hostform saved, and would be overwritten.");
  if (holds === "report" && isPlan) refuse("The file there is a plan that hostform saved.");
  if (form !== "file") refuse("It is no file.");
}
