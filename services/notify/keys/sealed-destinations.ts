import type { Vault } from '../../contracts/service.ts';
import { urlPurpose } from '../deliver/job.ts';
import { destinationId, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { ShownUrls } from './masked-urls.ts';
import type { OpenDelivery } from '../store/notifications.ts';

/** Destinations that are kept opened. */
const mostOpened = 500;

interface Written {
  readonly sealedUrl: string;
  readonly shownUrl: string;
}

/**
 * Destinations as deliveries keep them. Each is sealed, and opened, once and not for each of its deliveries: a key's
 * destinations stay the same objects as long as its text is the same.
 */
export class SealedDestinations {
  readonly #vault: Vault;
  readonly #engine: EngineDestinations;
  readonly #shown: ShownUrls;
  readonly #written = new WeakMap<Destination, Written>();
  readonly #opened = new Map<string, Destination>();

  constructor(vault: Vault, engine: EngineDestinations, shown: ShownUrls) {
    this.#vault = vault;
    this.#shown = shown;
    this.#engine = engine;
  }

  write(destination: Destination): Written {
    const known = this.#written.get(destination);
    if (known !== undefined) return known;
    const sealedUrl = this.#vault.seal(destination.url(false), urlPurpose);
    const written = { sealedUrl, shownUrl: this.#shown.seal(destination.url(true)) };
    this.#written.set(destination, written);
    return written;
  }

  /** The destination, or a sentence that says why there is none. @throws Problem `vault.unreadable`. */
  open({ sealedUrl, service, shownUrl }: OpenDelivery): Destination | string {
    const known = this.#opened.get(sealedUrl);
    if (known !== undefined) return known;
    let isEngines = false;
    const destination = parseDestination(this.#vault.open(sealedUrl, urlPurpose), (url) => {
      isEngines = true;
      return this.#engine.open({ service, url, masked: this.#shown.open(shownUrl), optional: false });
    });
    if (typeof destination !== 'string' && !isEngines) this.#keep(sealedUrl, destination);
    return destination;
  }

  #keep(sealedUrl: string, destination: Destination): void {
    this.#opened.set(sealedUrl, destination);
    if (this.#opened.size <= mostOpened) return;
    for (const oldest of this.#opened.keys()) return void this.#opened.delete(oldest);
  }
}

const ids = new WeakMap<Destination, string>();

/** Stable identity of a destination, made once for each. */
export function idOf(destination: Destination): string {
  const known = ids.get(destination);
  if (known !== undefined) return known;
  const id = destinationId(destination);
  ids.set(destination, id);
  return id;
}
