import type { AddonConfig } from './config.ts';
import { readConfig } from './read-config.ts';
import { isRecord } from './variants/path.ts';
import { withoutCredentials } from './without-credentials.ts';

/**
 * Merges a configuration with an imported one. Keys and options of addons that the import does not contain are
 * preserved, so that an export without credentials can be imported again.
 *
 * @throws Problem `addons.invalid_config` (400)
 */
export function mergeConfig(before: AddonConfig, change: Readonly<Record<string, unknown>>): AddonConfig {
  const next = readConfig({ ...before, ...change, uuid: before.uuid });
  const presets = next.presets.map((preset) => {
    const old = before.presets.find((one) => nameOf(one) === nameOf(preset));
    return { ...preset, options: { ...old?.options, ...preset.options } };
  });
  return readConfig(withKeysOf(before, withoutCredentials(before), { ...next, presets }));
}

/**
 * Adds the credentials of the former configuration that are missing.
 *
 * @param bare The former configuration without credentials.
 */
function withKeysOf(before: unknown, bare: unknown, next: unknown): unknown {
  if (JSON.stringify(bare) === JSON.stringify(next)) return before;
  if (Array.isArray(before) && Array.isArray(bare) && Array.isArray(next)) {
    const names = bare.map((item) => nameOf(item));
    return next.map((item: unknown, place) => {
      // Items without an ID are identified by their position.
      const at = names[place] === nameOf(item) ? place : names.indexOf(nameOf(item));
      return at === -1 ? item : withKeysOf(before[at], bare[at], item);
    });
  }
  // The credentials of one item must not be copied to another one.
  if (!isRecord(before) || !isRecord(bare) || !isRecord(next) || nameOf(bare) !== nameOf(next)) return next;
  const result = { ...next };
  for (const [name, value] of Object.entries(before)) {
    const isKey = !Object.hasOwn(bare, name) || (bare[name] === null && value !== null);
    if (isKey) result[name] = next[name] ?? value;
    else if (Object.hasOwn(next, name)) result[name] = withKeysOf(value, bare[name], next[name]);
  }
  return result;
}

/** Returns the identity of a list item. */
function nameOf(item: unknown): string {
  if (!isRecord(item)) return JSON.stringify(item);
  return JSON.stringify([item['uuid'], item['instanceId'], item['type'], item['id']]);
}
