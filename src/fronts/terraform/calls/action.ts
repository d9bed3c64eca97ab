/** The calls about actions: decode, call the core, encode. An invocation reports its progress as a stream. */
import { breakCommands, escapeLine, isError, type JsonObject } from "../../../core/model/index.ts";
import { scopeOf } from "../resource/provider-scope.ts";
import { Deferred_Reason as Reason, Diagnostic_Severity as Severity } from "../wire/tfplugin6.gen.ts";
import { configured, validated } from "./block.ts";
import { type Calls, type Connection, diagnosed, requireSession, rpcs, streamed, unary } from "./call.ts";

export const calls: Calls = {
  ValidateActionConfig: unary(rpcs.validateActionConfig, (request) => validated("action", request)),

  PlanAction: unary(rpcs.planAction, async ({ actionType, config, clientCapabilities }, connection) => {
    // Terraform accepts no other reason for an action.
    if (connection.session?.isOpen === false && clientCapabilities?.deferralAllowed)
      return { deferred: { reason: Reason.PROVIDER_CONFIG_UNKNOWN } };
    const { warnings: noticed } = connection;
    const diagnostics = await diagnosed(
      async () => {
        const { type, values, found } = configured("action", actionType, config);
        return found.some(isError) ? found : [...found, ...(await type.plan(values, contextIn(connection)))];
      },
      { noticed },
    );
    return { diagnostics };
  }),

  InvokeAction: streamed(rpcs.invokeAction, async ({ actionType, config }, connection, { send, cancelled }) => {
    const progress = (message: string) =>
      send({ type: { case: "progress", value: { message: breakCommands(escapeLine(message)) } } });
    const { warnings: noticed } = connection;
    const diagnostics = await diagnosed(
      async () => {
        const { type, values, found } = configured("action", actionType, config);
        if (found.some(isError)) return found;
        return type.invoke(values as JsonObject, { ...contextIn(connection), cancelled, progress });
      },
      { noticed },
    );
    connection.activity.hasFailed ||= diagnostics.some(({ severity }) => severity === Severity.ERROR);
    await send({ type: { case: "completed", value: { diagnostics } } });
  }),
};

const contextIn = (connection: Connection) => ({
  scope: scopeOf(requireSession(connection), connection.activity),
  enforcement: connection.enforcement,
});
