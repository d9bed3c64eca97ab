/** Diagnostics about the content of an open state. */
import { type Diagnostic, warningOf } from "../core/model/index.ts";
import type { OpenState } from "../core/record/index.ts";
import { escapeLine, plural } from "../report/index.ts";

/** Returns the notices of a plan about its state. */
export const stateNotices = (store: OpenState): Diagnostic[] => [
  ...store.warnings,
  ...unmanaged(store),
  ...tainted(store),
];

/** Warns about objects that Terraform replaces in its next apply. */
function tainted({ tainted: addresses }: OpenState): Diagnostic[] {
  return addresses.map((address) =>
    warningOf("state.tainted", `Terraform has marked ${escapeLine(address)} as tainted`, {
      detail: "hostform does not replace the object, but the next apply of Terraform does.",
      remedies: ["To keep the object, untaint it in Terraform."],
    }),
  );
}

/** Reports the objects of other providers. */
function unmanaged({ unmanaged: addresses }: OpenState): Diagnostic[] {
  if (addresses.length === 0) return [];
  const summary = `The state holds ${plural(addresses.length, "object")} that hostform does not manage`;
  const detail = addresses.slice(0, 5).map(escapeLine).join(", ");
  return [
    warningOf("state.unmanaged", summary, {
      detail,
      remedies: ["Nothing to do: Terraform's resources stay in the state."],
    }),
  ];
}
