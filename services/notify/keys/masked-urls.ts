import type { Vault } from '../../contracts/service.ts';

const purpose = 'notify.shown-url';
/** A plain URL has this behind its scheme, a seal nowhere. */
const unsealedMarker = '://';

/**
 * URLs as pages show them, their passwords masked. What is no password there may be a secret all the same, as a path or a
 * query that somebody else's program made up, so in tables they are sealed too.
 */
export class MaskedUrls {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  seal(url: string): string {
    return this.#vault.seal(url, purpose);
  }

  /** Rows of older versions have them plain. @throws Problem `vault.unreadable`. */
  open(stored: string): string {
    return stored === '' || stored.includes(unsealedMarker) ? stored : this.#vault.open(stored, purpose);
  }
}

/** The URL as the log names it: without whatever stands behind its host. */
export function toLoggedUrl(url: string): string {
  return url.replace(/^([^:]*:\/\/[^/?#]*).+$/s, '$1/…');
}
