/** The calls of `terraform query` and of generated configuration: decode, call the core, encode. */
import { type Diagnostic, isError, type JsonObject } from "../../../core/model/index.ts";
import { decodeDynamic, encodeDynamic } from "../codec/dynamic.ts";
import { listed } from "../data/lists.ts";
import {
  generatedConfig,
  terraformKind,
  withheldByImport,
  withNull,
  withPriceText,
} from "../resource/attribute-mapping.ts";
import { scopeOf } from "../resource/provider-scope.ts";
import { importable } from "../resource/read.ts";
import { identityIn } from "../schema/identity.ts";
import { schemaOf } from "../schema/of-kind.ts";
import type { DynamicValue } from "../wire/tfplugin6.gen.ts";
import { configured, validated } from "./block.ts";
import { type Calls, diagnosed, requireSession, rpcs, streamed, toPath, unary } from "./call.ts";

export const calls: Calls = {
  ValidateListResourceConfig: unary(rpcs.validateListResourceConfig, async (request) => {
    const { diagnostics } = await validated("list", request);
    // Terraform locates the path from the `list` block, which contains the block `config`.
    for (const { attribute } of diagnostics) attribute?.steps.unshift(...toPath(["config"]).steps);
    return { diagnostics };
  }),

  ListResource: streamed(
    rpcs.listResource,
    async ({ typeName, config, includeResourceObject, limit }, connection, { send, cancelled }) => {
      const { warnings: noticed } = connection;
      const kind = terraformKind(typeName);
      const notices = () => diagnosed(() => [], { kind, noticed });
      const failures = await diagnosed(
        async () => {
          const { type, values, found } = configured("list", typeName, config);
          if (found.some(isError)) return found;
          const { attributes } = schemaOf(kind);
          const held = withheldByImport(kind);
          const scope = scopeOf(requireSession(connection), connection.activity);
          const warn = (reason: Diagnostic) => noticed.push(reason);
          for await (const { object, displayName } of listed(type, values as JsonObject, scope, {
            limit: Number(limit),
            cancelled,
            warn,
          })) {
            const state = includeResourceObject ? await importable(kind, object, scope.account) : undefined;
            await send({
              identity: identityIn(kind, { ...object.attributes, id: object.id }, scope.session),
              displayName,
              ...(state && {
                resourceObject: encodeDynamic(
                  withPriceText(attributes, withNull(state, held), scope.session),
                  attributes,
                ),
              }),
              diagnostic: await notices(),
            });
          }
          return found;
        },
        { kind, noticed },
      );
      if (failures.length > 0) await send({ diagnostic: failures });
    },
  ),

  GenerateResourceConfig: unary(rpcs.generateResourceConfig, async ({ typeName, state: given }) => {
    const kind = terraformKind(typeName);
    const { attributes } = schemaOf(kind);
    let config: DynamicValue | undefined = given;
    const diagnostics = await diagnosed(
      () => {
        const state = decodeDynamic(given, attributes) as JsonObject | null;
        if (state === null) return [];
        const generated = generatedConfig(kind, state);
        config = encodeDynamic(generated.config, attributes);
        return generated.diagnostics;
      },
      { kind },
    );
    return { config, diagnostics };
  }),
};
