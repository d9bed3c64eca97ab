/**
 * Actions, `action "hosting_…"`: requests about an existing service that belong to no declared value. A plan only warns. An action that
 * changes a service is planned and applied like a change of a resource, so each request has one definition. An action has no state:
 * before each request it reads the service, and no request repeats what is already true.
 */
import type { Remote } from "../../../core/kinds/index.ts";
import { passwordForm } from "../../../core/kinds/service/words.ts";
import { applyChange, declaredOutput, explain, planResource } from "../../../core/lifecycle/index.ts";
import {
  ApiError,
  conditionWarning,
  type Diagnostic,
  HostformError,
  hasUnknown,
  isError,
  type JsonObject,
  outputPlace,
  type SecretName,
  UNKNOWN,
  type ValueObject,
} from "../../../core/model/index.ts";
import type { Attribute, Attributes, Schema } from "../../../core/model/schema.ts";
import { exactlyOne, existing, filter, oneById, required } from "../data/define.ts";
import { panelSso } from "../data/services.ts";
import { problem, refuse } from "../messages.ts";
import { schemaOf } from "../schema/of-kind.ts";
import { RESETS, requireTarget } from "./action-target.ts";
import { applyContext, type Latest } from "./apply-context.ts";
import { labelOf, named, recordedAs, terraformKind } from "./attribute-mapping.ts";
import type { Enforcement } from "./enforcement.ts";
import { secretPlaceNotices } from "./notices.ts";
import { inputOf, invoicesFor } from "./plan.ts";
import type { ProviderScope } from "./provider-scope.ts";
import { validateResource } from "./validate.ts";

interface ActionContext {
  readonly scope: ProviderScope;
  readonly enforcement: Enforcement | undefined;
}

export interface Invocation extends ActionContext {
  /** Aborted when Terraform cancels the call. The provider then starts no new request. */
  readonly cancelled: AbortSignal | undefined;
  /** Shows a message in Terraform's output. Must not receive a secret. */
  progress(message: string): Promise<void>;
}

export interface ProviderAction {
  readonly name: string;
  readonly schema: Schema;
  /** Validates a configuration. Values may be unknown, and are null if they are not set. */
  check?(config: ValueObject): readonly Diagnostic[];
  /** Describes the effect. Sends only GETs. Values may be unknown. */
  plan(config: ValueObject, context: ActionContext): Promise<readonly Diagnostic[]>;
  /** @throws HostformError */
  invoke(config: JsonObject, invocation: Invocation): Promise<readonly Diagnostic[]>;
}

const kind = terraformKind("hosting_service");
const { password, secret_output } = schemaOf(kind).attributes as Record<"password" | "secret_output", Attribute>;
const SOMETHING = "a service whose id is known only after apply";
/** Name of the parameter of each action. */
const ID = "service_id";
/** Attributes of each action. */
const target = {
  [ID]: required("string", "Id of the service."),
  domain: filter(
    "string",
    "Expected domain: the action fails for a service with another domain. A saved plan then needs no shared store.",
  ),
};

/** Time in which a status can show that a request with a lost response has arrived, in milliseconds. */
const LOST_MS = 20_000;

type Effect = "suspend" | "unsuspend" | "reset_password";

interface Definition {
  readonly effect: Effect;
  readonly description: string;
  /** Attributes beside the id. */
  readonly attributes?: Attributes;
  /** Words for the running change, and for its result. */
  readonly doing: string;
  readonly done: string;
  /** Returns the attributes of the service that the action declares. */
  declare(config: ValueObject): ValueObject;
  check?(config: ValueObject): readonly Diagnostic[];
  /** Returns the reasons why the action does not suit the service. */
  suits?(config: ValueObject, live: JsonObject): readonly Diagnostic[];
}

/** Reads the service of an invocation. @throws HostformError if it is not the planned service. */
async function liveOf(config: JsonObject, scope: ProviderScope): Promise<Remote> {
  const id = String(config[ID]);
  const of = { noun: kind.noun, id, attribute: ID, source: `${kind.type}s` };
  const live = await existing(scope.account.get(kind, id), of);
  await requireTarget(kind, live, config, scope, false);
  return live;
}

