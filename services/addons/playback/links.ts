import { z } from 'zod';
import { serviceIds, type ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../../kit/lru-map.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

const purpose = 'addons.playback';
const prefix = '/api/v1/debrid/playback/';
/** Placeholder for an absent fallback list. Players of the peer write it into addresses to disable failover. */
const noFallback = '-';
const SealedCredentials = z.object({ id: z.enum(serviceIds), credentials: z.record(z.string(), z.string()) });
const FileInfo = z.object({
  hash: z.string().regex(/^[0-9a-f]{40}$/),
  title: z.string().max(1000).default(''),
  index: z.int().min(0).optional(),
  season: z.int().min(0).optional(),
  episode: z.int().min(0).optional(),
  sources: z.array(z.string().max(500)).max(50).default([]),
});

/** File of a torrent. */
export type FileInfo = z.infer<typeof FileInfo>;

/** Contents of a playback address. */
export interface PlaybackRequest {
  readonly service: ServiceId;
  readonly credentials: Readonly<Record<string, string>>;
  /** Sealed credentials, which identify the account. */
  readonly auth: string;
  /** Key of the fallback list, if there is one. */
  readonly fallback: string | undefined;
  readonly file: FileInfo;
  readonly filename: string;
}

/**
 * Creates and reads addresses that play a file from a debrid account. Addresses contain credentials only in sealed
 * form.
 */
export class PlaybackLinks {
  readonly #profiles: Profiles;
  /** Caches sealed credentials, so that the address of a stream does not change. */
  readonly #sealed = new LruMap<string, string>(200);

  constructor(profiles: Profiles) {
    this.#profiles = profiles;
  }

  /** Returns the part of the address that identifies an account. */
  sealCredentials(fingerprint: string, id: ServiceId, credentials: Readonly<Record<string, string>>): string {
    const cached = this.#sealed.get(fingerprint);
    if (cached !== undefined) return cached;
    const sealed = this.#profiles.seal(JSON.stringify({ id, credentials }), purpose);
    this.#sealed.set(fingerprint, sealed);
    return sealed;
  }

  /** Returns the path of a playback address below the base address of the service. */
  buildPath(auth: string, file: FileInfo, metadataId: string, filename: string): string {
    const info = Buffer.from(JSON.stringify(file)).toString('base64url');
    return `${prefix}${auth}/${noFallback}/${info}/${encodeURIComponent(metadataId)}/${encodeURIComponent(filename || file.hash)}`;
  }

  /** Returns true for playback addresses of this service. */
  isPlaybackUrl(url: string): boolean {
    return url.includes(prefix);
  }

  /** Adds the key of a fallback list to an address. */
  addFallback(url: string, fallback: string): string {
    const segments = splitUrl(url);
    if (segments?.[1] !== noFallback) return url;
    const prefixEnd = url.indexOf(prefix) + prefix.length;
    return url.slice(0, prefixEnd) + segments.with(1, fallback).join('/');
  }

  /** Works as {@link parsePath} for a complete address. */
  parseUrl(url: string): PlaybackRequest | undefined {
    const segments = splitUrl(url);
    return segments === undefined ? undefined : this.parsePath(segments);
  }

  /** Decodes a playback address. Returns undefined for addresses that were not created with the current key. */
  parsePath(segments: readonly string[]): PlaybackRequest | undefined {
    const [auth = '', fallback = '', info = '', , filename = ''] = segments;
    if (!/^[A-Za-z0-9-]{1,64}$/.test(fallback) || segments.length !== 5) return undefined;
    const credentials = SealedCredentials.safeParse(parseJson(this.#profiles.unseal(auth, purpose) ?? ''));
    const file = FileInfo.safeParse(parseJson(Buffer.from(info, 'base64url').toString('utf8')));
    if (!credentials.success || !file.success) return undefined;
    return {
      service: credentials.data.id,
      credentials: credentials.data.credentials,
      auth,
      fallback: fallback === noFallback ? undefined : fallback,
      file: file.data,
      filename: decodePercentEncoding(filename) ?? '',
    };
  }
}

function splitUrl(url: string): string[] | undefined {
  const prefixIndex = url.indexOf(prefix);
  return prefixIndex === -1 ? undefined : url.slice(prefixIndex + prefix.length).split('/');
}
