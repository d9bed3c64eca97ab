/**
 * Where commands that receive deliveries take the signing secrets from (§6 Signature). In: `--secret-env`,
 * `--secret-file`, `--webhook`. Out: the secrets as they are at this moment, so that a rotation needs no restart.
 */
import { fail, HostformError } from "../../core/model/index.ts";
import { renderDiagnostics } from "../../report/index.ts";
import type { Invocation } from "../io.ts";
import { fileSource, type SecretSource, type SigningSecret, stateSource, variableSource } from "./secret-places.ts";

export type { SigningSecret } from "./secret-places.ts";

/** Each may be given several times; all secrets that are found are accepted. */
export interface SecretFlags {
  /** Environment variables: one secret each. */
  readonly secretEnv?: readonly string[];
  /** Files, relative to the working folder: one secret a line. */
  readonly secretFile?: readonly string[];
  /** Addresses in the state: `hosting_webhook.billing`. */
  readonly webhook?: readonly string[];
}

/** The ways to name a secret, for sentences. */
export const SECRET_OPTIONS = "--secret-env NAME, --secret-file FILE or --webhook ADDRESS";

/** The secrets that deliveries may be signed with. */
export class SigningSecrets {
  readonly #invocation: Invocation;
  readonly #sources: readonly SecretSource[];
  /** What each source held when it could last be read. */
  readonly #last: (readonly SigningSecret[])[] = [];
  /** Sources that cannot be read at present; each is told once. */
  readonly #failing = new Set<number>();
  #reading: Promise<readonly SigningSecret[]> | undefined;

  constructor(invocation: Invocation, sources: readonly SecretSource[]) {
    this.#invocation = invocation;
    this.#sources = sources;
  }

  /** Reads every source for the first time. @throws HostformError of the first that cannot be read. */
  async open(): Promise<readonly SigningSecret[]> {
    for (const [at, source] of this.#sources.entries()) this.#last[at] = await source();
    return this.#last.flat();
  }

  /**
   * The secrets as they are now, those of `--secret-env` first, then of `--secret-file`, then of `--webhook`. A place that
   * cannot be read for the moment, as it is being replaced, counts with what it held before.
   */
  current(): Promise<readonly SigningSecret[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The same without their places: what `hostform/webhooks` takes for `secrets`. */
  readonly texts = async (): Promise<readonly string[]> => (await this.current()).map(({ secret }) => secret);

  async #read(): Promise<readonly SigningSecret[]> {
    await Promise.all(
      this.#sources.map(async (source, at) => {
        try {
          this.#last[at] = await source();
          this.#failing.delete(at);
        } catch (error) {
          if (!(error instanceof HostformError)) throw error;
          if (!this.#failing.has(at)) this.#warn(error);
          this.#failing.add(at);
        }
      }),
    );
    return this.#last.flat();
  }

  #warn({ diagnostics }: HostformError): void {
    const { io, options, errLook } = this.#invocation;
    const detail = "What it held before goes on being accepted.";
    const warnings = diagnostics.map((one) => ({ ...one, severity: "warning" as const, detail }));
    if (!options.quiet) io.err(renderDiagnostics(warnings, errLook));
  }
}

/** Whether any place was named. */
export function namesSecrets({ secretEnv = [], secretFile = [], webhook = [] }: SecretFlags): boolean {
  return secretEnv.length + secretFile.length + webhook.length > 0;
}

/**
 * Opens the places that the options name, and reads them once.
 * @throws HostformError `webhooks.secret` when none is named; `secret.source`, `usage`, `plan.address` for one that holds none.
 */
export async function openSecrets(invocation: Invocation, flags: SecretFlags): Promise<SigningSecrets> {
  if (!namesSecrets(flags)) {
    fail("webhooks.secret", "No signing secret is given, so no delivery could be told from a forged one", {
      fix: `Give ${SECRET_OPTIONS}: the secret that the API showed when the webhook was registered.`,
    });
  }
  const { secretEnv = [], secretFile = [], webhook = [] } = flags;
  const sources = [
    ...secretEnv.map((name) => variableSource(invocation, name)),
    ...secretFile.map((file) => fileSource(invocation, file)),
    ...webhook.map((address) => stateSource(invocation, address)),
  ];
  const secrets = new SigningSecrets(invocation, sources);
  await secrets.open();
  return secrets;
}
