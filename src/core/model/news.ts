// Channels of notifications.

export const CHANNEL_FORMATS = ["cloudevents", "slack", "teams"] as const;

/** Receiver of notifications, with the names of the declaration: a URL for JSON, or a program that reads text. */
export interface Channel {
  readonly url?: string | undefined;
  /** Environment variable with the URL. */
  readonly url_env?: string | undefined;
  readonly command?: readonly string[] | undefined;
  /** Default: the format of the URL's host. */
  readonly format?: (typeof CHANNEL_FORMATS)[number] | undefined;
  /** Environment variable with the signing secret. Undefined: the JSON is not signed. */
  readonly secret_env?: string | undefined;
}

const SLACK = /^https:\/\/hooks\.slack(?:-gov)?\.com\//;
const TEAMS = /^https:\/\/[\w.-]+\.(?:webhook\.office|logic\.azure|api\.powerplatform)\.com[:/]/;

/** Returns the format of a URL. */
export const formatOf = ({ url = "", format }: Channel) =>
  format ?? (SLACK.test(url) ? "slack" : TEAMS.test(url) ? "teams" : "cloudevents");
