import { type ITerraformDependable, type TerraformProvider, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import { Webhook } from "../../../bindings/cdktf/lib/webhook/index.ts";
import { refusal, webhookMistakes, withPath } from "./checks.ts";
import { type SecretPlace, secretOutput } from "./secrets.ts";
import type { EventName } from "./words.ts";

/** Properties of an {@link EventSubscription}. */
export interface EventSubscriptionConfig {
  /** URL that receives the events, http or https. */
  readonly url: string;
  /** Events to deliver. The order and repeated names do not matter. */
  readonly events: readonly EventName[];
  /**
   * Destination of the signing secret, which the API returns only once: a file, a line of an env file, a program, or
   * `"state"`. `"state"` keeps the secret in the state as a sensitive value.
   */
  readonly secret: SecretPlace;
  /** Provider of the webhook. Required if a stack has several providers. */
  readonly provider?: TerraformProvider;
  /** Constructs to create before this one. */
  readonly dependsOn?: ITerraformDependable[];
}

/**
 * A subscription to events of the account, with a destination for its signing secret.
 *
 * The API cannot change a subscription, so a change replaces it and creates a new secret. The new subscription is created before
 * the old one is deleted, so that no event is lost.
 */
export class EventSubscription extends Construct {
  /** The webhook, for its other properties. */
  readonly webhook: Webhook;
  private readonly inState: boolean;

  /** @throws Error, with the path of the construct, for an invalid destination of the secret */
  constructor(scope: Construct, id: string, props: EventSubscriptionConfig) {
    super(scope, id);
    this.inState = props.secret === "state";
    this.webhook = new Webhook(this, "Default", {
      url: props.url,
      events: [...new Set(props.events)],
      secretOutput: withPath(this, () => secretOutput(props.secret, TerraformStack.of(this))),
      provider: props.provider,
      dependsOn: props.dependsOn,
      lifecycle: { createBeforeDestroy: true },
    });
    this.node.addValidation({ validate: () => webhookMistakes(this.webhook) });
  }

  /** Id of the subscription in the API. */
  get id(): string {
    return this.webhook.id;
  }

  /**
   * Signing secret as a sensitive value.
   * @throws Error unless the destination is `"state"`
   */
  get secret(): string {
    if (this.inState) return this.webhook.secret;
    throw refusal(
      this.node.path,
      'the secret is not kept in the state, so no reference to it is possible; secret: "state" keeps it there',
    );
  }

  /** Fingerprint of the secret, which does not reveal it. Null if the destination is `"state"`. */
  get secretFingerprint(): string {
    return this.webhook.secretFingerprint;
  }
}
