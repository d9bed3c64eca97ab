import { type ITerraformDependable, type TerraformProvider, TerraformStack } from "cdktf";
import { Construct } from "constructs";
import { Webhook } from "../../../bindings/cdktf/lib/webhook/index.ts";
import { refusal, webhookMistakes, withPath } from "./checks.ts";
import { type SecretPlace, secretOutput } from "./secrets.ts";
import type { EventName } from "./words.ts";

/** Properties of an {@link EventSubscription}. */
export interface EventSubscriptionConfig {
  /** Address that receives the events, http or https. */
  readonly url: string;
  /** Events to deliver; order and repetition do not matter. */
  readonly events: readonly EventName[];
  /**
   * Where the signing secret goes, which the API shows once: a file, a line of an env file, a program; or `"state"`, which
   * keeps it in the state, marked as sensitive.
   */
  readonly secret: SecretPlace;
  /** The provider, where a stack has several. */
  readonly provider?: TerraformProvider;
  /** Constructs to create before it. */
  readonly dependsOn?: ITerraformDependable[];
}

/**
 * A subscription to events of the account, with a place for its signing secret.
 *
 * The API cannot change a subscription. A change replaces it, with a new secret: the new one is created before the old one is
 * deleted, so that no event is lost.
 */
export class EventSubscription extends Construct {
  /** The webhook itself, for its other properties. */
  readonly webhook: Webhook;
  private readonly inState: boolean;

  /** @throws Error, with the path of the construct, for an invalid place of the secret */
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

  /** The id that the API gives to the subscription. */
  get id(): string {
    return this.webhook.id;
  }

  /**
   * The signing secret, a sensitive value.
   * @throws Error unless it is kept in the state
   */
  get secret(): string {
    if (this.inState) return this.webhook.secret;
    throw refusal(
      this.node.path,
      'the secret is not kept in the state, so no reference to it is possible; secret: "state" keeps it there',
    );
  }

  /** Fingerprint of the secret, which does not show it; null while the secret is kept in the state. */
  get secretFingerprint(): string {
    return this.webhook.secretFingerprint;
  }
}
