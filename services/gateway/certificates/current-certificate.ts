import * as m from '#messages/gateway-problems';
import * as texts from '#messages/gateway-texts';
import type { X509Certificate } from 'node:crypto';
import type { ServiceAction } from '../../contracts/health.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { Text } from '../../contracts/text.ts';
import type { Certificates, PresentedCertificate } from './certificates.ts';
import { readCustomCertificate, getFingerprint, type CertificateFiles } from './custom-certificate.ts';

interface CurrentCertificateDependencies {
  readonly certificates: Certificates;
  readonly clock: Clock;
  /** Files of the administrator's certificate; empty paths without one. */
  readonly files: () => CertificateFiles;
  /** Called with each new certificate. */
  readonly onReplaced: (certificate: PresentedCertificate) => void;
}

/** Selects the certificate to present: the administrator's when it is usable, otherwise one of the local authority. */
export class CurrentCertificate {
  readonly #deps: CurrentCertificateDependencies;
  #presented: PresentedCertificate | undefined;
  /** Fingerprint of the files when they were read. */
  #fingerprint = '';
  #problem: Text | undefined;
  /** Name of the stored key that cannot be decrypted. */
  #unreadableKey: string | undefined;

  constructor(deps: CurrentCertificateDependencies) {
    this.#deps = deps;
  }

  get presented(): PresentedCertificate | undefined {
    return this.#presented;
  }

  /** Action with which an administrator replaces an unreadable key. */
  get remedy(): ServiceAction | undefined {
    if (this.#unreadableKey === undefined) return undefined;
    const path = `/api/services/gateway/keys/${encodeURIComponent(this.#unreadableKey)}/replace`;
    return { label: texts.replaceKey, to: '/', post: { path, body: {} }, adminOnly: true };
  }

  get problems(): readonly Text[] {
    const isExpired = this.#presented !== undefined && this.#presented.expiresAt <= this.#deps.clock.now();
    const expired = isExpired ? [m.certificateExpired] : [];
    return this.#problem === undefined ? expired : [this.#problem, ...expired];
  }

  /** Returns the certificate of the local authority; undefined for the administrator's certificate. */
  async authority(): Promise<X509Certificate | undefined> {
    return this.#presented?.source === 'local' ? this.#deps.certificates.findAuthority() : undefined;
  }

  /** Issues or reads a certificate when the current one is outdated. */
  async renew(title: string, names: readonly string[]): Promise<void> {
    const files = this.#deps.files();
    const issueLocal = (): Promise<PresentedCertificate> => this.#deps.certificates.getLeaf(title, names);
    try {
      this.#present(files.certFile === '' ? await issueLocal() : await this.#readCustom(files));
      this.#problem = undefined;
      this.#unreadableKey = undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#problem = error.text;
      this.#unreadableKey = error.code === 'vault.key_unreadable' ? error.fields['key'] : undefined;
      // Shared services stay reachable for devices that trust the authority until the files are fixed.
      if (this.#presented === undefined) this.#present(await issueLocal());
    }
  }

  #present(certificate: PresentedCertificate | undefined): void {
    if (certificate === undefined || certificate.cert === this.#presented?.cert) return;
    this.#presented = certificate;
    this.#deps.onReplaced(certificate);
  }

  /** Returns undefined while the files are unchanged. */
  async #readCustom(files: CertificateFiles): Promise<PresentedCertificate | undefined> {
    const fingerprint = await getFingerprint(files);
    if (fingerprint === this.#fingerprint && this.#presented?.source === 'own' && this.#problem === undefined)
      return undefined;
    const certificate = await readCustomCertificate(files);
    this.#fingerprint = fingerprint;
    return certificate;
  }
}
