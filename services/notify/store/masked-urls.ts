import type { Vault } from '../../contracts/service.ts';

const purpose = 'notify.shown-url';
/** Part of every unsealed URL, but of no seal. */
const unsealedMarker = '://';

/**
 * Seals URLs with masked passwords, as pages show them. Other parts may be secret as well, such as a path or query of
 * an unknown program, so they are stored sealed.
 */
export class MaskedUrls {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  seal(url: string): string {
    return this.#vault.seal(url, purpose);
  }

  /**
   * Opens a sealed URL. Rows of older versions are not sealed.
   *
   * @throws Problem `vault.unreadable`.
   */
  open(sealedUrl: string): string {
    return sealedUrl === '' || sealedUrl.includes(unsealedMarker) ? sealedUrl : this.#vault.open(sealedUrl, purpose);
  }
}

/** Returns the URL for log messages, without the part after the host. */
export function toLoggedUrl(url: string): string {
  return url.replace(/^([^:]*:\/\/[^/?#]*).+$/s, '$1/…');
}
