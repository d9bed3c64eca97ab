/** Descriptions of responses, for messages such as "received an empty list". */

/** Expected parts of a response. @param noun For example "a service". */
export const objectWithId = (noun: string): string => `${noun} with an id`;
export const anObject = (noun: string): string => `${noun} as an object`;
export const listOf = (noun: string): string => `a list (each item ${noun})`;
/** @param isEmpty True if the response has an id that is empty. */
export const withUsableId = (noun: string, isEmpty: boolean): string =>
  `${noun} whose "id" is ${isEmpty ? "an id that is not empty" : "an id (a number or a string)"}`;
export const success = (status: number): string => `a success, as status ${status} states`;

/** Received parts of a response. */
export const emptyResponse = (): string => "an empty response";
export const noContent = (): string => "no content";
export const plainText = (): string => "plain text";
export const cutResponse = (): string => "a response that was cut off";
export const encodedResponse = (encoding: string): string => `a response in the encoding ${encoding}`;
export const notJson = (): string => "text that is not JSON, incomplete JSON, or JSON that is nested too deeply";
/** Error in a 2xx response. @param shape Form of the body. @param message Message of the server. */
export const errorInside = (shape: string, message: string | undefined): string =>
  message === undefined ? `an error, ${shape}` : `an error with the message "${message}"`;
export const htmlPageTitled = (title: string): string =>
  title === "" ? "an HTML page" : `an HTML page titled "${title}"`;

/** Sentences about the body of an error response. Without a full stop. */
export const serverMessage = (message: string): string => `The server says: ${message}`;
export const bodyIsPage = (page: string): string => `The response is ${page}, perhaps from a proxy`;
export const bodyHasNoMessage = (): string => "The response has no message";
export const bodyHasEncoding = (encoding: string): string => `The response has an unknown encoding, ${encoding}`;
export const bodyIsEmpty = (): string => "The response is empty";
export const bodyIsCut = (): string => "The response was cut off";

/** Sentences about a request that the API rejected with a long pause. */
export const notCarriedOut = (): string => "The API did not carry out the request.";
export const asksForPause = (pause: string, until: string): string =>
  `The API asks for a pause of ${pause}, until ${until}.`;

/** Target of a redirect, such as ` to https://other.example`. */
export const redirectTarget = (origin: string): string => ` to ${origin}`;
