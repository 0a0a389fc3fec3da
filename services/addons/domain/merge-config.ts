import type { AddonConfig } from './config.ts';
import { readConfig } from './read-config.ts';
import { isRecord } from './variants/path.ts';
import { withoutCredentials } from './without-credentials.ts';

/**
 * A configuration with what a file has of one. Keys and options of addons that the file does not have stay, so that what
 * went out without keys comes back in. @throws Problem `addons.invalid_config` (400)
 */
export function mergeConfig(before: AddonConfig, change: Readonly<Record<string, unknown>>): AddonConfig {
  const next = readConfig({ ...before, ...change, uuid: before.uuid });
  const presets = next.presets.map((preset) => {
    const old = before.presets.find((one) => nameOf(one) === nameOf(preset));
    return { ...preset, options: { ...old?.options, ...preset.options } };
  });
  return readConfig(withKeysOf(before, withoutCredentials(before), { ...next, presets }));
}

/** What comes next, with those keys of what was before that `bare`, the same without keys, lacks. */
function withKeysOf(before: unknown, bare: unknown, next: unknown): unknown {
  if (JSON.stringify(bare) === JSON.stringify(next)) return before;
  if (Array.isArray(before) && Array.isArray(bare) && Array.isArray(next)) {
    const names = bare.map((item) => nameOf(item));
    return next.map((item: unknown, place) => {
      // Things without names are told apart by their places.
      const at = names[place] === nameOf(item) ? place : names.indexOf(nameOf(item));
      return at === -1 ? item : withKeysOf(before[at], bare[at], item);
    });
  }
  // The keys of one thing are not for the eyes of another.
  if (!isRecord(before) || !isRecord(bare) || !isRecord(next) || nameOf(bare) !== nameOf(next)) return next;
  const result = { ...next };
  for (const [name, value] of Object.entries(before)) {
    const isKey = !Object.hasOwn(bare, name) || (bare[name] === null && value !== null);
    if (isKey) result[name] = next[name] ?? value;
    else if (Object.hasOwn(next, name)) result[name] = withKeysOf(value, bare[name], next[name]);
  }
  return result;
}

/** What tells one thing of a configuration from another. */
function nameOf(item: unknown): string {
  if (!isRecord(item)) return JSON.stringify(item);
  return JSON.stringify([item['uuid'], item['instanceId'], item['type'], item['id']]);
}
