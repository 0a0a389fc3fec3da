import type { Text } from '../../contracts/text.ts';
import * as t from '#messages/addons-texts';
import type { Preset } from './config.ts';

/** Supported kind of addon. */
export interface PresetKind {
  readonly id: string;
  readonly name: string;
  readonly description: Text;
  readonly category: 'streams' | 'catalogs' | 'misc';
  /** Default base address; empty for kinds without one. */
  readonly defaultUrl: string;
  readonly resources: readonly string[];
  /** The addon runs in this process and requests the services of the configuration. */
  readonly builtIn?: true;
  /**
   * Builds path and query below the base address. Keys are never included, because this service checks the
   * availability.
   */
  readonly path: (options: Preset['options']) => string;
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** Supported kinds in the order of the page. */
export const presetKinds: readonly PresetKind[] = [
  {
    id: 'torrentio',
    name: 'Torrentio',
    description: t.torrentioDescription,
    category: 'streams',
    defaultUrl: 'https://torrentio.strem.fun',
    resources: ['stream'],
    path: ({ providers }) =>
      Array.isArray(providers) && providers.length > 0
        ? `/providers=${providers.map((provider) => encodeURIComponent(String(provider))).join(',')}/manifest.json`
        : '/manifest.json',
  },
  {
    id: 'comet',
    name: 'Comet',
    description: t.cometDescription,
    category: 'streams',
    defaultUrl: 'https://comet.elfhosted.com',
    resources: ['stream'],
    path: () =>
      `/${base64({
        maxResultsPerResolution: 0,
        maxSize: 0,
        cachedOnly: false,
        removeTrash: true,
        debridService: 'torrent',
        debridApiKey: '',
      })}/manifest.json`,
  },
  {
    id: 'mediafusion',
    name: 'MediaFusion',
    description: t.mediafusionDescription,
    category: 'streams',
    defaultUrl: 'https://mediafusion.elfhosted.com',
    resources: ['stream', 'catalog', 'meta'],
    path: () => '/manifest.json',
  },
  {
    id: 'stremthru-torz',
    name: 'StremThru Torz',
    description: t.torzDescription,
    category: 'streams',
    defaultUrl: 'https://stremthru.13377001.xyz',
    resources: ['stream'],
    path: () => `/stremio/torz/${base64({ indexers: [], stores: [{ c: 'p2p', t: '' }] })}/manifest.json`,
  },
  {
    id: 'library',
    name: 'Debrid library',
    description: t.libraryDescription,
    category: 'catalogs',
    defaultUrl: '',
    resources: ['catalog', 'meta', 'stream'],
    builtIn: true,
    path: () => '',
  },
  {
    id: 'easynews',
    name: 'Easynews search',
    description: t.easynewsDescription,
    category: 'streams',
    defaultUrl: '',
    resources: ['stream'],
    builtIn: true,
    path: () => '',
  },
  {
    id: 'custom',
    name: 'Custom',
    description: t.customDescription,
    category: 'misc',
    defaultUrl: '',
    resources: [],
    path: () => '',
  },
];

/** Names of kinds in configurations of the peer. */
const peerNames: Readonly<Record<string, string>> = { stremthruTorz: 'stremthru-torz', stremthruStore: 'library' };

/** Returns the kind of a preset, or undefined for unknown presets. */
export function findPresetKind(type: string): PresetKind | undefined {
  const name = Object.hasOwn(peerNames, type) ? peerNames[type] : type;
  return presetKinds.find(({ id }) => id === name);
}

/** Returns the names of a kind in configurations of the peer. */
export function getPeerNames(id: string): readonly string[] {
  return Object.keys(peerNames).filter((name) => peerNames[name] === id);
}

/** Returns true when a preset can be requested because its kind or its manifest address is known. */
export function isKnownPreset({ type, options }: Preset): boolean {
  return findPresetKind(type) !== undefined || (options.manifestUrl ?? '') !== '';
}

/** Returns the manifest address of a preset, or undefined for built-in and unknown kinds. */
export function getManifestUrl({ type, options }: Preset): string | undefined {
  if (options.manifestUrl !== undefined && options.manifestUrl !== '')
    return options.manifestUrl.trim().replace(/^stremio:\/\//, 'https://');
  const kind = findPresetKind(type);
  if (kind === undefined || kind.builtIn === true || kind.id === 'custom') return undefined;
  const baseUrl = options.url === undefined || options.url === '' ? kind.defaultUrl : options.url;
  return `${baseUrl.replace(/\/+(?:manifest\.json)?$/, '')}${kind.path(options)}`;
}
