import { z } from 'zod';
import { serviceIds, type ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../domain/lru-map.ts';
import type { Profiles } from '../profiles/profiles.ts';

const purpose = 'addons.playback';
const prefix = '/api/v1/debrid/playback/';
/** Stands for no list of others; players of the peer put it into addresses to switch them off. */
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

/** Which file of which torrent is to be played. */
export type FileInfo = z.infer<typeof FileInfo>;

/** What a playback address holds. */
export interface PlaybackRequest {
  readonly service: ServiceId;
  readonly credentials: Readonly<Record<string, string>>;
  /** The sealed part, which stands for the account. */
  readonly auth: string;
  /** Names the list it stood in, where others of it may be played instead. */
  readonly fallback: string | undefined;
  readonly file: FileInfo;
  readonly filename: string;
}

/** Addresses that play something from a debrid account. The key is in them only under the server's seal. */
export class PlaybackLinks {
  readonly #profiles: Profiles;
  /** One account has one text, so that a stream's address is the same each time. */
  readonly #sealed = new LruMap<string, string>(200);

  constructor(profiles: Profiles) {
    this.#profiles = profiles;
  }

  /** The part of the address that stands for an account. */
  auth(fingerprint: string, id: ServiceId, credentials: Readonly<Record<string, string>>): string {
    const known = this.#sealed.get(fingerprint);
    if (known !== undefined) return known;
    const sealed = this.#profiles.seal(JSON.stringify({ id, credentials }), purpose);
    this.#sealed.set(fingerprint, sealed);
    return sealed;
  }

  /** Below the service's own base address. */
  path(auth: string, file: FileInfo, metadataId: string, filename: string): string {
    const info = Buffer.from(JSON.stringify(file)).toString('base64url');
    return `${prefix}${auth}/${none}/${info}/${encodeURIComponent(metadataId)}/${encodeURIComponent(filename || file.hash)}`;
  }

  /** Whether an address plays from here. */
  isOwn(url: string): boolean {
    return url.includes(prefix);
  }

  /** The address with the list in which others of it are. */
  withFallback(url: string, fallback: string): string {
    const parts = partsOf(url);
    if (parts?.[1] !== none) return url;
    const at = url.indexOf(prefix) + prefix.length;
    return url.slice(0, at) + parts.with(1, fallback).join('/');
  }

  /** {@link read} of a whole address. */
  readUrl(url: string): PlaybackRequest | undefined {
    const parts = partsOf(url);
    return parts === undefined ? undefined : this.read(parts);
  }

  /** Undefined when it is none that was made here. */
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
