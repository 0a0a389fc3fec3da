import { Problem } from '../../../contracts/problem.ts';
import type { AddonConfig } from '../config.ts';
import { readConfig } from '../read-config.ts';
import { ScriptError } from './path.ts';
import { runScript, ScriptBudget } from './script.ts';

/** Variants in an address, and the remaining path. */
export interface VariantPath {
  /** IDs separated by commas; empty without variants. */
  readonly variants: string;
  readonly path: string;
}

/** Reads variants from `/v/phone,tv/manifest.json` or from the query. */
export function readVariant(path: string, query: URLSearchParams): VariantPath {
  const found = /^\/v\/([^/]+)(\/.*)$/s.exec(path);
  if (found?.[1] === undefined) return { variants: query.get('v') ?? '', path };
  return { variants: found[1].replaceAll(/%2c/gi, ','), path: found[2] ?? '' };
}

/**
 * Applies the scripts of variants to a configuration, from left to right.
 *
 * @throws Problem `addons.invalid_variant` (400)
 */
export function withVariants(config: AddonConfig, variants: string): AddonConfig {
  const ids = variants.split(',').filter((id) => id !== '');
  if (ids.length === 0) return config;
  const scriptOf = (id: string): string => {
    const found = config.variants?.find((one) => one.id === id);
    if (found === undefined || found.enabled === false)
      throw invalid(`There is no variant ${id.slice(0, 40)} of this configuration.`);
    return found.script;
  };
  const changed: Record<string, unknown> = structuredClone(config);
  const budget = new ScriptBudget();
  for (const id of ids.slice(0, 10)) {
    try {
      runScript(changed, scriptOf(id), scriptOf, budget);
    } catch (error) {
      if (error instanceof ScriptError)
        throw invalid(`The variant ${id.slice(0, 40)} cannot be used. ${error.message}`);
      throw error;
    }
  }
  return readConfig(changed);
}

function invalid(detail: string): Problem {
  return new Problem('addons.invalid_variant', 400, detail);
}
