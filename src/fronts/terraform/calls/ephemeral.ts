import { fail, type JsonObject } from "../../../core/model/index.ts";
import { decodeDynamic, encodeDynamic } from "../codec/dynamic.ts";
import type { EphemeralResource } from "../contract.ts";
import { ephemeralResources } from "../ephemeral/index.ts";
import {
  CloseEphemeralResource_RequestSchema,
  CloseEphemeralResource_ResponseSchema,
  OpenEphemeralResource_RequestSchema,
  OpenEphemeralResource_ResponseSchema,
  RenewEphemeralResource_RequestSchema,
  RenewEphemeralResource_ResponseSchema,
  ValidateEphemeralResourceConfig_RequestSchema,
  ValidateEphemeralResourceConfig_ResponseSchema,
} from "../wire/tfplugin6.gen.ts";
import { type Calls, requireSession } from "./connection.ts";
import { failureOf, inDoubt, toDiagnostics } from "./diagnostics.ts";
import { unary } from "./unary.ts";

const byName = new Map(ephemeralResources.map((resource) => [resource.name, resource]));

function resourceOf(name: string): EphemeralResource {
  return byName.get(name) ?? fail("internal", `This provider has no ephemeral resource ${name}`);
}

/** The calls about ephemeral resources. Nothing of them is kept, so there is nothing to renew or to close. */
export const calls: Calls = {
  ValidateEphemeralResourceConfig: unary(
    ValidateEphemeralResourceConfig_RequestSchema,
    ValidateEphemeralResourceConfig_ResponseSchema,
    ({ typeName, config }) => {
      try {
        // The schema says all: what fits it is right.
        decodeDynamic(config, resourceOf(typeName).schema.attributes);
        return {};
      } catch (error) {
        return { diagnostics: toDiagnostics(failureOf(error)) };
      }
    },
  ),

  OpenEphemeralResource: unary(
    OpenEphemeralResource_RequestSchema,
    OpenEphemeralResource_ResponseSchema,
    async ({ typeName, config }, connection) => {
      try {
        const { schema, open } = resourceOf(typeName);
        // Terraform opens once everything is known.
        const known = (decodeDynamic(config, schema.attributes) ?? {}) as JsonObject;
        const unsettled = inDoubt(known);
        if (unsettled.length > 0) return { diagnostics: toDiagnostics(unsettled) };
        return { result: encodeDynamic(await open(known, requireSession(connection)), schema.attributes) };
      } catch (error) {
        return { diagnostics: toDiagnostics(failureOf(error)) };
      }
    },
  ),

  RenewEphemeralResource: unary(
    RenewEphemeralResource_RequestSchema,
    RenewEphemeralResource_ResponseSchema,
    ({ private: mark }) => (mark === undefined ? {} : { private: mark }),
  ),

  CloseEphemeralResource: unary(
    CloseEphemeralResource_RequestSchema,
    CloseEphemeralResource_ResponseSchema,
    () => ({}),
  ),
};
