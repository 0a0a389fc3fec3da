import type { X509Certificate } from 'node:crypto';
import type { SuggestedAction } from '../../contracts/health.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { Certificates, Shown } from './certificates.ts';
import { readOwn, stampOf, type OwnFiles } from './own-files.ts';

interface CurrentParts {
  readonly certificates: Certificates;
  readonly clock: Clock;
  /** Files of the administrator's certificate; empty paths without one. */
  readonly files: () => OwnFiles;
  /** Called with each new certificate. */
  readonly replaced: (certificate: Shown) => void;
}

/** Selects the certificate to present: the administrator's when it is usable, otherwise one of the local authority. */
export class CurrentCertificate {
  readonly #parts: CurrentParts;
  #shown: Shown | undefined;
  /** Fingerprint of the files when they were read. */
  #stamp = '';
  #trouble = '';
  /** Name of the stored key that cannot be decrypted. */
  #unreadableKey: string | undefined;

  constructor(parts: CurrentParts) {
    this.#parts = parts;
  }

  get shown(): Shown | undefined {
    return this.#shown;
  }

  /** Action with which an administrator replaces an unreadable key. */
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

  /** Returns the certificate of the local authority; undefined for the administrator's certificate. */
  async authority(): Promise<X509Certificate | undefined> {
    return this.#shown?.source === 'local' ? this.#parts.certificates.authority() : undefined;
  }

  /** Issues or reads a certificate when the current one is outdated. */
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
      // Shared services stay reachable for devices that trust the authority until the files are fixed.
      if (this.#shown === undefined) this.#show(await local());
    }
  }

  #show(certificate: Shown | undefined): void {
    if (certificate === undefined || certificate.cert === this.#shown?.cert) return;
    this.#shown = certificate;
    this.#parts.replaced(certificate);
  }

  /** Returns undefined while the files are unchanged. */
  async #own(files: OwnFiles): Promise<Shown | undefined> {
    const stamp = await stampOf(files);
    if (stamp === this.#stamp && this.#shown?.source === 'own' && this.#trouble === '') return undefined;
    const shown = await readOwn(files);
    this.#stamp = stamp;
    return shown;
  }
}
