import type { Preset } from './config.ts';

/** A kind of addon that is known by name. */
export interface PresetKind {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: 'streams' | 'catalogs' | 'misc';
  /** Where it lives unless the options say another place; empty for what has no place of its own. */
  readonly defaultUrl: string;
  readonly resources: readonly string[];
  /** It lives here and asks the services of the configuration. */
  readonly builtIn?: true;
  /** Path and query below its place. Keys never go along: availability is asked from here. */
  readonly path: (options: Preset['options']) => string;
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** All kinds, in the order they are offered. */
export const presetKinds: readonly PresetKind[] = [
  {
    id: 'torrentio',
    name: 'Torrentio',
    description: 'General torrent streams for films and series.',
    category: 'streams',
    defaultUrl: 'https://torrentio.strem.fun',
    resources: ['stream'],
    path: ({ providers }) =>
      Array.isArray(providers) && providers.length > 0
        ? `/providers=${providers.map((one) => encodeURIComponent(String(one))).join(',')}/manifest.json`
        : '/manifest.json',
  },
  {
    id: 'comet',
    name: 'Comet',
    description: 'Fast torrent search.',
    category: 'streams',
    defaultUrl: 'https://comet.elfhosted.com',
    resources: ['stream'],
    path: () =>
      `/${base64({ maxResultsPerResolution: 0, maxSize: 0, cachedOnly: false, removeTrash: true, debridService: 'torrent', debridApiKey: '' })}/manifest.json`,
  },
  {
    id: 'mediafusion',
    name: 'MediaFusion',
    description: 'Films, series, live television and sports.',
    category: 'streams',
    defaultUrl: 'https://mediafusion.elfhosted.com',
    resources: ['stream', 'catalog', 'meta'],
    path: () => '/manifest.json',
  },
  {
    id: 'stremthru-torz',
    name: 'StremThru Torz',
    description: 'A library of torrents that many people share.',
    category: 'streams',
    defaultUrl: 'https://stremthru.13377001.xyz',
    resources: ['stream'],
    path: () => `/stremio/torz/${base64({ indexers: [], stores: [{ c: 'p2p', t: '' }] })}/manifest.json`,
  },
  {
    id: 'library',
    name: 'Debrid library',
    description: 'What lies in your debrid accounts, as catalogs.',
    category: 'catalogs',
    defaultUrl: '',
    resources: ['catalog', 'meta', 'stream'],
    builtIn: true,
    path: () => '',
  },
  {
    id: 'easynews',
    name: 'Easynews search',
    description: 'Searches Easynews with your account.',
    category: 'streams',
    defaultUrl: '',
    resources: ['stream'],
    builtIn: true,
    path: () => '',
  },
  {
    id: 'custom',
    name: 'Custom',
    description: 'Any addon, by the address of its manifest.',
    category: 'misc',
    defaultUrl: '',
    resources: [],
    path: () => '',
  },
];

/** Kinds as configurations of the peer call them. */
const otherNames: Readonly<Record<string, string>> = { stremthruTorz: 'stremthru-torz', stremthruStore: 'library' };

/** The kind of a preset; undefined where nobody here knows it. */
export function presetKind(type: string): PresetKind | undefined {
  const name = Object.hasOwn(otherNames, type) ? otherNames[type] : type;
  return presetKinds.find(({ id }) => id === name);
}

/** What configurations of the peer call a kind. */
export function otherNamesOf(id: string): readonly string[] {
  return Object.keys(otherNames).filter((name) => otherNames[name] === id);
}

/** Whether a preset can be asked at all: its kind is known, or it says where its manifest is. */
export function isKnownPreset({ type, options }: Preset): boolean {
  return presetKind(type) !== undefined || (options.manifestUrl ?? '') !== '';
}

/** The address of a preset's manifest; undefined when it lives here or its kind is unknown. */
export function manifestUrlOf({ type, options }: Preset): string | undefined {
  if (options.manifestUrl !== undefined && options.manifestUrl !== '')
    return options.manifestUrl.trim().replace(/^stremio:\/\//, 'https://');
  const kind = presetKind(type);
  if (kind === undefined || kind.builtIn === true || kind.id === 'custom') return undefined;
  const place = options.url === undefined || options.url === '' ? kind.defaultUrl : options.url;
  return `${place.replace(/\/+(?:manifest\.json)?$/, '')}${kind.path(options)}`;
}
