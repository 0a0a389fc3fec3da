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

/** What the page edits of a configuration; all the rest of it goes along untouched. */
export interface Draft {
  addonName: string;
  presets: DraftPreset[];
  services: DraftService[];
  formatter: { id: string; name: string; description: string };
  excludeUncached: boolean;
  deduplicate: boolean;
  excludedQualities: string;
  excludedResolutions: string;
  sort: string;
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
};

/** A configuration as it is edited. */
export function draftOf(config: Config): Draft {
  const formatter = record(config['formatter']);
  const custom = record(record(formatter['definitions'])['custom']);
  const keys = list(record(config['sortCriteria'])['global']).map((one) => text(record(one)['key']));
  const known = sortings.find(([, , wanted]) => wanted.join() === keys.join());
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
    excludedQualities: words(config['excludedQualities']),
    excludedResolutions: words(config['excludedResolutions']),
    sort: known?.[0] ?? 'own',
  };
}

/** The configuration with what was edited. */
export function configOf(before: Config, draft: Draft): Record<string, unknown> {
  const { formatter, sort } = draft;
  const keys = sortings.find(([id]) => id === sort)?.[2];
  const definitions = {
    ...record(record(before['formatter'])['definitions']),
    custom: { name: formatter.name, description: formatter.description },
  };
  return {
    ...before,
    addonName: draft.addonName.trim(),
    presets: draft.presets,
    services: draft.services,
    formatter: {
      ...record(before['formatter']),
      id: formatter.id,
      ...(formatter.id === 'custom' ? { definitions } : {}),
    },
    excludeUncached: draft.excludeUncached,
    deduplicator: { ...record(before['deduplicator']), enabled: draft.deduplicate },
    excludedQualities: split(draft.excludedQualities),
    excludedResolutions: split(draft.excludedResolutions),
    sortCriteria:
      keys === undefined
        ? (before['sortCriteria'] ?? { global: [] })
        : { ...record(before['sortCriteria']), global: keys.map((key) => ({ key, direction: 'desc' })) },
  };
}

/** An id no other addon of the configuration has. */
export function freshId(type: string, presets: readonly DraftPreset[]): string {
  const taken = new Set(presets.map(({ instanceId }) => instanceId));
  const base = type.replaceAll(/[^a-z0-9]/gi, '').slice(0, 12) || 'addon';
  for (let number = 1; ; number += 1) if (!taken.has(`${base}${String(number)}`)) return `${base}${String(number)}`;
}

function split(given: string): string[] {
  return given
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
function words(value: unknown): string {
  return list(value).map(text).join(', ');
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
