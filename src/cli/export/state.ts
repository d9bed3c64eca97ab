import type { Diagnostic, State } from "../../core/model/index.ts";
import { plural } from "../../report/index.ts";
import { stateEncryption } from "../encryption.ts";
import type { Invocation } from "../io.ts";
import { stateStore } from "../project.ts";

/**
 * The state as Terraform would find it, with what is in the way: Terraform reads neither a journal nor an encrypted state.
 * Takes no lock.
 */
export async function stateForExport(invocation: Invocation): Promise<{
  readonly state: State;
  readonly diagnostics: readonly Diagnostic[];
}> {
  const store = await stateStore(invocation).open({ write: false, command: "export", timeoutMs: 0 });
  try {
    const { state, recovered, warnings } = store;
    const { key } = stateEncryption(invocation);
    // With a key, a state in the clear is warned of.
    const sealed = key !== undefined && state.lineage !== "" && !warnings.some(({ code }) => code === "state.key");
    return { state, diagnostics: [...(sealed ? [ENCRYPTED] : []), ...(recovered.length > 0 ? [left(recovered)] : [])] };
  } finally {
    await store.close();
  }
}

const ENCRYPTED: Diagnostic = {
  severity: "warning",
  code: "terraform.export",
  summary: "The state is encrypted, and Terraform cannot read it",
  fix: "Write it in the clear before Terraform uses it: `hostform state decrypt`.",
};

function left(recovered: readonly string[]): Diagnostic {
  return {
    severity: "warning",
    code: "terraform.export",
    summary: `An earlier run was stopped: ${plural(recovered.length, "resource")} of the state still ${recovered.length === 1 ? "is" : "are"} in its journal`,
    detail: "Terraform does not read the journal: it would order and create again what is only there.",
    fix: "Run `hostform apply` before Terraform uses the state.",
  };
}
