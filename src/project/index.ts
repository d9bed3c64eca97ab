/**
 * A project: a declaration in any language, with its account and state. In: the project folder, the environment, and the
 * services of the process (clock, programs, Ctrl-C). Out: the declaration, a plan while the state is locked, the result of an
 * apply, a watch, and the secrets of the run. Must not: name a command or an option, print, or read files outside the project
 * for an untrusted declaration.
 */
export * from "./library.ts";
