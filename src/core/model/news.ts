// Channels of notifications.

export const CHANNEL_FORMATS = ["cloudevents", "slack", "teams"] as const;

/** Receiver of notifications as declared: a URL that receives JSON, or a program that reads text. */
export interface Channel {
  readonly url?: string | undefined;
  /** Environment variable with the URL. */
  readonly url_env?: string | undefined;
  readonly command?: readonly string[] | undefined;
  /** Format of the JSON. Default: determined by the URL's host. */
  readonly format?: (typeof CHANNEL_FORMATS)[number] | undefined;
  /** Environment variable with the secret for signatures. Undefined: unsigned. */
  readonly secret_env?: string | undefined;
}

const SLACK = /^https:\/\/hooks\.slack(?:-gov)?\.com\//;
const TEAMS = /^https:\/\/[\w.-]+\.(?:webhook\.office|logic\.azure|api\.powerplatform)\.com[:/]/;

/** Returns the format of a URL. */
export const formatOf = ({ url = "", format }: Channel) =>
  format ?? (SLACK.test(url) ? "slack" : TEAMS.test(url) ? "teams" : "cloudevents");
