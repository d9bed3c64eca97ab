/** Blocks whose type has no state: data sources, ephemeral resources, lists and actions. */
import { decodeDynamic } from "../codec/dynamic.ts";
import { checkSource } from "../data/define.ts";
import { dataSources, ephemeralResources } from "../data/index.ts";
import { listResources } from "../data/lists.ts";
import { problem, refuse } from "../messages.ts";
import { actions } from "../resource/action.ts";
import { refersToPending } from "../resource/notices.ts";
import type { DynamicValue } from "../wire/tfplugin6.gen.ts";
import { diagnosed } from "./call.ts";

const TYPES = { data: dataSources, ephemeral: ephemeralResources, list: listResources, action: actions };

export type Block = keyof typeof TYPES;

type TypeOf<B extends Block> = (typeof TYPES)[B][number];

/** Returns the type of a block, its decoded configuration, and the problems of the configuration. */
export function configured<B extends Block>(block: B, name: string, config: DynamicValue | undefined) {
  const types: readonly TypeOf<B>[] = TYPES[block];
  const type =
    types.find((one) => one.name === name) ?? refuse(problem("internal/absent", { what: `${block} ${name}` }));
  const values = decodeDynamic(config, type.schema.attributes) ?? {};
  return { type, values, found: [...refersToPending(values), ...checkSource(type, values, block)] };
}

/** Answers the validation of a block. */
export const validated = async (block: Block, { typeName, config }: { typeName: string; config?: DynamicValue }) => ({
  diagnostics: await diagnosed(() => configured(block, typeName, config).found),
});
