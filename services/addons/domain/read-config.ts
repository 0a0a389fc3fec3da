import type { Text } from '../../contracts/text.ts';
import * as m from '#messages/addons-problems';
import { Problem } from '../../contracts/problem.ts';
import { exceedsDepth } from '../../kit/json-depth.ts';
import { AddonConfig, formatConfigError, peerErrorMessages } from './config.ts';
import { resolveDirectives, resolveTemplate, type ResolvedTemplate } from './config-template.ts';
import { convertLegacyConfig } from './legacy-config.ts';
import { parseWithRepairs } from './repair-config.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';
import { toRecord, isRecord } from '../../contracts/is-record.ts';

const maxDepth = 32;
/** Keys that could change the prototype of an object. */
const refusedKeys = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses a configuration from JSON.
 *
 * @throws Problem `addons.invalid_config` (400)
 */
export function parseConfig(text: string): AddonConfig {
  const toError = (cause: unknown): Problem => createInvalidProblem(m.configurationNotJson, cause);
  return readConfig(parseJsonOrThrow(text, toError, (key, inner) => (refusedKeys.has(key) ? undefined : inner)));
}

/**
 * Reads a configuration from a parsed body. Unsupported parts are omitted and listed in `importNotes`.
 *
 * @throws Problem `addons.invalid_config` (400) for values that are not a configuration.
 */
export function readConfig(value: unknown): AddonConfig {
  if (exceedsDepth(value, maxDepth)) throw createInvalidProblem(m.configurationNested);
  const resolved = resolveImport(value);
  const isPartial = resolved.isTemplate && isRecord(resolved.config);
  const normalizedConfig = normalizeConfig(isPartial ? { presets: [], ...resolved.config } : resolved.config);
  const { config } = normalizedConfig;
  const notes = [...resolved.notes, ...normalizedConfig.notes];
  const result = parseWithRepairs(AddonConfig, config, peerErrorMessages);
  if (result === undefined) {
    const { error } = AddonConfig.safeParse(value, peerErrorMessages);
    throw createInvalidProblem(error === undefined ? m.configurationNotSupported() : formatConfigError(error), error);
  }
  return addImportNotes(result.data, [...notes, ...result.repairs.map(({ sentence }) => sentence)]);
}

/** Adds notes to those of a configuration, up to a maximum number. */
export function addImportNotes({ importNotes, ...data }: AddonConfig, notes: readonly string[]): AddonConfig {
  const shortNotes = notes.map((note) => note.slice(0, maxNoteLength));
  const allNotes = [...new Set([...(importNotes ?? []), ...shortNotes])];
  if (allNotes.length === 0) return data;
  const omittedCount = allNotes.length - maxNotes;
  return {
    ...data,
    importNotes: omittedCount > 0 ? [...allNotes.slice(0, maxNotes), m.moreNotes({ count: omittedCount })] : allNotes,
  };
}

const maxNotes = 100;
const maxNoteLength = 1000;

/**
 * Returns the configuration of a shared template, which is partial and may depend on inputs, with the notes for the
 * user. Of several templates in one file the first is used.
 */
export function resolveImport(value: unknown): ResolvedTemplate & { readonly isTemplate: boolean } {
  const templates = (Array.isArray(value) ? (value as unknown[]) : [value]).filter(isTemplate);
  const [template] = templates;
  if (template === undefined) return { ...resolveDirectives(value), isTemplate: false };
  const { metadata } = template;
  const { config, notes } = resolveTemplate(metadata, template.config);
  if (templates.length === 1) return { config, notes, isTemplate: true };
  const count = templates.length;
  const note =
    typeof metadata['name'] === 'string'
      ? m.templateSelected({ count, name: metadata['name'].slice(0, 100) })
      : m.firstTemplateSelected({ count });
  return { config, notes: [note, ...notes], isTemplate: true };
}

interface Template {
  readonly metadata: Record<string, unknown>;
  readonly config: Record<string, unknown>;
}

function isTemplate(value: unknown): value is Template {
  return isRecord(value) && isRecord(value['metadata']) && isRecord(value['config']);
}

/** Adds defaults for required fields, and makes instance IDs unique and free of special characters. */
function normalizeConfig(value: unknown): { readonly config: unknown; readonly notes: readonly string[] } {
  if (!isRecord(value) || !Array.isArray(value['presets'])) return { config: value, notes: [] };
  const notes: string[] = [];
  const config = convertLegacyConfig(value);
  if (!isFormat(config['formatter'])) {
    notes.push(m.formatterReplaced());
    config['formatter'] = { id: 'torrentio' };
  }
  const { sortCriteria } = config;
  if (!isRecord(sortCriteria) || !Array.isArray(sortCriteria['global'])) {
    notes.push(m.sortingReplaced());
    config['sortCriteria'] = { ...toRecord(sortCriteria), global: [] };
  }
  const ids = new Set<string>();
  config['presets'] = value['presets'].map((preset: unknown) => {
    if (!isRecord(preset) || typeof preset['instanceId'] !== 'string') return preset;
    const instanceId = uniqueId(preset['instanceId'], ids);
    if (instanceId !== preset['instanceId'])
      notes.push(m.instanceIdReplaced({ id: preset['instanceId'].slice(0, 60), replacement: instanceId }));
    return { ...preset, instanceId };
  });
  return { config, notes };
}

function isFormat(value: unknown): boolean {
  return isRecord(value) && typeof value['id'] === 'string';
}

function uniqueId(instanceId: string, ids: Set<string>): string {
  const sanitizedId = instanceId.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 50) || 'addon';
  const baseId = instanceId.length <= 60 && sanitizedId === instanceId.slice(0, 50) ? instanceId : sanitizedId;
  let id = baseId;
  for (let number = 2; ids.has(id); number += 1) id = `${sanitizedId}-${String(number)}`;
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
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(standard)) throw createInvalidProblem(m.addressConfigurationInvalid);
  return parseConfig(Buffer.from(standard, 'base64').toString('utf8'));
}

function createInvalidProblem(text: Text, cause?: unknown): Problem {
  return new Problem('addons.invalid_config', 400, text, { cause });
}
