import { z } from 'zod';
import { serviceIds, type ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../domain/lru.ts';
import type { Profiles } from '../profiles/profiles.ts';

const purpose = 'addons.playback';
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
    return `/api/v1/debrid/playback/${auth}/-/${info}/${encodeURIComponent(metadataId)}/${encodeURIComponent(filename || file.hash)}`;
  }

  /** Undefined when it is none that was made here. */
  read(parts: readonly string[]): PlaybackRequest | undefined {
    const [auth = '', dash, info = '', , filename = ''] = parts;
    if (dash !== '-' || parts.length !== 5) return undefined;
    const store = StoreAuth.safeParse(parse(this.#profiles.unseal(auth, purpose)));
    const file = FileInfo.safeParse(parse(Buffer.from(info, 'base64url').toString('utf8')));
    if (!store.success || !file.success) return undefined;
    return {
      service: store.data.id,
      credentials: store.data.credentials,
      auth,
      file: file.data,
      filename: decoded(filename),
    };
  }
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
