import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { circles } from "../../core/model/circles.ts";
import { type Desired, type Diagnostic, type Guards, resourceOf, type State } from "../../core/model/index.ts";
import type { TfBlock, TfDocument } from "../../report/index.ts";
import type { ResourceContext } from "./context.ts";
import { outputBlocks } from "./output-block.ts";
import { type WrittenResource, writeResource } from "./resource.ts";
import { type Places, providerBlocks, terraformBlock } from "./settings.ts";
import type { Attributes } from "./value.ts";
import { Variables } from "./variables.ts";

/** What a configuration is made from. */
export interface ConfigurationParts {
  readonly desired: Desired;
  /** What is recorded: it decides which orders still need a name. */
  readonly state: State;
  readonly kinds: Kinds;
  /** The attributes of a kind, as the provider knows them. */
  attributesOf(kind: Kind): Attributes;
  /** The declaration's files, for the first line. */
  readonly files: readonly string[];
  readonly places: Places;
  /** Terraform runs in the project's folder. */
  readonly inProject: boolean;
  readonly insecureHttp: boolean;
}

/**
 * The declaration as a Terraform configuration: the same resources at the same addresses, so that the state of one is that
 * of the other. Whatever has no counterpart is in the diagnostics, and in a comment at its place; an error means that
 * there is no configuration that says the same.
 */
export function terraformConfiguration(parts: ConfigurationParts): {
  readonly document: TfDocument;
  readonly diagnostics: readonly Diagnostic[];
} {
  const { desired, state, kinds, places, inProject } = parts;
  const variables = new Variables();
  const context: ResourceContext = {
    variables,
    attributesOf: (type) => {
      const kind = kinds.get(type);
      return kind && parts.attributesOf(kind);
    },
    declared: new Map(desired.resources.map((resource) => [resource.address, resource])),
    state,
    inProject,
  };
  const groups = Map.groupBy(desired.resources, ({ address }) => resourceOf(address));
  const written = new Map<string, WrittenResource>();
  for (const [name, instances] of groups) {
    const kind = kinds.get(instances[0]?.type ?? "");
    if (kind !== undefined) written.set(name, writeResource(kind, name, instances, context));
  }
  const resources = [...written.values()].flatMap(({ blocks }) => blocks);
  const outputs = outputBlocks(desired.outputs ?? [], context);
  const terraform = terraformBlock(desired, places, leastVersion(variables, resources));
  const providers = providerBlocks(desired, places, parts.insecureHttp);
  const limits = guardsWarning(desired.guards);
  return {
    document: {
      comments: [...header(parts), ...(limits === undefined ? [] : [`${limits.summary}. ${limits.detail}`])],
      blocks: [terraform.block, ...variables.blocks(), ...providers, ...resources, ...outputs.blocks],
    },
    diagnostics: [
      ...(limits === undefined ? [] : [limits]),
      ...terraform.diagnostics,
      ...[...written.values()].flatMap(({ diagnostics }) => diagnostics),
      ...outputs.diagnostics,
      ...circular(written),
    ],
  };
}

function header({ desired, files }: ConfigurationParts): string[] {
  const evaluated = desired.backend !== undefined || [...desired.providers.values()].some(({ baseUrl }) => baseUrl);
  return [
    `Written by \`hostform export\` from ${files.join(", ")}: the same resources at the same addresses.`,
    "`terraform plan` shows what `hostform plan` shows, on the same state.",
    ...(evaluated
      ? ["What accounts and backend take from the environment in YAML is written out as it was when this was exported."]
      : []),
  ];
}

/** The oldest Terraform that understands all of it; undefined: any that the provider works with. */
function leastVersion(variables: Variables, blocks: readonly TfBlock[]): string | undefined {
  if (variables.secrets) return "1.11";
  return blocks.some(({ block }) => block === "import") ? "1.5" : undefined;
}

function guardsWarning(guards: Guards | undefined): Diagnostic | undefined {
  if (guards === undefined) return undefined;
  const { ranges = {}, maxOrders, maxSpend, maxRemovals, maxRemovalsPercent } = guards;
  const spend = Object.entries(maxSpend ?? {}).map(([currency, amount]) => `${currency} ${amount}`);
  const limits = [
    ...(maxOrders === undefined ? [] : [`max_orders: ${maxOrders}`]),
    ...(spend.length === 0 ? [] : [`max_spend: ${spend.join(", ")}`]),
    ...(maxRemovals === undefined ? [] : [`max_removals: ${maxRemovals}`]),
    ...(maxRemovalsPercent === undefined ? [] : [`max_removals_percent: ${maxRemovalsPercent}`]),
  ];
  const [range] = Object.values(ranges);
  if (limits.length === 0) return undefined;
  return {
    severity: "warning",
    code: "terraform.export",
    summary: "The guards have no counterpart in Terraform and are left out",
    detail: `They limit what one run of hostform does: ${limits.join("; ")}.`,
    fix: "Check the plans in another way: with a policy on `terraform show -json`, for example.",
    ...(range && { range }),
  };
}

/** Circles between resources that are none between their instances. */
function circular(written: ReadonlyMap<string, WrittenResource>): Diagnostic[] {
  const graph = new Map([...written].map(([name, { needs }]) => [name, [...needs.keys()].filter((to) => to !== name)]));
  return circles(graph).map(({ nodes }): Diagnostic => {
    const [first = ""] = nodes;
    const last = nodes.at(-1) ?? first;
    const range = written.get(last)?.needs.get(first);
    return {
      severity: "error",
      code: "terraform.export",
      summary: `References form a circle in Terraform: ${[...nodes, first].join(" -> ")}`,
      detail: "Instances of one name are one block with `for_each` there, and blocks cannot refer to each other.",
      fix: "Write the value itself in place of one of the references.",
      address: last,
      ...(range && { range }),
    };
  });
}
