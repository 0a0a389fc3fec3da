import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { findIconType } from './icon-type.ts';
import { findIconLinks } from './icon-link.ts';

const maxIconBytes = 32 * 1024;
const maxPageBytes = 512 * 1024;
const timeoutMs = 5000;
const maxRedirects = 3;
/** Maximum number of sites that are requested at the same time. */
const maxConcurrency = 4;
/** Maximum number of stored sites; the oldest ones are deleted first. */
const maxSites = 500;
const dayMs = 86_400_000;
/** Time after which an icon, or its absence, is requested again. */
const foundMaxAgeMs = 30 * dayMs;
const missingMaxAgeMs = dayMs;

export interface FaviconOptions {
  readonly context: Pick<Context, 'clock' | 'fetch' | 'files' | 'log'>;
  /** The setting is live. */
  readonly isEnabled: () => boolean;
}

/**
 * Icons of monitored websites, requested from the site itself with the network policy of addresses that the owner
 * entered, and stored in one file per site. An empty file means that the site has none.
 */
export class Favicons {
  readonly #options: FaviconOptions;
  readonly #folder: string;
  readonly #running = new Map<string, Promise<string | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #activeCount = 0;

  constructor(options: FaviconOptions) {
    this.#options = options;
    this.#folder = join(options.context.files, 'favicons');
  }

  /** Returns the icon of a website as a data URL; undefined for other addresses and for sites without an icon. */
  async find(address: string): Promise<string | undefined> {
    const url = URL.parse(address);
    if (!this.#options.isEnabled() || url === null || !/^https?:$/.test(url.protocol)) return undefined;
    const { origin } = url;
    const running = this.#running.get(origin) ?? this.#findOnce(origin);
    this.#running.set(origin, running);
    return await running.finally(() => this.#running.delete(origin));
  }

  async #findOnce(origin: string): Promise<string | undefined> {
    const path = join(this.#folder, createHash('sha256').update(origin).digest('hex'));
    const stored = await this.#read(path);
    if (stored !== undefined) return await toDataUrl(stored);
    const icon = await this.#request(origin);
    try {
      await this.#store(path, icon ?? Buffer.alloc(0));
    } catch (error) {
      // A full disk only means that the icon is requested again.
      this.#options.context.log.warn('favicon not stored', { error });
    }
    return icon === undefined ? undefined : await toDataUrl(icon);
  }

  /** Returns the stored icon, which is empty for a site without one; undefined if it is missing or too old. */
  async #read(path: string): Promise<Buffer | undefined> {
    try {
      const { mtimeMs, size } = await stat(path);
      const maxAgeMs = size === 0 ? missingMaxAgeMs : foundMaxAgeMs;
      if (this.#options.context.clock.now() - mtimeMs > maxAgeMs) return undefined;
      return await readFile(path);
    } catch {
      return undefined;
    }
  }

  async #store(path: string, icon: Buffer): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeFile(path, icon);
    const now = new Date(this.#options.context.clock.now());
    await utimes(path, now, now);
    const names = await readdir(this.#folder);
    if (names.length <= maxSites) return;
    const files = await Promise.all(
      names.map(async (name) => {
        const file = join(this.#folder, name);
        const stats = await stat(file).catch(() => undefined);
        return { file, time: stats?.mtimeMs ?? 0 };
      }),
    );
    const oldest = files.toSorted((a, b) => a.time - b.time).slice(0, names.length - maxSites);
    for (const { file } of oldest) await rm(file, { force: true });
  }

  /** Requests the icons that the page links, then the usual address. */
  async #request(origin: string): Promise<Buffer | undefined> {
    await this.#enter();
    try {
      const page = await this.#fetch(`${origin}/`, maxPageBytes);
      const links = page === undefined ? [] : findIconLinks(Buffer.from(page.body).toString('latin1'), page.url);
      for (const url of [...links.slice(0, 2), `${origin}/favicon.ico`]) {
        const reply = await this.#fetch(url, maxIconBytes);
        const icon = reply === undefined ? undefined : Buffer.from(reply.body);
        if (icon !== undefined && (await findIconType(icon)) !== undefined) return icon;
      }
      return undefined;
    } finally {
      this.#leave();
    }
  }

  async #fetch(url: string, maxBytes: number) {
    try {
      const reply = await this.#options.context.fetch(url, { maxBytes, maxRedirects, timeoutMs, trust: 'owner' });
      return reply.status === 200 ? reply : undefined;
    } catch (error) {
      // The check of the monitor reports why a site is not reachable.
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  async #enter(): Promise<void> {
    if (this.#activeCount >= maxConcurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#activeCount += 1;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    // The next request takes over the place of this one.
    if (next === undefined) this.#activeCount -= 1;
    else next();
  }
}

async function toDataUrl(icon: Buffer): Promise<string | undefined> {
  const type = await findIconType(icon);
  return type === undefined ? undefined : `data:${type};base64,${icon.toString('base64')}`;
}
