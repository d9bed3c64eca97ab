/** The calls about actions: decode, call the core, encode. An invocation reports its progress as a stream. */
import { breakCommands, escapeLine, isError, type JsonObject } from "../../../core/model/index.ts";
import { decodeDynamic } from "../codec/dynamic.ts";
import { checkSource } from "../data/define.ts";
import { problem, refuse } from "../messages.ts";
import { actions } from "../resource/action.ts";
import { refersToPending } from "../resource/notices.ts";
import { scopeOf } from "../resource/provider-scope.ts";
import { Deferred_Reason as Reason, Diagnostic_Severity as Severity } from "../wire/tfplugin6.gen.ts";
import { type Calls, type Connection, diagnosed, requireSession, rpcs, streamed, unary } from "./call.ts";

export const calls: Calls = {
  ValidateActionConfig: unary(rpcs.validateActionConfig, async ({ typeName, config }) => ({
    diagnostics: await diagnosed(() => {
      const { action, values } = asked(typeName, config);
      return checkSource(action, values, "action");
    }),
  })),

  PlanAction: unary(rpcs.planAction, async ({ actionType, config, clientCapabilities }, connection) => {
    // Terraform accepts no other reason for an action.
    if (connection.session?.isOpen === false && clientCapabilities?.deferralAllowed)
      return { deferred: { reason: Reason.PROVIDER_CONFIG_UNKNOWN } };
    const { warnings: noticed } = connection;
    const diagnostics = await diagnosed(
      async () => {
        const { action, values } = asked(actionType, config);
        const found = [...refersToPending(values), ...checkSource(action, values, "action")];
        return found.some(isError) ? found : [...found, ...(await action.plan(values, contextIn(connection)))];
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
        const { action, values } = asked(actionType, config);
        const found = checkSource(action, values, "action");
        if (found.some(isError)) return found;
        return action.invoke(values as JsonObject, { ...contextIn(connection), cancelled, progress });
      },
      { noticed },
    );
    connection.activity.hasFailed ||= diagnostics.some(({ severity }) => severity === Severity.ERROR);
    await send({ type: { case: "completed", value: { diagnostics } } });
  }),
};

function asked(name: string, config: Parameters<typeof decodeDynamic>[0]) {
  const action =
    actions.find((one) => one.name === name) ?? refuse(problem("internal/absent", { what: `action ${name}` }));
  return { action, values: decodeDynamic(config, action.schema.attributes) ?? {} };
}

const contextIn = (connection: Connection) => ({
  scope: scopeOf(requireSession(connection), connection.activity),
  enforcement: connection.enforcement,
});
