import type { AddonConfig } from './config.ts';
import { addImportNotes, readConfig, resolveImport } from './read-config.ts';
import { removeCredentials } from './without-credentials.ts';
import { isRecord } from '../../contracts/is-record.ts';

/**
 * Merges a configuration with an imported one. Keys and options of addons that the import does not contain are
 * preserved, so that an export without credentials can be imported again. The import may be a template.
 *
 * @throws Problem `addons.invalid_config` (400)
 */
export function mergeConfig(before: AddonConfig, change: unknown): AddonConfig {
  const { config, notes } = resolveImport(change);
  if (!isRecord(config)) return readConfig(config);
  const merged = readConfig({ ...before, ...config, uuid: before.uuid, importNotes: null });
  const presets = merged.presets.map((preset) => {
    const old = before.presets.find((existing) => getItemKey(existing) === getItemKey(preset));
    return { ...preset, options: { ...old?.options, ...preset.options } };
  });
  const restored = readConfig(restoreCredentials(before, removeCredentials(before), { ...merged, presets }));
  return addImportNotes(restored, notes);
}

/**
 * Adds the credentials of the former configuration that are missing.
 *
 * @param redacted The former configuration without credentials.
 */
function restoreCredentials(before: unknown, redacted: unknown, updated: unknown): unknown {
  if (JSON.stringify(redacted) === JSON.stringify(updated)) return before;
  if (Array.isArray(before) && Array.isArray(redacted) && Array.isArray(updated)) {
    const names = redacted.map((item) => getItemKey(item));
    return updated.map((item: unknown, position) => {
      // Items without an ID are identified by their position.
      const formerIndex = names[position] === getItemKey(item) ? position : names.indexOf(getItemKey(item));
      return formerIndex === -1 ? item : restoreCredentials(before[formerIndex], redacted[formerIndex], item);
    });
  }
  // The credentials of one item must not be copied to another one.
  if (!isRecord(before) || !isRecord(redacted) || !isRecord(updated) || getItemKey(redacted) !== getItemKey(updated))
    return updated;
  const result = { ...updated };
  for (const [name, value] of Object.entries(before)) {
    const isKey = !Object.hasOwn(redacted, name) || (redacted[name] === null && value !== null);
    if (isKey) result[name] = updated[name] ?? value;
    else if (Object.hasOwn(updated, name)) result[name] = restoreCredentials(value, redacted[name], updated[name]);
  }
  return result;
}

/** Returns the identity of a list item. */
function getItemKey(item: unknown): string {
  if (!isRecord(item)) return JSON.stringify(item);
  return JSON.stringify([item['uuid'], item['instanceId'], item['type'], item['id']]);
}
