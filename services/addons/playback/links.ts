import { z } from 'zod';
import { serviceIds, type ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../domain/lru-map.ts';
import type { Profiles } from '../profiles/profiles.ts';

const purpose = 'addons.playback';
const prefix = '/api/v1/debrid/playback/';
/** Placeholder for an absent fallback list. Players of the peer write it into addresses to disable failover. */
const none = '-';
const StoreAuth = z.object({ id: z.enum(serviceIds), credentials: z.record(z.string(), z.string()) });
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
  auth(fingerprint: string, id: ServiceId, credentials: Readonly<Record<string, string>>): string {
    const known = this.#sealed.get(fingerprint);
    if (known !== undefined) return known;
    const sealed = this.#profiles.seal(JSON.stringify({ id, credentials }), purpose);
    this.#sealed.set(fingerprint, sealed);
    return sealed;
  }

  /** Returns the path of a playback address below the base address of the service. */
  path(auth: string, file: FileInfo, metadataId: string, filename: string): string {
    const info = Buffer.from(JSON.stringify(file)).toString('base64url');
    return `${prefix}${auth}/${none}/${info}/${encodeURIComponent(metadataId)}/${encodeURIComponent(filename || file.hash)}`;
  }

  /** Returns true for playback addresses of this service. */
  isOwn(url: string): boolean {
    return url.includes(prefix);
  }

  /** Adds the key of a fallback list to an address. */
  withFallback(url: string, fallback: string): string {
    const parts = partsOf(url);
    if (parts?.[1] !== none) return url;
    const at = url.indexOf(prefix) + prefix.length;
    return url.slice(0, at) + parts.with(1, fallback).join('/');
  }

  /** Works as {@link read} for a complete address. */
  readUrl(url: string): PlaybackRequest | undefined {
    const parts = partsOf(url);
    return parts === undefined ? undefined : this.read(parts);
  }

  /** Decodes a playback address. Returns undefined for addresses that were not created with the current key. */
  read(parts: readonly string[]): PlaybackRequest | undefined {
    const [auth = '', fallback = '', info = '', , filename = ''] = parts;
    if (!/^[A-Za-z0-9-]{1,64}$/.test(fallback) || parts.length !== 5) return undefined;
    const store = StoreAuth.safeParse(parse(this.#profiles.unseal(auth, purpose)));
    const file = FileInfo.safeParse(parse(Buffer.from(info, 'base64url').toString('utf8')));
    if (!store.success || !file.success) return undefined;
    return {
      service: store.data.id,
      credentials: store.data.credentials,
      auth,
      fallback: fallback === none ? undefined : fallback,
      file: file.data,
      filename: decoded(filename),
    };
  }
}

function partsOf(url: string): string[] | undefined {
  const at = url.indexOf(prefix);
  return at === -1 ? undefined : url.slice(at + prefix.length).split('/');
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
