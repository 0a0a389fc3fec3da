import { createHash } from 'node:crypto';
import type { Preset } from '../domain/config.ts';
import type { UpstreamManifest } from '../domain/manifest.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { StreamAddon } from '../domain/stream.ts';
import type { Trust } from '../upstream/address-policy.ts';

/** An addon that lives here in place of at an address. */
export interface BuiltIn {
  /** What its answers are remembered under: they are those of certain accounts. */
  readonly key: string;
  readonly manifest: UpstreamManifest;
  resource(request: ResourceRequest): Promise<unknown>;
}

/** One addon of a configuration, ready to be asked. */
export interface Addon {
  /** As the configuration has it. */
  readonly presetId: string;
  readonly instanceId: string;
  readonly name: string;
  readonly manifestUrl: string;
  readonly baseUrl: string;
  /** Query of the manifest's address, which goes along with every resource. */
  readonly query: string;
  /** What its answers are remembered under. */
  readonly key: string;
  /** In metrics: its kind, or the host of a custom one. */
  readonly label: string;
  readonly timeoutMs: number;
  /** Only these of its resources are wanted; undefined: all. */
  readonly resources: readonly string[] | undefined;
  readonly mediaTypes: readonly string[];
  readonly stream: StreamAddon;
  readonly trust: Trust;
  readonly builtIn: BuiltIn | undefined;
}

export interface AddonAddress {
  readonly name: string;
  readonly manifestUrl: string;
  /** Tells several addons of one preset apart; empty for the only one. */
  readonly part: string;
  readonly trust: Trust;
  readonly builtIn?: BuiltIn;
}

/** @see Addon */
export function makeAddon(preset: Preset, address: AddonAddress, index: number, defaultTimeoutMs: number): Addon {
  const { options } = preset;
  const { name, manifestUrl, part, trust, builtIn } = address;
  const instanceId = `${preset.instanceId}${createHash('sha256').update(part).digest('hex').slice(0, 4)}`;
  const [path = '', query] = splitQuery(manifestUrl);
  return {
    presetId: preset.instanceId,
    instanceId,
    name,
    manifestUrl,
    baseUrl: path.replace(/\/manifest\.json$/, ''),
    query,
    key: `${trust} ${instanceId} ${builtIn?.key ?? manifestUrl}`,
    label:
      builtIn === undefined && preset.type === 'custom' ? (URL.parse(manifestUrl)?.hostname ?? 'custom') : preset.type,
    timeoutMs: options.timeout ?? defaultTimeoutMs,
    resources: options.resources?.length ? options.resources : undefined,
    mediaTypes: options.mediaTypes ?? [],
    stream: {
      instanceId,
      presetType: preset.type,
      name,
      index,
      manifestUrl,
      library: options.libraryAddon === true,
      formatPassthrough: options.formatPassthrough === true,
      resultPassthrough: options.resultPassthrough === true,
      pinPosition: options.pinPosition ?? (options.forceToTop === true ? 'top' : undefined),
    },
    trust,
    builtIn,
  };
}

function splitQuery(url: string): readonly [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at)];
}

/** Whether an address can be that of a manifest. */
export function isManifestUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null &&
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.pathname.endsWith('/manifest.json')
  );
}
