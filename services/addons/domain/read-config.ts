import { Problem } from '../../contracts/problem.ts';
import { AddonConfig, configProblem, peerWords } from './config.ts';
import { parseWithRepairs } from './repair-config.ts';
import { isRecord } from './variants/path.ts';

const deepest = 32;
/** Keys that could change the prototype of an object. */
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses a configuration from JSON.
 *
 * @throws Problem `addons.invalid_config` (400)
 */
export function parseConfig(text: string): AddonConfig {
  let value: unknown;
  try {
    value = JSON.parse(text, (key, inner: unknown) => (refusedKeys.has(key) ? undefined : inner));
  } catch (cause) {
    throw invalid('The configuration is not JSON.', cause);
  }
  return readConfig(value);
}

/**
 * Reads a configuration from a parsed body. Unsupported parts are omitted and listed in `importNotes`.
 *
 * @throws Problem `addons.invalid_config` (400) for values that are no configuration.
 */
export function readConfig(value: unknown): AddonConfig {
  if (isTooDeep(value)) throw invalid('The configuration is nested too deep.');
  const { config, notes } = normalized(unwrapped(value));
  const read = parseWithRepairs(AddonConfig, config, peerWords);
  if (read === undefined) {
    const { error } = AddonConfig.safeParse(value, peerWords);
    throw invalid(error === undefined ? 'The configuration is not supported.' : configProblem(error), error);
  }
  const { importNotes, ...data } = read.data;
  const found = [...notes, ...read.repairs.map(({ sentence }) => sentence)];
  const all = [...new Set([...(importNotes ?? []), ...found])];
  if (all.length === 0) return data;
  const more = all.length - maxNotes;
  return { ...data, importNotes: more > 0 ? [...all.slice(0, maxNotes), `and ${String(more)} more`] : all };
}

const maxNotes = 100;

/** Returns the configuration of a template. Templates of the peer contain it next to their metadata. */
function unwrapped(value: unknown): unknown {
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isRecord(one) && isRecord(one['metadata']) && isRecord(one['config']) ? one['config'] : value;
}

/** Adds defaults for required fields, and makes instance IDs unique and free of special characters. */
function normalized(value: unknown): { readonly config: unknown; readonly notes: readonly string[] } {
  if (!isRecord(value) || !Array.isArray(value['presets'])) return { config: value, notes: [] };
  const notes: string[] = [];
  const config: Record<string, unknown> = { ...value };
  if (!isFormat(config['formatter'])) {
    notes.push('formatter is missing or not supported; the format of Torrentio is used.');
    config['formatter'] = { id: 'torrentio' };
  }
  const { sortCriteria } = config;
  if (!isRecord(sortCriteria) || !Array.isArray(sortCriteria['global'])) {
    notes.push('sortCriteria.global is missing or not supported; streams keep the order of the addons.');
    config['sortCriteria'] = { ...(isRecord(sortCriteria) ? sortCriteria : {}), global: [] };
  }
  const ids = new Set<string>();
  config['presets'] = value['presets'].map((preset: unknown) => {
    if (!isRecord(preset) || typeof preset['instanceId'] !== 'string') return preset;
    const instanceId = uniqueId(preset['instanceId'], ids);
    if (instanceId !== preset['instanceId'])
      notes.push(`The instance id ${preset['instanceId'].slice(0, 60)} is replaced by ${instanceId}.`);
    return { ...preset, instanceId };
  });
  return { config, notes };
}

function isFormat(value: unknown): boolean {
  return isRecord(value) && typeof value['id'] === 'string';
}

function uniqueId(given: string, ids: Set<string>): string {
  const plain = given.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 50) || 'addon';
  const base = given.length <= 60 && plain === given.slice(0, 50) ? given : plain;
  let id = base;
  for (let number = 2; ids.has(id); number += 1) id = `${plain}-${String(number)}`;
  ids.add(id);
  return id;
}

/**
 * Decodes a configuration in an address, which is encoded as Base64 or base64url. A `+` that a query parser replaced by
 * a space is restored.
 *
 * @throws Problem `addons.invalid_config` (400)
 */
export function decodeConfig(encoded: string): AddonConfig {
  const standard = encoded.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(standard)) throw invalid('The configuration in the address cannot be read.');
  return parseConfig(Buffer.from(standard, 'base64').toString('utf8'));
}

function isTooDeep(root: unknown): boolean {
  const pending: { value: object; depth: number }[] = [];
  if (typeof root === 'object' && root !== null) pending.push({ value: root, depth: 1 });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.depth > deepest) return true;
    for (const inner of Object.values(next.value) as unknown[])
      if (typeof inner === 'object' && inner !== null) pending.push({ value: inner, depth: next.depth + 1 });
  }
  return false;
}

function invalid(detail: string, cause?: unknown): Problem {
  return new Problem('addons.invalid_config', 400, detail, { cause });
}
