/** Models how Terraform core validates, plans and invokes an action. */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { hasUnknown, type Value, type ValueObject } from "../../src/core/model/index.ts";
import { calls } from "../../src/fronts/terraform/calls/action.ts";
import type { Connection } from "../../src/fronts/terraform/calls/call.ts";
import { catalogue } from "../../src/fronts/terraform/catalogue.ts";
import { encodeDynamic } from "../../src/fronts/terraform/codec/dynamic.ts";
import {
  Deferred_Reason,
  InvokeAction_EventSchema,
  InvokeAction_RequestSchema,
  PlanAction_RequestSchema,
  PlanAction_ResponseSchema,
  ValidateActionConfig_RequestSchema,
  ValidateActionConfig_ResponseSchema,
} from "../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { isRefusal, NOTHING, refuse, type Said, said } from "./terraform-core-wire.ts";

export interface Invoked {
  readonly progress: readonly string[];
  readonly said: readonly Said[];
}

interface InvokeOptions {
  readonly cancelled?: AbortSignal;
  /** False: an earlier process has planned the action. Default: this process plans it first, as Terraform always does. */
  readonly plans?: boolean;
  /** Called with each progress message, before the provider can send the next one. */
  readonly onProgress?: (message: string) => void | Promise<void>;
}

/** One block `action "TYPE" "NAME"`, and the provider process that serves it. */
export class ActionCore {
  readonly #connection: Connection;
  readonly #type: string;

  constructor(connection: Connection, type: string) {
    this.#connection = connection;
    this.#type = type;
  }

  async validate(config: ValueObject): Promise<readonly Said[]> {
    const { diagnostics } = await this.#call(
      "ValidateActionConfig",
      [ValidateActionConfig_RequestSchema, ValidateActionConfig_ResponseSchema],
      { typeName: this.#type, config: this.#encoded(config) },
    );
    return diagnostics.map(said);
  }

  /** @param deferralAllowed True with `-allow-deferral`. */
  async plan(config: ValueObject, deferralAllowed = false): Promise<{ said: readonly Said[]; isDeferred: boolean }> {
    const { diagnostics, deferred } = await this.#call(
      "PlanAction",
      [PlanAction_RequestSchema, PlanAction_ResponseSchema],
      { actionType: this.#type, config: this.#encoded(config), clientCapabilities: { deferralAllowed } },
    );
    const isOther = deferred !== undefined && deferred.reason !== Deferred_Reason.PROVIDER_CONFIG_UNKNOWN;
    refuse(`plan of ${this.#type}`, [
      ...(deferred !== undefined && !deferralAllowed ? ["the client allows no deferral"] : []),
      ...(isOther ? ["an action can be deferred only for an unknown provider configuration"] : []),
    ]);
    return { said: diagnostics.map(said), isDeferred: deferred !== undefined };
  }

  /** Invokes the action, and receives the events of its stream until it ends. */
  async invoke(config: ValueObject, { cancelled, plans = true, onProgress }: InvokeOptions = {}): Promise<Invoked> {
    if (hasUnknown(config as Value)) throw new Error("Terraform invokes no action with unknown values");
    if (plans) await this.plan(config);
    const request = create(InvokeAction_RequestSchema, { actionType: this.#type, config: this.#encoded(config) });
    const progress: string[] = [];
    const completed: (readonly Said[])[] = [];
    const send = async (bytes: Uint8Array) => {
      const { type } = fromBinary(InvokeAction_EventSchema, bytes);
      if (type.case === "progress") {
        refuse(`invocation of ${this.#type}`, completed.length > 0 ? ["progress after the completion"] : []);
        progress.push(type.value.message);
        await onProgress?.(type.value.message);
      } else if (type.case === "completed") completed.push(type.value.diagnostics.map(said));
      else refuse(`invocation of ${this.#type}`, ["an event without a type"]);
    };
    const last = await calls.InvokeAction?.(toBinary(InvokeAction_RequestSchema, request), this.#connection, {
      ...(cancelled && { cancelled }),
      send,
    });
    refuse(`invocation of ${this.#type}`, [
      ...(completed.length === 1 ? [] : [`${completed.length} completions`]),
      ...(last === undefined ? [] : ["a response outside of the stream"]),
    ]);
    return { progress, said: completed[0] ?? [] };
  }

  /** Runs `terraform apply -invoke`: the invocation follows a plan without errors. */
  async run(config: ValueObject, options?: InvokeOptions): Promise<Invoked> {
    for (const found of [await this.validate(config), (await this.plan(config)).said])
      if (found.some(isRefusal)) return { progress: [], said: found };
    return this.invoke(config, { ...options, plans: false });
  }

  #encoded(config: ValueObject) {
    const { attributes } = catalogue.actions.get(this.#type) ?? { attributes: {} };
    const names = Object.keys(attributes);
    const stray = Object.keys(config).filter((name) => !names.includes(name));
    if (stray.length > 0) throw new Error(`${this.#type} has no ${stray.join(", ")}`);
    return encodeDynamic(Object.fromEntries(names.map((name) => [name, config[name] ?? null])), attributes);
  }

  async #call<I extends DescMessage, O extends DescMessage>(
    name: string,
    [input, output]: readonly [I, O],
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    const bytes = await calls[name]?.(toBinary(input, create(input, request)), this.#connection);
    return fromBinary(output, bytes ?? NOTHING);
  }
}
