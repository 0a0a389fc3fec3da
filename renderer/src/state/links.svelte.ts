import { SvelteMap } from 'svelte/reactivity';
import { controlApi } from '../../../services/contracts/control/api.ts';
import { call } from '../api/call.ts';
import { toasts } from './toasts.svelte.ts';

/** Maximum number of paths in one call, as on the host. */
const maxPaths = 200;
/** Time in which requested paths, such as those of the rows of a list, are collected for one call. */
const batchDelayMs = 10;
/** Links are valid for a day and are renewed after half of it. */
const renewAfterMs = 12 * 60 * 60_000;

interface Link {
  readonly url: string;
  readonly createdAt: number;
}

/**
 * Signed links under which the browser itself reads files of the app API. It sends no session header for images,
 * players and downloads, so the host signs a link for each.
 */
class Links {
  readonly #links = new SvelteMap<string, Link>();
  readonly #pending = new Set<string>();
  #isBatching = false;
  /** Incremented with each session: links of an earlier session are not stored. */
  #session = 0;

  /** Returns the link of a path; undefined until the host has sent it. */
  findUrl(path: string, query: Readonly<Record<string, string>> = {}): string | undefined {
    const link = this.#links.get(path);
    if (link === undefined || Date.now() - link.createdAt > renewAfterMs) this.#request(path);
    return link === undefined ? undefined : withQuery(link, query);
  }

  /**
   * Returns the link of a path that is needed once.
   * @throws Problem
   */
  async loadUrl(path: string, query: Readonly<Record<string, string>> = {}): Promise<string> {
    const existing = this.#links.get(path);
    if (existing !== undefined && Date.now() - existing.createdAt <= renewAfterMs) return withQuery(existing, query);
    const [link] = await this.#load([path]);
    return link === undefined ? path : withQuery(link, query);
  }

  /** Removes the links of the previous session. */
  clear(): void {
    this.#session += 1;
    this.#links.clear();
    this.#pending.clear();
  }

  #request(path: string): void {
    this.#pending.add(path);
    if (this.#isBatching) return;
    this.#isBatching = true;
    setTimeout(() => {
      this.#isBatching = false;
      const paths = [...this.#pending];
      this.#pending.clear();
      for (let start = 0; start < paths.length; start += maxPaths) {
        this.#load(paths.slice(start, start + maxPaths)).catch((error: unknown) => toasts.showError(error));
      }
    }, batchDelayMs);
  }

  async #load(paths: readonly string[]): Promise<readonly Link[]> {
    const session = this.#session;
    const { links } = await call(controlApi.links, { body: { paths: [...paths] } });
    const created = links.map((url) => ({ url, createdAt: Date.now() }));
    if (session !== this.#session) return created;
    for (const [index, link] of created.entries()) this.#links.set(paths[index] ?? '', link);
    return created;
  }
}

function withQuery({ url }: Link, query: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(query).toString();
  return search === '' ? url : `${url}?${search}`;
}

export const links = new Links();
