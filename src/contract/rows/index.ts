/** The gaps of the specification, as a server was seen to fill them. */
import type { ContractRow } from "../../core/model/index.ts";
import type { Survey, Written } from "../sight.ts";
import { SWITCHES, type Switch, type SwitchName, type ToldSwitch } from "../switches.ts";
import { errorRows } from "./errors.ts";
import { listRows } from "./lists.ts";
import { recordRows } from "./records.ts";
import type { Look, Looks } from "./seen.ts";
import { wordRows } from "./words.ts";

const LOOKS: Looks<ToldSwitch> = { ...listRows, ...errorRows, ...wordRows, ...recordRows };

/** One row for each switch, in the order of the table. */
export function contractRows(survey: Survey, written: Written | undefined): readonly ContractRow[] {
  return (Object.keys(SWITCHES) as SwitchName[]).map((name) => rowOf(name, survey, written));
}

function rowOf(name: SwitchName, survey: Survey, written: Written | undefined): ContractRow {
  const { values, told }: Switch = SWITCHES[name];
  const row = { switch: name, default: values[0] };
  if (typeof told !== "string") return { ...row, finding: "untold", evidence: told.never };
  if (told === "write" && written === undefined) {
    return { ...row, finding: "untold", evidence: "Reading cannot tell; --write can." };
  }
  const look: Look<SwitchName> = LOOKS[name as ToldSwitch];
  const seen = look(survey, written);
  if ("value" in seen) return { ...row, finding: "seen", value: seen.value, evidence: seen.evidence };
  if ("other" in seen) return { ...row, finding: "other", evidence: seen.other };
  return { ...row, finding: "nothing", evidence: seen.nothing };
}

/** What makes a sandbox like the server: `envelope=data_meta,status=upper_snake`. Empty: it is so by default. */
export function profileOf(rows: readonly ContractRow[]): string {
  return rows
    .filter((row) => row.finding === "seen" && row.value !== row.default)
    .map((row) => `${row.switch}=${row.value}`)
    .join(",");
}
