import type { Vault } from '../../contracts/service.ts';
import { destinationId, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { MaskedUrls } from '../store/masked-urls.ts';
import type { OpenDelivery } from '../store/notifications.ts';
import { LruMap } from '../../kit/lru-map.ts';

/** Purpose to which the seals of destination URLs are bound. */
const urlPurpose = 'notify.destination';
/** Maximum number of opened destinations in the cache. */
const maxOpened = 500;

interface SealedUrls {
  readonly sealedUrl: string;
  readonly shownUrl: string;
}

/**
 * Seals and opens the destinations of deliveries, each once and not for each delivery: the destinations of a key
 * remain the same objects while its text is unchanged.
 */
export class SealedDestinations {
  readonly #vault: Vault;
  readonly #engine: EngineDestinations;
  readonly #maskedUrls: MaskedUrls;
  readonly #sealed = new WeakMap<Destination, SealedUrls>();
  readonly #opened = new LruMap<string, Destination>(maxOpened);

  constructor(vault: Vault, engine: EngineDestinations, maskedUrls: MaskedUrls) {
    this.#vault = vault;
    this.#maskedUrls = maskedUrls;
    this.#engine = engine;
  }

  seal(destination: Destination): SealedUrls {
    const cached = this.#sealed.get(destination);
    if (cached !== undefined) return cached;
    const sealedUrl = this.#vault.seal(destination.url(false), urlPurpose);
    const sealedUrls = { sealedUrl, shownUrl: this.#maskedUrls.seal(destination.url(true)) };
    this.#sealed.set(destination, sealedUrls);
    return sealedUrls;
  }

  /**
   * Opens a destination, or returns the reason why it is invalid.
   *
   * @throws Problem `vault.unreadable`.
   */
  open({ sealedUrl, service, shownUrl }: OpenDelivery): Destination | string {
    const cached = this.#opened.get(sealedUrl);
    if (cached !== undefined) return cached;
    let usesEngine = false;
    const destination = parseDestination(this.#vault.open(sealedUrl, urlPurpose), (url) => {
      usesEngine = true;
      return this.#engine.createDestination({ service, url, masked: this.#maskedUrls.open(shownUrl), optional: false });
    });
    if (typeof destination !== 'string' && !usesEngine) this.#opened.set(sealedUrl, destination);
    return destination;
  }
}

const ids = new WeakMap<Destination, string>();

/** Returns the stable ID of a destination, which is computed once. */
export function getDestinationId(destination: Destination): string {
  const cached = ids.get(destination);
  if (cached !== undefined) return cached;
  const id = destinationId(destination);
  ids.set(destination, id);
  return id;
}
