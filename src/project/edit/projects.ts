/** Moves blocks and their state entries to another project. Sends no request. */
import path from "node:path";
import { exists, listNow, makeParent, remove, removeTree } from "../../core/files/index.ts";
import { isPendingCreate } from "../../core/lifecycle/index.ts";
import { resourceOf } from "../../core/model/index.ts";
import { writeFiles } from "../adopt/write.ts";
import { remember } from "../history.ts";
import type { Project } from "../project.ts";
import { namedBy } from "./changes.ts";
import type { Edited } from "./declaration-edit.ts";
import { MAIN, type Move, planMove, refuseMove } from "./move-plan.ts";

/**
 * Moves the blocks of a file or client, or all blocks, to the project in another folder. @param what a file, or `client:NAME`.
 * Undefined: all blocks. @throws HostformError as {@link planMove} does, and errors of both states.
 */
export async function moveBlocks(
  from: Project,
  to: Project,
  what: string | undefined,
  dryRun: boolean,
): Promise<Edited> {
  const { dir } = to.source;
  const isThere = exists(dir);
  makeParent(path.join(dir, MAIN));
  try {
    const move = await planMove(from, to, what);
    if (!dryRun) await carryOut(from, to, move);
    return move;
  } finally {
    if (!isThere && listNow(dir).length === 0) removeTree(dir);
  }
}

/**
 * Writes all files while both states are locked. The order of the writes keeps each object in at least one state, and no plan after a
 * crash removes an object. After each write, the same command completes the move:
 *
 * 1. The file of the target declares the blocks, and the state of the target gets the entries.
 * 2. The entries of an interrupted move leave the state of the source, which declares them as `removed`.
 * 3. The source declares the other addresses as `removed` with `destroy: false`.
 * 4. Their entries leave the state of the source, and both histories get an entry.
 * 5. The source loses `removed`, and its files without content.
 */
async function carryOut(from: Project, to: Project, move: Move): Promise<void> {
  const [names, begun] = [move.blocks, move.begun].map((all) => new Set(all.flatMap(namedBy)));
  await to.state.write("project", (target) =>
    from.state.write("project", async (source) => {
      const held = target.state.resources;
      const entriesOf = (of: ReadonlySet<string> | undefined) =>
        [...source.state.resources.values()].filter(({ address }) => of?.has(resourceOf(address)));
      const entries = [...entriesOf(begun), ...entriesOf(names)];
      for (const entry of entries) {
        const other = held.get(entry.address);
        if (isPendingCreate(entry)) refuseMove(`${entry.address} may have been ordered`);
        if (other && other.attributes.id !== entry.attributes.id)
          refuseMove(`${entry.address} is another object there`);
      }
      const missing = entries.filter(({ address }) => !held.has(address));
      await writeFiles(move.created, async () => void (await Promise.all(missing.map((entry) => target.put(entry)))));
      await source.remove(...entriesOf(begun).map(({ address }) => address));
      await writeFiles(move.leaving, async () => undefined);
      await source.remove(...entriesOf(names).map(({ address }) => address));
      for (const [one, { history }, text] of [
        [from, source, `Moved to ${to.source.dir}.`],
        [to, target, `Moved from ${from.source.dir}.`],
      ] as const) {
        const effects = [...move.begun, ...move.blocks].map((address) => ({ address, text }));
        const entry = { command: "project", plan: null, orders: [], requests: 0, errors: [], effects };
        from.log.warn(...(await remember(one, { history }, entry)));
      }
      await writeFiles(move.last, async () => undefined);
      for (const file of move.empty) remove(file);
    }),
  );
}
