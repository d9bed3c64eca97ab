/** `cdktf`, and its maintained successor `cdktn`. Their bindings are not interchangeable. */
export const LIBRARIES = ["cdktf", "cdktn"] as const;
export type Library = (typeof LIBRARIES)[number];
