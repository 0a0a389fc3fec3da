import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Item } from '../domain/item.ts';

const largest = 5 * 1024 * 1024;
const largestInline = 1024 * 1024;
const patienceMs = 15_000;
/** A site that has no picture now is not asked again for this long. */
const askAgainMs = 10 * 60_000;
const mostRemembered = 10_000;

export interface Picture {
  readonly path: string;
  readonly type: string;
}

/**
 * Small pictures of videos, fetched when a page first asks and kept until the download is forgotten. Their addresses
 * come from strangers: private ones are refused unless the settings allow them, and only images are kept.
 */
export class Thumbnails {
  readonly #context: Context;
  readonly #settings: { readonly allowPrivateAddresses: boolean };
  readonly #folder: string;
  readonly #fetching = new Map<string, Promise<Picture | undefined>>();
  readonly #absent = new Map<string, number>();

  constructor(context: Context, settings: { readonly allowPrivateAddresses: boolean }) {
    this.#context = context;
    this.#settings = settings;
    this.#folder = join(context.files, 'thumbnails');
  }

  get #trust(): 'owner' | 'other' {
    return this.#settings.allowPrivateAddresses ? 'owner' : 'other';
  }

  /** Undefined when there is none, or it cannot be had now. */
  async of({ uid, thumbnail }: Pick<Item, 'uid' | 'thumbnail'>): Promise<Picture | undefined> {
    if (thumbnail === null) return undefined;
    const path = join(this.#folder, uid);
    const type = await typeOf(path);
    if (type !== undefined) return { path, type };
    if ((this.#absent.get(uid) ?? 0) > this.#context.clock.now()) return undefined;
    const fetching = this.#fetching.get(uid) ?? this.#fetch(thumbnail, path);
    this.#fetching.set(uid, fetching);
    try {
      const picture = await fetching;
      if (picture === undefined) this.#remember(uid);
      return picture;
    } finally {
      this.#fetching.delete(uid);
    }
  }

  /** A picture as a `data:` address, kept nowhere; null when it cannot be had. */
  async inline(address: string): Promise<string | null> {
    try {
      const reply = await this.#context.fetch(address, {
        ...{ trust: this.#trust, maxBytes: largestInline, timeoutMs: patienceMs },
      });
      const type = reply.status === 200 ? imageType(reply.body) : undefined;
      return type === undefined ? null : `data:${type};base64,${Buffer.from(reply.body).toString('base64')}`;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return null;
    }
  }

  async forget(uid: string): Promise<void> {
    this.#absent.delete(uid);
    await rm(join(this.#folder, uid), { force: true });
  }

  async #fetch(address: string, path: string): Promise<Picture | undefined> {
    const { fetch, log } = this.#context;
    try {
      const reply = await fetch(address, { trust: this.#trust, maxBytes: largest, timeoutMs: patienceMs });
      if (reply.status !== 200 || imageType(reply.body) === undefined) return undefined;
      await mkdir(this.#folder, { recursive: true });
      await writeFile(`${path}.part`, reply.body);
      await rename(`${path}.part`, path);
    } catch (error) {
      if (!(error instanceof Problem)) log.warn('a picture could not be kept', { error });
      return undefined;
    }
    const type = await typeOf(path);
    return type === undefined ? undefined : { path, type };
  }

  #remember(uid: string): void {
    if (this.#absent.size >= mostRemembered) this.#absent.clear();
    this.#absent.set(uid, this.#context.clock.now() + askAgainMs);
  }
}

async function typeOf(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const head = new Uint8Array(12);
    await file.read(head, 0, head.length, 0);
    return imageType(head);
  } finally {
    await file.close();
  }
}

/** By the first bytes, whatever the site says: SVG, which can hold scripts, is not among them. */
function imageType(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, 12));
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('\x89PNG\r\n')) return 'image/png';
  if (text.startsWith('GIF8')) return 'image/gif';
  if (text.startsWith('RIFF') && text.endsWith('WEBP')) return 'image/webp';
  return /^....ftypavi[fs]/s.test(text) ? 'image/avif' : undefined;
}
