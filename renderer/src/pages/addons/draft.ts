import type { AddonKinds } from '../../../../services/contracts/addons/api.ts';
import { listNames, sortLists } from './filter-kinds.ts';
import { flagFields, limitFields, rangeAt, rangeFields, rangeOf, valueAt, withValue } from './number-fields.ts';
import { pictureFlags, pictureTexts } from './picture-fields.ts';
import { rulesOf, withRules, type RulesDraft } from './rules-draft.ts';

/** An addon of a configuration, as the page edits it. Members it does not know stay. */
export interface DraftPreset {
  type: string;
  instanceId: string;
  enabled: boolean;
  options: Record<string, unknown> & { name?: string; manifestUrl?: string };
}

/** A debrid service of a configuration. */
export interface DraftService {
  id: string;
  enabled: boolean;
  credentials: Record<string, string>;
}

/** One thing that streams are sorted by. */
export interface DraftCriterion {
  key: string;
  direction: 'asc' | 'desc';
}

/** How a catalog is listed. Members that the page does not know stay. */
export interface DraftCatalog {
  id: string;
  type: string;
  name?: string | undefined;
  enabled: boolean;
}

/** What the page edits of a configuration; all the rest of it goes along untouched. */
export interface Draft {
  addonName: string;
  presets: DraftPreset[];
  services: DraftService[];
  formatter: { id: string; name: string; description: string };
  excludeUncached: boolean;
  deduplicate: boolean;
  /** By their names in the configuration, such as `excludedQualities`. */
  lists: Record<string, string[]>;
  sorts: Record<string, DraftCriterion[]>;
  ranges: Record<string, { least: number | null; most: number | null }>;
  limits: Record<string, number | null>;
  flags: Record<string, boolean>;
  /** By their names in the configuration, such as `tmdbApiKey`. */
  texts: Record<string, string>;
  catalogs: DraftCatalog[];
  rules: RulesDraft;
  /** Which configuration it inherits from, and how each part of it does; empty: from none. */
  parent: { uuid: string; strategies: Record<string, string> };
}

/** Orders people ask for, by their first words. */
export const sortings: readonly (readonly [id: string, label: string, keys: readonly string[]])[] = [
  ['quality', 'What plays at once, best picture first', ['cached', 'resolution', 'quality', 'size']],
  ['size', 'What plays at once, largest first', ['cached', 'size']],
  ['seeders', 'Most seeders first', ['cached', 'seeders']],
  ['', 'As the addons have it', []],
];
const resolutions = ['2160p', '1440p', '1080p', '720p', '576p', '480p', '360p', 'Unknown'];
const qualities = ['BluRay REMUX', 'BluRay', 'WEB-DL', 'WEBRip', 'HDRip', 'HDTV', 'DVDRip', 'SCR', 'TC', 'TS', 'CAM'];

type Config = Readonly<Record<string, unknown>>;

const flagPaths = [...flagFields.map(([path]) => path), ...pictureFlags];

/** What somebody begins with. */
export const newConfig: Config = {
  addonName: '',
  presets: [],
  services: [],
  formatter: { id: 'torrentio' },
  sortCriteria: { global: sortings[0]?.[2].map((key) => ({ key, direction: 'desc' })) ?? [] },
  preferredResolutions: resolutions,
  preferredQualities: qualities,
  excludedQualities: ['CAM', 'TS', 'TC'],
  deduplicator: { enabled: true },
  serviceWrap: { enabled: true },
  failover: { enabled: true },
};

/** A configuration as it is edited. */
export function draftOf(config: Config): Draft {
  const formatter = record(config['formatter']);
  // Older configurations have their own texts in `definition`.
  const custom = record(record(formatter['definitions'])['custom'] ?? formatter['definition']);
  return {
    addonName: text(config['addonName']),
    presets: list(config['presets']).map((one) => {
      const preset = record(one);
      return {
        ...preset,
        type: text(preset['type']),
        instanceId: text(preset['instanceId']),
        enabled: preset['enabled'] !== false,
        options: { ...record(preset['options']) },
      };
    }),
    services: list(config['services']).map((one) => {
      const service = record(one);
      const credentials = Object.entries(record(service['credentials'])).map(([name, value]) => [name, text(value)]);
      return {
        ...service,
        id: text(service['id']),
        enabled: service['enabled'] !== false,
        credentials: Object.fromEntries(credentials) as Record<string, string>,
      };
    }),
    formatter: {
      id: text(formatter['id']) || 'torrentio',
      name: text(custom['name']),
      description: text(custom['description']),
    },
    excludeUncached: config['excludeUncached'] === true,
    deduplicate: record(config['deduplicator'])['enabled'] === true,
    lists: Object.fromEntries(listNames.map((name) => [name, list(config[name]).map(patternOf)])),
    sorts: Object.fromEntries(
      sortLists.map(([name]) => [name, list(record(config['sortCriteria'])[name]).map(criterionOf)]),
    ),
    ranges: Object.fromEntries(rangeFields.map((field) => [field.path, rangeAt(config, field)])),
    limits: Object.fromEntries(
      limitFields.map(([path]) => {
        const value = valueAt(config, path);
        return [path, typeof value === 'number' && value > 0 ? value : null];
      }),
    ),
    flags: Object.fromEntries(flagPaths.map((path) => [path, valueAt(config, path) === true])),
    texts: Object.fromEntries(pictureTexts.map((name) => [name, text(config[name])])),
    catalogs: list(config['catalogModifications']).map((one) => {
      const { name, ...change } = record(one);
      return {
        ...change,
        id: text(change['id']),
        type: text(change['type']),
        enabled: change['enabled'] !== false,
        ...(typeof name === 'string' ? { name } : {}),
      };
    }),
    rules: rulesOf(config),
    parent: {
      uuid: text(record(config['parentConfig'])['uuid']),
      strategies: { ...(record(record(config['parentConfig'])['mergeStrategies']) as Record<string, string>) },
    },
  };
}

