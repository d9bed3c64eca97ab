import path from "node:path";

/** Variables of the environment, as a parameter. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where hostform keeps what belongs to the user and this machine, and to no project: the count of requests of each
 * token, and what the Terraform provider notes of creates. `HOSTFORM_STATE_HOME` decides; else it is the place that the
 * platform has for such things. Nothing is made here: whoever writes there makes it.
 * @returns undefined where no home is known, as in some containers.
 */
export function stateFolder(env: Environment, platform: string = process.platform): string | undefined {
  const places = platform === "win32" ? path.win32 : path.posix;
  if (env.HOSTFORM_STATE_HOME) return places.resolve(env.HOSTFORM_STATE_HOME);
  // A relative one would be another folder in each place; the XDG specification has it ignored.
  if (env.XDG_STATE_HOME && places.isAbsolute(env.XDG_STATE_HOME)) return places.join(env.XDG_STATE_HOME, "hostform");
  if (platform === "win32") return env.LOCALAPPDATA ? places.join(env.LOCALAPPDATA, "hostform") : undefined;
  if (!env.HOME) return undefined;
  return platform === "darwin"
    ? places.join(env.HOME, "Library", "Application Support", "hostform")
    : places.join(env.HOME, ".local", "state", "hostform");
}