/** Creates an action that changes a service. */
function changing({
  effect,
  description,
  attributes = {},
  doing,
  done,
  declare,
  check,
  suits,
}: Definition): ProviderAction {
  /** Plans the change. @throws HostformError if the status of the service forbids it. */
  async function changeOf(config: ValueObject, { id, attributes: read, phase }: Remote, scope: ProviderScope) {
    const live = recordedAs(kind, { ...read, id }, {});
    const what = named(kind, live.attributes);
    if (phase === "gone") refuse(problem("terraform.action/ended", { what, status: String(read.status ?? phase) }));
    const unsuited = suits?.(config, live.attributes) ?? [];
    if (unsuited.length > 0) refuse(...unsuited);
    const declared = declare(config);
    const observed = { status: "present", attributes: live.attributes, phase } as const;
    const invoices = await invoicesFor(kind, declared, observed, scope);
    const own = { config: declared, prior: live, observed, plans: [], invoices };
    const address = labelOf(kind, live.attributes);
    const { change, conditions = [], ...planned } = planResource({ ...inputOf(kind, own, scope), address });
    const notices = [...planned.diagnostics, ...conditions.map(conditionWarning)];
    const asked = { prior: change.before, planned: planned.result, isReplacement: false, isAction: true };
    // An unpaid invoice keeps the service suspended.
    const isHeld = declared.suspended === false && phase === "suspended" && change.requests === 0;
    if (isHeld || change.unfulfilled) refuse(problem("terraform.action/stuck", { what, reasons: conditions }));
    if (notices.some(isError)) refuse(...notices);
    return { change, what, declared, asked, notices, isEarly: change.deferred.length > 0 };
  }

  const early = (what: string, severity: Diagnostic["severity"]) =>
    problem("terraform.action/early", { what, severity });

  async function plan(config: ValueObject, { scope, enforcement }: ActionContext) {
    const places = await secretPlaceNotices(kind, config, true, scope.session);
    const effectOn = (what: string) => problem(`terraform.action/${effect}`, { what, place: placeOf(config) });
    if (hasUnknown(config[ID] ?? null)) return [effectOn(SOMETHING), problem("terraform.action/new", {}), ...places];
    const live = await oneById(kind.type, String(config[ID]), scope.session, ID);
    await requireTarget(kind, live, config, scope, true);
    const { change, what, asked, notices, isEarly } = await changeOf(config, live, scope);
    if (isEarly) return [early(what, "warning"), ...notices];
    if (change.requests === 0) return [problem("terraform.action/unneeded", { what, done }), ...notices];
    const judged = (await enforcement?.judge(kind, { ...asked, isLater: true }, scope)) ?? [];
    const open = effect === "reset_password" && (await scope.holdings.noted(RESETS, live.id));
    return [
      effectOn(what),
      ...(open ? [problem("terraform.action/reset_open", { what })] : []),
      ...notices,
      ...places,
      ...judged,
    ];
  }

  async function invoke(config: JsonObject, { scope, enforcement, cancelled, progress }: Invocation) {
    const id = String(config[ID]);
    const live = await liveOf(config, scope);
    const { change, what, declared, asked, notices, isEarly } = await changeOf(config, live, scope);
    if (isEarly) refuse(early(what, "error"), ...notices);
    if (change.requests === 0) {
      await progress(`${what} is already ${done}: no request was sent`);
      return [];
    }
    await enforcement?.require(kind, asked, scope);
    const { address } = change;
    const { suspended } = declared;
    const { context, latest } = await applyContext(kind, {
      name: undefined,
      config: {},
      prior: change.before,
      operation: "update",
      owner: { label: address },
      scope,
      cancelled,
    });
    const watch: typeof context.watch = {
      wait: async (...waited) => {
        await progress(`The host has queued the job of ${what}; waiting until it is complete`);
        return context.watch.wait(...waited);
      },
    };
    await progress(`${doing} ${what}`);
    /** Returns the changed service if its request has arrived although the response was lost. */
    async function arrived(error: unknown) {
      if (suspended === undefined || !(error instanceof ApiError) || error.reached !== "maybe") return null;
      await progress(`The response about ${what} was lost; reading the status of the service`);
      const done = (one: Remote) => one.phase === (suspended ? "suspended" : "live");
      const waiting = { address, id, done, timeoutMs: LOST_MS };
      const found = await scope.jobs.wait(scope.account, kind, "default", waiting).catch(() => undefined);
      return found !== undefined && done(found) ? found.attributes : null;
    }
    const problems: Diagnostic[] = [];
    let after: JsonObject | null = null;
    let isLost = false;
    const isWritten = declared.secret_output !== undefined;
    const wasOpen = isWritten && (await scope.holdings.noted(RESETS, id));
    if (isWritten) await scope.holdings.note(RESETS, id, true);
    try {
      const applied = await applyChange(kind, change, declared, { ...context, watch });
      problems.push(...applied.diagnostics, ...(applied.unclear ? [applied.unclear] : []));
      if (applied.awaiting === "job") problems.push(problem("terraform.action/job", { what }));
      if (applied.awaiting === undefined) after = applied.attributes;
    } catch (error) {
      if (!(error instanceof HostformError)) throw error;
      after = await arrived(error);
      isLost = suspended === undefined && error instanceof ApiError && error.reached === "maybe";
      if (isLost) problems.push(problem("terraform.action/lost", { what, place: placeOf(config) }));
      else if (after === null) problems.push(...explain(kind, address, declared as JsonObject, error));
    }
    if (after !== null) await progress(`${what} is ${done}`);
    if (after !== null && suspended !== undefined) {
      const { status = null, provisioning_status = null } = after;
      scope.acted.set(id, { suspended: suspended as boolean, status, provisioning_status });
    }
    scope.collections.changed(kind, undefined);
    const result = await recovered(problems, latest, what, scope);
    if (isWritten && !isLost && (after !== null || !wasOpen)) await scope.holdings.forget(RESETS, id);
    return result;
  }

  return {
    name: `hosting_${effect}`,
    schema: { version: 0, description, attributes: { ...target, ...attributes } },
    ...(check && { check }),
    plan,
    // Two actions of a run may change one service at the same time. The second one must read the result of the first one.
    invoke: (config, invocation) => {
      const { turns } = invocation.scope;
      const id = String(config[ID]);
      const own = (turns.get(id) ?? Promise.resolve()).then(() => invoke(config, invocation));
      turns.set(
        id,
        own.catch(() => undefined),
      );
      return own;
    },
  };
}

