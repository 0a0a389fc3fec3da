import type { X509Certificate } from 'node:crypto';
import type { SuggestedAction } from '../../contracts/health.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { Certificates, Shown } from './certificates.ts';
import { readOwn, stampOf, type OwnFiles } from './own-files.ts';

interface CurrentParts {
  readonly certificates: Certificates;
  readonly clock: Clock;
  /** The owner's own; empty paths for none. */
  readonly files: () => OwnFiles;
  /** Called with each one that takes the place of another. */
  readonly replaced: (certificate: Shown) => void;
}

/** What devices are shown: the owner's own certificate where there is one that can be used, else the local authority's. */
export class CurrentCertificate {
  readonly #parts: CurrentParts;
  #shown: Shown | undefined;
  /** What the files were like when they were read. */
  #stamp = '';
  #trouble = '';
  /** Name of the stored key that cannot be read. */
  #unreadableKey: string | undefined;

  constructor(parts: CurrentParts) {
    this.#parts = parts;
  }

  get shown(): Shown | undefined {
    return this.#shown;
  }

  /** Lets an administrator replace a stored key that cannot be read. */
  get remedy(): SuggestedAction | undefined {
    if (this.#unreadableKey === undefined) return undefined;
    const path = `/api/services/gateway/keys/${encodeURIComponent(this.#unreadableKey)}/replace`;
    return { label: 'Replace the key', to: '/', post: { path, body: {} }, adminOnly: true };
  }

  get problems(): readonly string[] {
    const isOver = this.#shown !== undefined && this.#shown.expiresAt <= this.#parts.clock.now();
    const expired = isOver ? ['Your own certificate has expired: devices refuse it.'] : [];
    return this.#trouble === '' ? expired : [this.#trouble, ...expired];
  }

  /** Of the authority that signed it; undefined for the owner's own. */
  async authority(): Promise<X509Certificate | undefined> {
    return this.#shown?.source === 'local' ? this.#parts.certificates.authority() : undefined;
  }

  /** Makes or reads another where the one at hand is old, or for other names. */
  async renew(title: string, names: readonly string[]): Promise<void> {
    const files = this.#parts.files();
    const local = (): Promise<Shown> => this.#parts.certificates.leaf(title, names);
    try {
      this.#show(files.certFile === '' ? await local() : await this.#own(files));
      this.#trouble = '';
      this.#unreadableKey = undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#trouble = error.detail;
      this.#unreadableKey = error.code === 'vault.key_unreadable' ? error.fields['key'] : undefined;
      // Devices that trust the authority reach what is shared until the owner has looked after the files.
      if (this.#shown === undefined) this.#show(await local());
    }
  }

  #show(certificate: Shown | undefined): void {
    if (certificate === undefined || certificate.cert === this.#shown?.cert) return;
    this.#shown = certificate;
    this.#parts.replaced(certificate);
  }

  /** Undefined while the files are those that were read. */
  async #own(files: OwnFiles): Promise<Shown | undefined> {
    const stamp = await stampOf(files);
    if (stamp === this.#stamp && this.#shown?.source === 'own' && this.#trouble === '') return undefined;
    const shown = await readOwn(files);
    this.#stamp = stamp;
    return shown;
  }
}
