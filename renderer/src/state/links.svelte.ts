import { SvelteMap } from 'svelte/reactivity';
import { controlApi } from '../../../services/contracts/control/api.ts';
import { call } from '../api/call.ts';
import { toasts } from './toasts.svelte.ts';

/** The host takes as many in one call. */
const callLimit = 200;
/** Paths that are asked for together, as by the rows of a list, make one call; ms. */
const gatherMs = 10;
/** A link is good for a day. */
const freshMs = 12 * 60 * 60_000;

interface Link {
  readonly address: string;
  readonly at: number;
}

/**
 * Addresses under which the browser itself may read files of our API. It sends no header of ours for a picture, a player or a
 * download, so the host makes a link for each.
 */
class Links {
  readonly #known = new SvelteMap<string, Link>();
  readonly #asked = new Set<string>();
  #gathering = false;
  /** Grows with each session: what was asked for one is not the next one's. */
  #session = 0;

  /** The address of what lies at a path; undefined until the host has told it. */
  to(path: string, query: Readonly<Record<string, string>> = {}): string | undefined {
    const link = this.#known.get(path);
    if (link === undefined || Date.now() - link.at > freshMs) this.#ask(path);
    return link === undefined ? undefined : withQuery(link, query);
  }

  /** The same for one that is needed only now. @throws Problem */
  async load(path: string, query: Readonly<Record<string, string>> = {}): Promise<string> {
    const known = this.#known.get(path);
    if (known !== undefined && Date.now() - known.at <= freshMs) return withQuery(known, query);
    const [link] = await this.#load([path]);
    return link === undefined ? path : withQuery(link, query);
  }

  /** They were another session's. */
  forget(): void {
    this.#session += 1;
    this.#known.clear();
    this.#asked.clear();
  }

  #ask(path: string): void {
    this.#asked.add(path);
    if (this.#gathering) return;
    this.#gathering = true;
    setTimeout(() => {
      this.#gathering = false;
      const paths = [...this.#asked];
      this.#asked.clear();
      for (let start = 0; start < paths.length; start += callLimit) {
        this.#load(paths.slice(start, start + callLimit)).catch((error: unknown) => toasts.sayWhy(error));
      }
    }, gatherMs);
  }

  async #load(paths: readonly string[]): Promise<readonly Link[]> {
    const session = this.#session;
    const { links } = await call(controlApi.links, { body: { paths: [...paths] } });
    const made = links.map((address) => ({ address, at: Date.now() }));
    if (session !== this.#session) return made;
    for (const [index, link] of made.entries()) this.#known.set(paths[index] ?? '', link);
    return made;
  }
}

function withQuery({ address }: Link, query: Readonly<Record<string, string>>): string {
  const more = new URLSearchParams(query).toString();
  return more === '' ? address : `${address}?${more}`;
}

export const links = new Links();