function placeOf(config: ValueObject): string | undefined {
  const output = declaredOutput(config);
  return output && outputPlace(output);
}

/** Writes a new password beside its destination if the destination has failed: no state holds the password. */
async function recovered(problems: Diagnostic[], { resource }: Latest, what: string, scope: ProviderScope) {
  const { id, generated_password: secret } = resource?.attributes ?? {};
  if (typeof secret !== "string") return problems;
  const place = placeOf(resource?.attributes ?? {}) ?? "";
  const file = `service-${String(id)}.password`;
  const name = { address: what, attribute: "generated_password" };
  const failed = (error: unknown) => {
    if (!(error instanceof HostformError)) throw error;
    return false;
  };
  const isSaved = await scope.session.secretOutputs.write({ file }, name, secret).then(() => true, failed);
  const reason = problems.find(({ code }) => code === "secret.output");
  const others = problems.filter((each) => each !== reason);
  return [problem("secret.output/action", { what, place, file: isSaved ? file : undefined, reason }), ...others];
}

const suspend = changing({
  effect: "suspend",
  description:
    "Suspends a service: its site goes offline, and the host still bills it. A suspended service receives no request. A resource with `suspended = false` ends the suspension at its next apply.",
  doing: "Suspending",
  done: "suspended",
  declare: () => ({ suspended: true }),
});

