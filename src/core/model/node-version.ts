/** The oldest Node that everything works on; `engines` in package.json says the same. */
const OLDEST = [22, 20] as const;

/** What to say when this Node is too old to run on; undefined when it is not. */
export function nodeTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `hostform needs Node ${OLDEST.join(".")} or newer; this is Node ${version}.`;
}
