import type { Vault } from '../contracts/service.ts';
import { destinationId, parseDestination } from './destinations/catalogue.ts';
import type { Destination } from './destinations/destination.ts';
import type { EngineDestinations } from './engine/destinations.ts';
import type { OpenDelivery } from './store/notices.ts';

/** What the seals of destination URLs are bound to. */
const urlPurpose = 'notify.destination';
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
  readonly #written = new WeakMap<Destination, Written>();
  readonly #opened = new Map<string, Destination | string>();

  constructor(vault: Vault, engine: EngineDestinations) {
    this.#vault = vault;
    this.#engine = engine;
  }

  write(destination: Destination): Written {
    const known = this.#written.get(destination);
    if (known !== undefined) return known;
    const sealedUrl = this.#vault.seal(destination.url(false), urlPurpose);
    const written = { sealedUrl, shownUrl: destination.url(true) };
    this.#written.set(destination, written);
    return written;
  }

  /** The destination, or a sentence that says why there is none. @throws Problem `vault.unreadable`. */
  open({
    sealedUrl,
    service,
    shownUrl,
  }: Pick<OpenDelivery, 'sealedUrl' | 'service' | 'shownUrl'>): Destination | string {
    const known = this.#opened.get(sealedUrl);
    if (known !== undefined) return known;
    const destination = parseDestination(this.#vault.open(sealedUrl, urlPurpose), (url) =>
      this.#engine.open({ service, url, masked: shownUrl, optional: false }),
    );
    this.#opened.set(sealedUrl, destination);
    if (this.#opened.size > mostOpened) {
      for (const oldest of this.#opened.keys()) {
        this.#opened.delete(oldest);
        break;
      }
    }
    return destination;
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
