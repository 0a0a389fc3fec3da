import type { Text } from '../../../contracts/text.ts';
import * as m from '#messages/addons-problems';
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
export function parseVariantPath(path: string, query: URLSearchParams): VariantPath {
  const match = /^\/v\/([^/]+)(\/.*)$/s.exec(path);
  if (match?.[1] === undefined) return { variants: query.get('v') ?? '', path };
  return { variants: match[1].replaceAll(/%2c/gi, ','), path: match[2] ?? '' };
}

/**
 * Applies the scripts of variants to a configuration, from left to right.
 *
 * @throws Problem `addons.invalid_variant` (400)
 */
export function applyVariants(config: AddonConfig, variants: string): AddonConfig {
  const ids = variants.split(',').filter((id) => id !== '');
  if (ids.length === 0) return config;
  const getScript = (id: string): string => {
    const variant = config.variants?.find((candidate) => candidate.id === id);
    if (variant === undefined || variant.enabled === false)
      throw createInvalidProblem(() => m.variantNotFound({ id: id.slice(0, 40) }));
    return variant.script;
  };
  const modifiedConfig: Record<string, unknown> = structuredClone(config);
  const budget = new ScriptBudget();
  for (const id of ids.slice(0, 10)) {
    try {
      runScript(modifiedConfig, getScript(id), getScript, budget);
    } catch (error) {
      if (error instanceof ScriptError)
        throw createInvalidProblem(() => m.variantInvalid({ id: id.slice(0, 40), problem: error.sentence }));
      throw error;
    }
  }
  return readConfig(modifiedConfig);
}

function createInvalidProblem(text: Text): Problem {
  return new Problem('addons.invalid_variant', 400, text);
}
