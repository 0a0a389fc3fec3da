import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { detectionBytes, findImageType } from '../../kit/file-type.ts';
import type { Item } from '../domain/item.ts';

const maxBytes = 5 * 1024 * 1024;
const maxInlineBytes = 1024 * 1024;
const timeoutMs = 15_000;
/** Delay before a missing picture is requested again. */
const retryDelayMs = 10 * 60_000;
const maxAbsent = 10_000;

export interface Picture {
  readonly path: string;
  readonly type: string;
}

/**
 * Thumbnails, fetched at the first request and stored until the download is deleted. Their addresses are untrusted:
 * private ones are refused unless the settings allow them, and only images are stored.
 */
export class Thumbnails {
  readonly #context: Context;
  readonly #settings: { readonly allowPrivateAddresses: boolean };
  readonly #folder: string;
  readonly #fetching = new Map<string, Promise<Picture | undefined>>();
  readonly #missingUntil = new Map<string, number>();

  constructor(context: Context, settings: { readonly allowPrivateAddresses: boolean }) {
    this.#context = context;
    this.#settings = settings;
    this.#folder = join(context.files, 'thumbnails');
  }

  get #trust(): 'owner' | 'other' {
    return this.#settings.allowPrivateAddresses ? 'owner' : 'other';
  }

  /** Returns the stored or fetched picture; undefined when it is not available. */
  async get({ uid, thumbnail }: Pick<Item, 'uid' | 'thumbnail'>): Promise<Picture | undefined> {
    if (thumbnail === null) return undefined;
    const path = join(this.#folder, uid);
    const type = await readImageType(path);
    if (type !== undefined) return { path, type };
    if ((this.#missingUntil.get(uid) ?? 0) > this.#context.clock.now()) return undefined;
    const fetching = this.#fetching.get(uid) ?? this.#fetch(thumbnail, path);
    this.#fetching.set(uid, fetching);
    try {
      const picture = await fetching;
      if (picture === undefined) this.#markMissing(uid);
      return picture;
    } finally {
      this.#fetching.delete(uid);
    }
  }

  /** Fetches a picture as a `data:` address without storing it; null when it is not available. */
  async fetchInline(address: string): Promise<string | null> {
    try {
      const reply = await this.#context.fetch(address, {
        trust: this.#trust,
        maxBytes: maxInlineBytes,
        timeoutMs,
      });
      const type = reply.status === 200 ? await findImageType(reply.body) : undefined;
      return type === undefined ? null : `data:${type};base64,${Buffer.from(reply.body).toString('base64')}`;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return null;
    }
  }

  async remove(uid: string): Promise<void> {
    this.#missingUntil.delete(uid);
    await rm(join(this.#folder, uid), { force: true });
  }

  async #fetch(address: string, path: string): Promise<Picture | undefined> {
    const { fetch, log } = this.#context;
    try {
      const reply = await fetch(address, { trust: this.#trust, maxBytes, timeoutMs });
      if (reply.status !== 200 || (await findImageType(reply.body)) === undefined) return undefined;
      await mkdir(this.#folder, { recursive: true });
      await writeFile(`${path}.part`, reply.body);
      await replaceFile(`${path}.part`, path);
    } catch (error) {
      if (!(error instanceof Problem)) log.warn('thumbnail not stored', { error });
      return undefined;
    }
    const type = await readImageType(path);
    return type === undefined ? undefined : { path, type };
  }

  #markMissing(uid: string): void {
    if (this.#missingUntil.size >= maxAbsent) this.#missingUntil.clear();
    this.#missingUntil.set(uid, this.#context.clock.now() + retryDelayMs);
  }
}

async function readImageType(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(detectionBytes), 0, detectionBytes, 0);
    return await findImageType(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
