/** Formats a declaration for the command line. */
import { kinds } from "../core/kinds/index.ts";
import { expandedYaml, formatYaml } from "../fronts/yaml/index.ts";

export { declarationText } from "../fronts/yaml/index.ts";

/** @param path Path for messages. @throws HostformError for syntax errors. */
export const formatted = (path: string, text: string): string => formatYaml({ path, text }, kinds);

/**
 * Returns the declaration with templates, defaults and `include` expanded.
 * @throws HostformError for mistakes in the files.
 */
export const expanded = (files: readonly { readonly path: string; readonly text: string }[]): string =>
  expandedYaml(files, kinds);
