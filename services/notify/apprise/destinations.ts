import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Log, Vault } from '../../contracts/service.ts';
import { isServed, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import { parseDestinationUrl } from '../destinations/url.ts';
import { ShownUrls } from '../keys/masked-urls.ts';
import type { EngineUrlStore } from '../store/engine-urls.ts';
import { engineDestination, type Described } from './destination.ts';
import type { Library } from './library.ts';
import { engineServices, refusedSchemes } from '../../contracts/notify/engine-schemes.ts';

/** URLs that are asked about at once. */
const batch = 100;
/** How long their answer may take. */
const describeMs = 15_000;
/** After a failure nobody waits for another one for so long. */
const pauseMs = 15_000;
/** URLs whose answer is remembered. */
const mostKnown = 10_000;
/** What the seals of normal forms are bound to. */
const purpose = 'notify.engine-url';
const hourMs = 3_600_000;

/** Says that a destination waits for the engine. Everything else that is said about a URL is final. */
export const needsEngine = 'it needs the Apprise engine';

const Answer = z.object({
  described: z.array(
    z.union([
      z.object({
        ok: z.literal(true),
        service: z.string(),
        url: z.string(),
        masked: z.string(),
        optional: z.boolean(),
      }),
      z.object({ ok: z.literal(false), log: z.array(z.tuple([z.string(), z.string()])) }),
    ]),
  ),
});

interface Refused {
  readonly refused: string;
  readonly at: number;
}

/**
 * The destinations of the URLs that are not native. Asking the library takes time, so it is asked first ({@link learn}), and
 * reading a configuration finds its answers.
 */
export class EngineDestinations {
  readonly #library: Library;
  readonly #store: EngineUrlStore;
  readonly #vault: Vault;
  readonly #shown: ShownUrls;
  readonly #clock: Clock;
  readonly #log: Log;
  /** By id, the least recently used first. */
  readonly #known = new Map<string, Described | Refused>();
  #asking: Promise<void> = Promise.resolve();
  #pausedUntil = -Infinity;

  constructor(parts: {
    readonly library: Library;
    readonly store: EngineUrlStore;
    readonly vault: Vault;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#library = parts.library;
    this.#store = parts.store;
    this.#vault = parts.vault;
    this.#shown = new ShownUrls(parts.vault);
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** Whether the engine is there. */
  async ready(): Promise<boolean> {
    return (await this.#library.version()) !== undefined;
  }

  /** Asks about the URLs nothing is known of. `keep`: they are in a configuration, so the answers outlive a restart. */
  async learn(urls: readonly string[], { keep }: { readonly keep: boolean }): Promise<void> {
    const unknown = new Map(
      urls
        .filter(isForeign)
        .map((url) => [idOf(url), url] as const)
        .filter(([id]) => !this.#isKnown(id)),
    );
    if (unknown.size === 0) return;
    for (const row of await this.#store.find([...unknown.keys()])) {
      unknown.delete(row.id);
      const url = this.#vault.open(row.sealed_url, purpose);
      this.#remember(row.id, {
        service: row.service,
        url,
        masked: this.#shown.open(row.shown_url),
        optional: row.optional === 1,
      });
    }
    if (unknown.size === 0 || this.#clock.now() < this.#pausedUntil || !(await this.ready())) return;
    // One after the other: a long list must not take all threads.
    const asking = this.#asking.then(() => this.#ask([...unknown], keep));
    this.#asking = asking;
    await asking;
  }

  /** The destination of a URL that is not native, or a sentence that says why there is none. */
  find(text: string): Destination | string {
    const { scheme = '' } = parseDestinationUrl(text) ?? {};
    const known = this.#known.get(idOf(text));
    if (!isForeign(text)) return `${scheme}:// is not served`;
    if (known === undefined) return isReachable(scheme) ? needsEngine : `${scheme}:// is not served`;
    if ('refused' in known) return known.refused;
    // A service's own web address may stand for one that is native.
    return isServed(known.url) ? parseDestination(known.url) : engineDestination(known, this.#library);
  }

  /** The destination of a URL that was taken when its notice was accepted. */
  open(described: Described): Destination | string {
    return isForeign(described.url) ? engineDestination(described, this.#library) : 'its scheme is not served';
  }

  /** Forgets what is kept about URLs that are in no configuration any more. */
  async forgetOthers(urls: readonly string[]): Promise<void> {
    await this.#store.keep(new Set(urls.filter(isForeign).map(idOf)));
  }

  async #ask(unknown: readonly (readonly [id: string, url: string])[], keep: boolean): Promise<void> {
    for (let at = 0; at < unknown.length; at += batch) {
      const asked = unknown.slice(at, at + batch);
      const job = { op: 'describe', urls: asked.map(([, url]) => url) };
      try {
        const signal = AbortSignal.timeout(describeMs);
        const { described } = await this.#library.use((child, stop) => child.ask(job, Answer, stop), signal);
        const taken = asked.flatMap(([id], index) => {
          const answer = described[index];
          if (answer === undefined) return [];
          this.#remember(id, answer.ok ? answer : { refused: refusalOf(answer.log), at: this.#clock.now() });
          return answer.ok ? [{ id, ...answer }] : [];
        });
        if (keep) await this.#keep(taken);
      } catch (error) {
        // The engine is there and does not work: the URLs stay unknown, and are asked about next time.
        this.#pausedUntil = this.#clock.now() + pauseMs;
        this.#log.warn('the Apprise library did not say whether it takes an address', { error });
        return;
      }
    }
  }

  async #keep(taken: readonly (Described & { readonly id: string })[]): Promise<void> {
    await this.#store.add(
      taken.map(({ id, service, url, masked, optional }) => ({
        ...{ id, service, optional: optional ? 1 : 0 },
        ...{ sealed_url: this.#vault.seal(url, purpose), shown_url: this.#shown.seal(masked) },
      })),
    );
  }

  #isKnown(id: string): boolean {
    const known = this.#known.get(id);
    // Another release may take what this one does not.
    return known !== undefined && !('refused' in known && this.#clock.now() - known.at > hourMs);
  }

  #remember(id: string, known: Described | Refused): void {
    this.#known.delete(id);
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
  }
}

function idOf(url: string): string {
  return createHash('sha256').update(url.trim()).digest('hex').slice(0, 32);
}

/** Whether the engine may be asked about it: a URL whose scheme is neither native nor refused. */
function isForeign(text: string): boolean {
  const url = parseDestinationUrl(text);
  return url !== undefined && !isServed(text) && !refusedSchemes.includes(url.scheme);
}

/** Whether it is worth a word about the engine while that is away. */
function isReachable(scheme: string): boolean {
  return engineServices.some(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols].includes(scheme));
}

function refusalOf(log: readonly (readonly [level: string, text: string])[]): string {
  const words = log.findLast(([level]) => level !== 'INFO')?.[1] ?? '';
  return `the Apprise library does not take it${words === '' ? '' : ` (${words.replace(/[.\s]+$/, '')})`}`;
}
