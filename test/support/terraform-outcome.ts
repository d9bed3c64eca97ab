/** Parses the machine-readable output of a Terraform command. */
import { expect } from "vitest";

/** Result of a process. */
export interface Ended {
  /** Exit code, or the signal that ended the process. */
  readonly code: number | string | null;
  readonly out: string;
  readonly err: string;
  /** Both streams in one text. */
  readonly text: string;
}

export interface Diagnosis {
  readonly severity: "error" | "warning";
  readonly summary: string;
  readonly detail: string;
  /** Address of the resource, if the diagnostic concerns a resource. */
  readonly address: string | undefined;
  /** Configuration line of the diagnostic, without indentation: `currency = "GBP"`. */
  readonly at: string | undefined;
  /** Highlighted part of the line: `"GBP"`. */
  readonly marked: string | undefined;
  readonly file: string | undefined;
}

/** Result of a command with `-json`. */
export interface Outcome extends Ended {
  /**
   * Planned actions by address, without no-ops: "import", "create", "update", "delete", "replace", "move", "remove".
   */
  readonly changes: Readonly<Record<string, string>>;
  /** Detected drift by address: "update" or "delete". */
  readonly drift: Readonly<Record<string, string>>;
  /** Applied actions by address, in Terraform's order. */
  readonly done: Readonly<Record<string, string>>;
  readonly diagnostics: readonly Diagnosis[];
  readonly errors: readonly Diagnosis[];
  readonly warnings: readonly Diagnosis[];
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** Terraform's words for a defect of the provider. They must never occur. */
const DEFECTS =
  /\bpanic\b|\bcrash|did not respond|Unsupported plugin method|produced inconsistent|produced an? (?:invalid|unexpected)|produced invalid|returned (?:an )?invalid|bug in the provider|Unrecognized remote plugin|Incompatible API version|Failed to load plugin schemas|unexpected EOF|Unsupported attribute type|goroutine \d|does not fit its schema|Report it with the command/i;

/** Fails the test if Terraform reported a defect of the provider, regardless of the command's result. */
export function expectSound({ text }: Ended, command: string): void {
  const defect = DEFECTS.exec(text.replaceAll(/\\u001b\[\d+m/g, ""))?.[0];
  expect(defect, `a defect of the provider in \`terraform ${command}\`:\n${text}`).toBeUndefined();
}

interface Message {
  readonly type?: string;
  readonly change?: { readonly resource: { readonly addr: string }; readonly action: string };
  readonly hook?: { readonly resource: { readonly addr: string }; readonly action: string };
  readonly diagnostic?: RawDiagnostic;
  readonly outputs?: Record<string, { readonly value?: unknown }>;
}

export interface RawDiagnostic {
  readonly severity: "error" | "warning";
  readonly summary: string;
  readonly detail?: string;
  readonly address?: string;
  readonly range?: { readonly filename: string };
  readonly snippet?: {
    readonly code: string;
    readonly highlight_start_offset: number;
    readonly highlight_end_offset: number;
  };
}

/** Parses the output of `plan -json`, `apply -json`, `destroy -json` or `refresh -json`. */
export function readOutcome(ended: Ended): Outcome {
  const messages = ended.out.split("\n").flatMap((line): Message[] => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const named = (type: string, part: "change" | "hook"): Record<string, string> =>
    Object.fromEntries(
      messages.flatMap((message) => {
        const { resource, action } = (message.type === type ? message[part] : undefined) ?? {};
        return resource === undefined || action === undefined || action === "noop" ? [] : [[resource.addr, action]];
      }),
    );
  const diagnostics = messages.flatMap(({ diagnostic }) =>
    diagnostic === undefined ? [] : readDiagnostic(diagnostic),
  );
  const outputs = messages.findLast(({ type }) => type === "outputs")?.outputs ?? {};
  return {
    ...ended,
    changes: named("planned_change", "change"),
    drift: named("resource_drift", "change"),
    done: named("apply_complete", "hook"),
    diagnostics,
    errors: diagnostics.filter(({ severity }) => severity === "error"),
    warnings: diagnostics.filter(({ severity }) => severity === "warning"),
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value])),
  };
}

/** Returns the diagnostic. Returns nothing for Terraform's warning that the provider is a development version. */
export function readDiagnostic(raw: RawDiagnostic): Diagnosis[] {
  if (raw.summary === "Provider development overrides are in effect") return [];
  const { code, highlight_start_offset: from, highlight_end_offset: to } = raw.snippet ?? {};
  return [
    {
      severity: raw.severity,
      summary: raw.summary,
      detail: raw.detail ?? "",
      address: raw.address,
      at: code?.trim(),
      marked: code?.slice(from, to),
      file: raw.range?.filename,
    },
  ];
}

interface ShownPlan {
  readonly resource_changes: readonly {
    readonly address: string;
    readonly change: Readonly<Record<"before" | "after" | "after_unknown", Record<string, unknown> | null>>;
  }[];
}

/**
 * Returns the attributes of an address that a plan changes, including attributes whose new value is unknown.
 * @param plan Output of `terraform show -json`.
 */
export function changedIn(plan: object, address: string): string[] {
  const { resource_changes: all } = plan as ShownPlan;
  const { before, after, after_unknown: unknown } = all.find((one) => one.address === address)?.change ?? {};
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {}), ...Object.keys(unknown ?? {})]);
  const same = (name: string) => JSON.stringify(before?.[name] ?? null) === JSON.stringify(after?.[name] ?? null);
  return [...names].filter((name) => unknown?.[name] === true || !same(name)).sort();
}
