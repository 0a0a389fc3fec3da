import { Problem } from '../../contracts/problem.ts';
import { AddonConfig, configProblem, peerWords } from './config.ts';
import { resolveDirectives, resolveTemplate, type ResolvedTemplate } from './config-template.ts';
import { convertLegacyConfig } from './legacy-config.ts';
import { parseWithRepairs } from './repair-config.ts';
import { isRecord } from './variants/path.ts';

const deepest = 32;
/** Keys by which an object could be made something else than it is. */
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** A configuration out of JSON text. @throws Problem `addons.invalid_config` (400) */
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
 * Reads a configuration out of a parsed body. What is not understood is left out and listed in `importNotes`; only a value
 * that is no configuration at all is refused.
 *
 * @throws Problem `addons.invalid_config` (400)
 */
export function readConfig(value: unknown): AddonConfig {
  if (isTooDeep(value)) throw invalid('The configuration is nested too deep.');
  const template = unwrapTemplate(value);
  const normalizedConfig = normalized(template.config);
  const { config } = normalizedConfig;
  const notes = [...template.notes, ...normalizedConfig.notes];
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

/**
 * Returns the configuration of a shared template, which is partial and may depend on inputs, with the notes for the
 * user. Of several templates in one file the first is used.
 */
function unwrapTemplate(value: unknown): ResolvedTemplate {
  const templates = (Array.isArray(value) ? (value as unknown[]) : [value]).filter(isTemplate);
  const [template] = templates;
  if (template === undefined) return resolveDirectives(value);
  const { metadata } = template;
  const resolved = resolveTemplate(metadata, template.config);
  const config = isRecord(resolved.config) ? { presets: [], ...resolved.config } : resolved.config;
  if (templates.length === 1) return { config, notes: resolved.notes };
  const name = typeof metadata['name'] === 'string' ? metadata['name'].slice(0, 100) : 'the first';
  const note = `The file has ${String(templates.length)} templates; ${name} is used.`;
  return { config, notes: [note, ...resolved.notes] };
}

interface Template {
  readonly metadata: Record<string, unknown>;
  readonly config: Record<string, unknown>;
}

function isTemplate(value: unknown): value is Template {
  return isRecord(value) && isRecord(value['metadata']) && isRecord(value['config']);
}

/** Members without which nothing can be shown get their defaults, and instance ids become unique ones without signs. */
function normalized(value: unknown): { readonly config: unknown; readonly notes: readonly string[] } {
  if (!isRecord(value) || !Array.isArray(value['presets'])) return { config: value, notes: [] };
  const notes: string[] = [];
  const config = convertLegacyConfig(value);
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
 * A configuration out of an address: Base64 or base64url of its JSON. A `+` that a query decoder made a space is one again.
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
