// All rows, in the order of the table.
import type { Row } from "../row.ts";
import { applyRows } from "./apply.ts";
import { estimateRows } from "./estimate.ts";
import { limitRows } from "./limits.ts";
import { planRows } from "./plan.ts";
import { providerStartRows } from "./provider-start.ts";
import { requestRows } from "./requests.ts";
import { sandboxRows } from "./sandbox.ts";
import { sideBySideRows } from "./side-by-side.ts";
import { startRows } from "./start.ts";

export const ROWS: readonly Row[] = [
  ...startRows,
  ...planRows,
  ...sideBySideRows,
  ...providerStartRows,
  ...applyRows,
  ...requestRows,
  ...limitRows,
  ...estimateRows,
  ...sandboxRows,
];
