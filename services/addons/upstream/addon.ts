import { createHash } from 'node:crypto';
import type { Preset } from '../domain/config.ts';
import type { UpstreamManifest } from '../domain/manifest.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { StreamAddon } from '../domain/stream.ts';
import type { Trust } from './address-policy.ts';

/** Addon that runs in this process instead of behind an address. */
export interface BuiltIn {
  /** Cache key, because the responses depend on the accounts. */
  readonly key: string;
  readonly manifest: UpstreamManifest;
  resource(request: ResourceRequest): Promise<unknown>;
}

/** Addon of a configuration that can be requested. */
export interface Addon {
  /** Instance ID in the configuration. */
  readonly presetId: string;
  readonly instanceId: string;
  readonly name: string;
  readonly manifestUrl: string;
  readonly baseUrl: string;
  /** Query of the manifest address, which is appended to every resource address. */
  readonly query: string;
  /** Cache key of the responses. */
  readonly key: string;
  /** Label for metrics: the preset, or the host of a custom addon. */
  readonly label: string;
  readonly timeoutMs: number;
  /** Names of the enabled resources; undefined enables all. */
  readonly resources: readonly string[] | undefined;
  readonly mediaTypes: readonly string[];
  readonly stream: StreamAddon;
  readonly trust: Trust;
  readonly builtIn: BuiltIn | undefined;
}

export interface AddonAddress {
  readonly name: string;
  readonly manifestUrl: string;
  /** Distinguishes several addons of one preset; empty when there is only one. */
  readonly suffix: string;
  readonly trust: Trust;
  readonly builtIn?: BuiltIn;
}

/** Builds an addon from a preset. */
export function buildAddon(preset: Preset, address: AddonAddress, index: number, defaultTimeoutMs: number): Addon {
  const { options } = preset;
  const { name, manifestUrl, suffix, trust, builtIn } = address;
  const instanceId = `${preset.instanceId}${createHash('sha256').update(suffix).digest('hex').slice(0, 4)}`;
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
  const queryIndex = url.indexOf('?');
  return queryIndex === -1 ? [url, ''] : [url.slice(0, queryIndex), url.slice(queryIndex)];
}

/** Returns true when an address can be the address of a manifest. */
export function isManifestUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null &&
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.pathname.endsWith('/manifest.json')
  );
}