/** The configuration with what was edited. */
export function configOf(before: Config, draft: Draft): Record<string, unknown> {
  const { formatter } = draft;
  const definitions = {
    ...record(record(before['formatter'])['definitions']),
    custom: { name: formatter.name, description: formatter.description },
  };
  let base: Record<string, unknown> = { ...before };
  for (const name of listNames) base = withValue(base, name, listOf(before[name], draft.lists[name] ?? []));
  for (const field of rangeFields) {
    const range = draft.ranges[field.path];
    if (range !== undefined) base = withValue(base, field.path, rangeOf(range, field));
  }
  for (const [path] of limitFields) base = withValue(base, path, draft.limits[path] ?? null);
  for (const path of flagPaths)
    if ((valueAt(before, path) === true) !== draft.flags[path]) base = withValue(base, path, draft.flags[path]);
  for (const name of pictureTexts) base = withValue(base, name, draft.texts[name]?.trim() || null);
  if (draft.catalogs.length > 0) base = { ...base, catalogModifications: draft.catalogs };
  base = withRules(base, draft.rules);
  if ((before['excludeUncached'] === true) !== draft.excludeUncached)
    base = { ...base, excludeUncached: draft.excludeUncached };
  const deduplicator = record(before['deduplicator']);
  if ((deduplicator['enabled'] === true) !== draft.deduplicate)
    base = { ...base, deduplicator: { ...deduplicator, enabled: draft.deduplicate } };
  base = withValue(base, 'parentConfig', parentOf(record(before['parentConfig']), draft.parent));
  return {
    ...base,
    // An empty name would count as its own.
    addonName: draft.addonName.trim() || (draft.parent.uuid === '' ? '' : null),
    presets: draft.presets,
    services: draft.services,
    formatter: {
      ...record(before['formatter']),
      id: formatter.id,
      ...(formatter.id === 'custom' ? { definitions } : {}),
    },
    sortCriteria: { ...record(before['sortCriteria']), ...draft.sorts },
  };
}

/** How an addon is called: as the person did, or by its kind. */
export function addonName({ type, options }: DraftPreset, kinds: AddonKinds['kinds']): string {
  return options.name || (addonKind(type, kinds)?.name ?? type);
}

/** The kind of an addon; configurations from elsewhere may call it otherwise. */
export function addonKind(type: string, kinds: AddonKinds['kinds']): AddonKinds['kinds'][number] | undefined {
  return kinds.find(({ id, alsoCalled }) => id === type || alsoCalled.includes(type));
}

/** An id no other addon of the configuration has. */
export function freshId(type: string, presets: readonly DraftPreset[]): string {
  const taken = new Set(presets.map(({ instanceId }) => instanceId));
  const base = type.replaceAll(/[^a-z0-9]/gi, '').slice(0, 12) || 'addon';
  for (let number = 1; ; number += 1) if (!taken.has(`${base}${String(number)}`)) return `${base}${String(number)}`;
}

/** The order of {@link sortings} that a list of criteria is; `own` where it is none of them. */
export function sortingOf(criteria: readonly DraftCriterion[]): string {
  const wanted = criteria.map(({ key, direction }) => (direction === 'desc' ? key : `-${key}`)).join();
  return sortings.find(([, , keys]) => keys.join() === wanted)?.[0] ?? 'own';
}

/** Each configuration has an order and a format, so that the parent's would never count without a word about it. */
const partsOfParent = ['sorting', 'formatter'];

/** The parent that was chosen; the first to be chosen gives what the page cannot leave empty. */
export function chosenParent({ uuid: before, strategies }: Draft['parent'], uuid: string): Draft['parent'] {
  if (before !== '' || uuid === '') return { uuid, strategies };
  return { uuid, strategies: { ...Object.fromEntries(partsOfParent.map((part) => [part, 'inherit'])), ...strategies } };
}

/** Its password is the service's affair, unless somebody else looks after it. */
function parentOf(before: Config, { uuid, strategies }: Draft['parent']): Config | null {
  if (uuid === '') return null;
  const password = before['uuid'] === uuid ? text(before['password']) : '';
  const mergeStrategies = Object.fromEntries(Object.entries(strategies).filter(([, strategy]) => strategy !== ''));
  return { ...before, uuid, password, mergeStrategies };
}

function criterionOf(one: unknown): DraftCriterion {
  const { key, direction } = record(one);
  return { key: text(key), direction: direction === 'asc' ? 'asc' : 'desc' };
}

/** An expression may have a name; the page edits what it matches. */
function patternOf(one: unknown): string {
  return typeof one === 'string' ? one : text(record(one)['pattern']);
}

/** The edited list, its entries with whatever else they had. Null where there is none and was none. */
function listOf(before: unknown, edited: readonly string[]): readonly unknown[] | null {
  if (edited.length === 0 && !Array.isArray(before)) return null;
  return edited.map((value) => list(before).find((one) => patternOf(one) === value) ?? value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
