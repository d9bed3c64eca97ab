/**
 * A cell is one combination of kind, change, form, fault and fronts. This file selects the cells of a run, knows which
 * combinations exist, and converts a cell to its name and back.
 */
import { Draw } from "../servers/draw.ts";
import { pairwise } from "../support/pairwise.ts";
import { CHANGES, type ChangeName, formsOf } from "./changes.ts";
import { type Form, FRONTS, type Front } from "./declaration.ts";
import { refusalOf } from "./expected.ts";
import { FAULT_NAMES, type FaultName, isCrash } from "./faults.ts";
import { FACTS, KINDS, type KindName } from "./kinds.ts";

export interface Cell {
  readonly kind: KindName;
  readonly change: ChangeName;
  readonly form: Form;
  readonly fault: FaultName;
  /** Method of the requests that the fault counts, and the number of the first request that fails. */
  readonly method: "POST" | "DELETE" | "GET";
  readonly nth: number;
  /** True if the fault lasts until the end of the command. */
  readonly lasting: boolean;
  /** Fronts of the first declaration, of the change, and of the following applies. */
  readonly fronts: readonly [Front, Front, Front];
  /** True if the commands after the fault run on a machine with an empty store. */
  readonly fresh: boolean;
}

/** Returns the name of a cell. `cellOf` parses the name. */
export function nameOf({ kind, change, form, fault, method, nth, lasting, fronts, fresh }: Cell): string {
  const how = `${fault}@${method}${nth}${lasting ? "+" : ""}`;
  return [kind, change, form, how, fronts.join(">"), fresh ? "fresh" : "same"].join(" / ");
}

/**
 * Returns the cell with this name.
 * @throws Error if the text is not a cell's name.
 */
export function cellOf(name: string): Cell {
  const [kind, change, form, how = "", fronts = "", home] = name.split(" / ");
  const [, fault, method, nth, lasting] = /^(.*)@(POST|DELETE|GET)(\d+)(\+?)$/.exec(how) ?? [];
  const cell = {
    kind,
    change,
    form,
    fault,
    method,
    nth: Number(nth),
    lasting: lasting === "+",
    fronts: fronts.split(">"),
    fresh: home === "fresh",
  } as unknown as Cell;
  if (
    fault === undefined ||
    !KINDS.includes(cell.kind) ||
    !CHANGES.includes(cell.change) ||
    !FAULT_NAMES.includes(cell.fault)
  )
    throw new Error(`no cell has the name "${name}"`);
  return cell;
}

/** Returns the reason why a combination does not exist, or undefined if it exists. */
export function absence({ kind, change, form, fault, fronts, nth, lasting, fresh }: Cell): string | undefined {
  const [first, front, last] = fronts;
  const isGrant = kind === "grant";
  if (!formsOf(change).includes(form)) return `${change} is no change of addresses by ${form}`;
  if (change === "rename parent" && !isGrant) return "only grants have a parent";
  if (form === "keyed" && !isGrant) return "only grants are keyed by their natural key";
  if (fronts.includes("yaml") && form !== (isGrant ? "keyed" : "blocks")) return "YAML has no such addresses";
  if (change === "taint" && (front !== "terraform" || last !== front)) return "hostform has no taint (decision 0045)";
  if (change === "replace" && front !== "terraform") return "hostform has no command that replaces";
  if (
    last === "terraform" &&
    front !== last &&
    refusalOf({ kind, change, form, fronts: [first, last, last] }) !== undefined
  )
    return "Terraform refuses what the fault may leave undone";
  if (/^crash of (?:terraform|the provider)/.test(fault) && front !== "terraform") return "hostform is one process";
  if (isCrash(fault) && last !== front) return "the journal of a killed hostform is its own";
  if (isCrash(fault) && lasting) return "a process dies once";
  if (fault === "none" && (nth > 1 || lasting || fresh)) return "there is no request that it could begin at";
  if (fault === "none" && first === front && front !== last && change === "create") return "another cell has it";
  return undefined;
}

/** Returns the methods of the requests that a change probably sends. */
function methodsOf({
  kind,
  change,
  front,
}: Pick<Cell, "kind" | "change"> & { readonly front: Front }): Cell["method"][] {
  const { deletable, secret } = FACTS[kind];
  if (change === "create" || change === "add") return ["POST"];
  if (change === "remove" || change === "middle" || change === "shift") {
    if (deletable) return front === "terraform" && change !== "remove" ? ["DELETE", "POST", "GET"] : ["DELETE"];
    return kind === "service" ? ["POST", "GET"] : ["GET"];
  }
  if ((change === "taint" || change === "replace") && deletable) return ["DELETE", "POST"];
  // Only Terraform sends a write request when an object changes its address, and only if the object has a secret.
  return front === "terraform" && secret ? ["POST", "DELETE", "GET"] : ["GET"];
}

/** Returns a cell with these parts and other parts from the seed, or undefined if no such cell exists. */
function drawn(
  draw: Draw,
  parts: Pick<Cell, "kind" | "change" | "fault"> & { readonly front: Front },
): Cell | undefined {
  const { kind, change, fault, front } = parts;
  for (let tries = 0; tries < 200; tries += 1) {
    const passed = draw.once(0.3);
    const cell: Cell = {
      kind,
      change,
      fault,
      form: draw.oneOf(formsOf(change)),
      method: draw.oneOf(methodsOf(parts)),
      nth: fault !== "none" && change === "create" ? draw.oneOf([1, 2]) : 1,
      lasting: fault !== "none" && draw.once(0.5),
      fronts: passed ? [draw.oneOf(FRONTS), front, draw.oneOf(FRONTS)] : [front, front, front],
      fresh: fault !== "none" && draw.once(0.25),
    };
    if (absence(cell) === undefined) return cell;
  }
  return undefined;
}

export interface Wanted {
  readonly fronts: readonly Front[];
  /** True selects crashes, which need separate processes. False selects all other faults. */
  readonly crashes: boolean;
}

/**
 * Returns the faults of a change. The seed decides whether a process dies before or after the API handles its request.
 */
function faultsOf(draw: Draw, crashes: boolean): FaultName[] {
  const dying = draw.oneOf(["before", "after"]);
  return FAULT_NAMES.filter((fault) => (crashes ? isCrash(fault) && fault.endsWith(dying) : !isCrash(fault)));
}

/** Returns one cell for each kind, change and fault of the fronts. The seed decides the other parts. */
export function allCells(seed: string, { fronts, crashes }: Wanted): Cell[] {
  const draw = new Draw(seed);
  const cells = fronts.flatMap((front) =>
    KINDS.flatMap((kind) =>
      CHANGES.flatMap((change) =>
        faultsOf(draw.of([front, kind, change].join(" ")), crashes).flatMap((fault) => {
          const parts = { kind, change, fault, front };
          return drawn(draw.of(JSON.stringify(parts)), parts) ?? [];
        }),
      ),
    ),
  );
  return unique(cells);
}

/** Returns a small set of cells that contains each pair of kind, change, fault and front. */
export function pairs(seed: string, { fronts, crashes }: Wanted): Cell[] {
  const faults = FAULT_NAMES.filter((fault) => isCrash(fault) === crashes);
  const rows = pairwise({ kind: KINDS, change: CHANGES, fault: faults, front: fronts });
  const draw = new Draw(seed);
  return unique(rows.flatMap((row) => drawn(draw.of(JSON.stringify(row)), row) ?? []));
}

const unique = (cells: readonly Cell[]) => [...new Map(cells.map((cell) => [nameOf(cell), cell])).values()];
