/** The one form of a declaration, for the command line. */
import { kinds } from "../core/kinds/index.ts";
import { expandedYaml, formatYaml } from "../fronts/yaml/index.ts";

export { declarationText } from "../fronts/yaml/index.ts";

/** @param path for messages. @throws HostformError with the mistakes of its syntax. */
export const formatted = (path: string, text: string): string => formatYaml({ path, text }, kinds);

/** The declaration of these files without templates, defaults and `include`. @throws HostformError with their mistakes. */
export const expanded = (files: readonly { readonly path: string; readonly text: string }[]): string =>
  expandedYaml(files, kinds);