const unsuspend = changing({
  effect: "unsuspend",
  description:
    "Ends the suspension of a service, and fails while an invoice of the service is overdue. A service that is online receives no request.",
  doing: "Ending the suspension of",
  done: "online",
  declare: () => ({ suspended: false }),
});

const resetPassword = changing({
  effect: "reset_password",
  description:
    "Sets the control-panel password of a service. Shared and WordPress hosting take `password`. For Root VPS and Virtual Desktop, the host generates a password, and only `secret_output` receives it. Each invocation sets the password again.",
  attributes: {
    password: {
      ...password,
      description:
        "New password (shared and WordPress hosting), at least 8 characters. Write-only: takes ephemeral values. Terraform removes them before `-invoke`, which needs a variable that is sensitive and not ephemeral; the plan then contains its value.",
    },
    secret_output: {
      ...secret_output,
      description: "Destination of the generated password, as in `hosting_service`.",
    },
  },
  doing: "Setting the password of",
  done: "protected by the new password",
  declare: ({ password: given = null, secret_output: output = null }) => ({
    password_version: 1,
    ...(given !== null && { password: given }),
    ...(output !== null && { secret_output: output }),
  }),
  check: checkSecrets,
  suits({ password: given = null }, { product_type: type }) {
    const form = passwordForm(typeof type === "string" ? type : null);
    const [wrong, right] =
      given === null ? (["secret_output", "password"] as const) : (["password", "secret_output"] as const);
    if (form === "unknown" || (form === "given") === (given !== null)) return [];
    const about = { type: JSON.stringify(type), wrong, right, attribute: [wrong] };
    return [problem("config.invalid_value/action_password", about)];
  },
});

/** Checks `password` and `secret_output` like the attributes of the resource. */
function checkSecrets(config: ValueObject): Diagnostic[] {
  const own = validateResource(kind, config, true).filter(
    ({ attribute: [name = ""] = [] }) => (config[name] ?? null) !== null && name !== ID,
  );
  const isMissing = [config.password, config.secret_output].every((value = null) => value === null);
  if (isMissing) return [problem("config.missing_attribute/action_secret", {})];
  return [...own, ...exactlyOne(config, ["password", "secret_output"])];
}

const openPanel: ProviderAction = {
  name: "hosting_open_panel",
  schema: {
    version: 0,
    description:
      "Signs on to the control panel of a service with a one-time URL, in the browser of the machine on which Terraform runs. The URL signs on anyone who opens it, so no plan, state or log contains it.",
    attributes: {
      ...target,
      secret_output: {
        ...secret_output,
        description:
          "Destination of the URL in place of the browser, as in `hosting_service`. A command that is tested reads nothing.",
      },
    },
  },
  check: (config) => checkSecrets({ ...config, password: UNKNOWN }),
  async plan(config, { scope }) {
    const places = await secretPlaceNotices(kind, config, true, scope.session, "url");
    const place = placeOf(config) ?? "the browser of this machine";
    if (hasUnknown(config[ID] ?? null))
      return [problem("terraform.action/open_panel", { what: SOMETHING, place }), ...places];
    const live = await oneById(kind.type, String(config[ID]), scope.session, ID);
    await requireTarget(kind, live, config, scope, true);
    const { id, attributes } = live;
    return [problem("terraform.action/open_panel", { what: named(kind, { ...attributes, id }), place }), ...places];
  },
  async invoke(config, { scope, progress }) {
    const { session } = scope;
    const output = declaredOutput(config);
    const { id } = await liveOf(config, scope);
    const of: SecretName = { address: `service ${id}`, attribute: "url" };
    if (output !== undefined) await session.secretOutputs.check(output, of);
    const { url } = await panelSso.read({ [ID]: id }, session);
    if (output !== undefined) await session.secretOutputs.write(output, of, String(url));
    else {
      const failure = await session.browse(String(url));
      if (failure !== undefined) refuse(problem("terraform.action/browser", { failure }));
    }
    await progress(`The sign-on URL of service ${id} is in ${placeOf(config) ?? "the browser"}`);
    return [];
  },
};

export const actions: readonly ProviderAction[] = [suspend, unsuspend, resetPassword, openPanel];
