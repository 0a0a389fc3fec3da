import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { CertificatePem } from '../../contracts/dispatch.ts';
import type { Clock, Context, Vault } from '../../contracts/service.ts';
import { openStoredKey } from '../../kit/stored-key.ts';
import type { CertificateRow, Tables } from '../store/tables.ts';
import type { IssuedCertificate } from './certificate-issuer.ts';

/** Certificate that the listeners present. */
export interface PresentedCertificate extends CertificatePem {
  readonly source: 'local' | 'own' | 'public';
  readonly names: readonly string[];
  readonly expiresAt: number;
}

/** Stores the local certificate authority and the certificate of this computer, with sealed keys. */
export class Certificates {
  readonly #db: Kysely<Tables>;
  readonly #vault: Vault;
  readonly #clock: Clock;

  constructor({ db, vault, clock }: Pick<Context, 'db' | 'vault' | 'clock'>) {
    this.#db = db as Kysely<Tables>;
    this.#vault = vault;
    this.#clock = clock;
  }

  /** Returns the certificate of the authority; undefined before the first certificate was issued. */
  async findAuthority(): Promise<X509Certificate | undefined> {
    const row = await this.#findRow('authority');
    return row === undefined ? undefined : new X509Certificate(row.certificate);
  }

  /**
   * Returns the certificate for names and addresses. A new one is issued when they changed or less than a third of the
   * lifetime is left. Names outside of the authority's constraints are omitted.
   */
  async getLeaf(title: string, requestedNames: readonly string[]): Promise<PresentedCertificate> {
    const now = this.#clock.now();
    const authority = await this.#authority(title, requestedNames, now);
    const authorityNames = JSON.parse(authority.names) as readonly string[];
    const names = requestedNames.filter(
      (name) => isIP(name) !== 0 || /(^|\.)local$|^localhost$/.test(name) || authorityNames.includes(name),
    );
    const row = await this.#findRow('leaf');
    const signed = new X509Certificate(authority.certificate);
    if (
      row !== undefined &&
      row.names === JSON.stringify(names) &&
      now < Number(row.made_at) + ((Number(row.expires_at) - Number(row.made_at)) * 2) / 3 &&
      new X509Certificate(row.certificate).checkIssued(signed) &&
      this.#isReadable(row)
    ) {
      return toPresentedCertificate(row, this.#vault);
    }
    const { issueLeaf } = await import('./certificate-issuer.ts');
    const keyLocation = { purpose: getPurpose('authority'), service: 'gateway', name: 'authority' };
    const key = openStoredKey(this.#vault, authority.key, keyLocation);
    return toPresentedCertificate(
      await this.#store('leaf', await issueLeaf({ ...authority, key }, names, now), names),
      this.#vault,
    );
  }

  async #authority(title: string, requestedNames: readonly string[], now: number): Promise<CertificateRow> {
    const row = await this.#findRow('authority');
    if (row !== undefined && Number(row.expires_at) > now) return row;
    const { issueAuthority: issueNewAuthority } = await import('./certificate-issuer.ts');
    const unqualifiedNames = requestedNames.filter(
      (name) => isIP(name) === 0 && !name.includes('.') && name !== 'localhost',
    );
    return this.#store('authority', await issueNewAuthority(title, unqualifiedNames, now), unqualifiedNames);
  }

  /** A leaf with an unreadable key is issued again, because devices trust the authority and not the leaf. */
  #isReadable(row: CertificateRow): boolean {
    try {
      this.#vault.open(row.key, getPurpose(row.kind));
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  async #findRow(kind: CertificateRow['kind']): Promise<CertificateRow | undefined> {
    return this.#db.selectFrom('certificates').selectAll().where('kind', '=', kind).executeTakeFirst();
  }

  async #store(
    kind: CertificateRow['kind'],
    issuedCertificate: IssuedCertificate,
    names: readonly string[],
  ): Promise<CertificateRow> {
    const row: CertificateRow = {
      kind,
      certificate: issuedCertificate.certificate,
      key: this.#vault.seal(issuedCertificate.key, getPurpose(kind)),
      names: JSON.stringify(names),
      made_at: issuedCertificate.madeAt,
      expires_at: issuedCertificate.expiresAt,
    };
    await this.#db
      .insertInto('certificates')
      .values(row)
      .onConflict((conflict) => conflict.column('kind').doUpdateSet(row))
      .execute();
    return row;
  }
}

function getPurpose(kind: CertificateRow['kind']): string {
  return `gateway.${kind}`;
}

function toPresentedCertificate(row: CertificateRow, vault: Vault): PresentedCertificate {
  return {
    source: 'local',
    cert: row.certificate,
    key: vault.open(row.key, getPurpose('leaf')),
    names: JSON.parse(row.names) as string[],
    expiresAt: Number(row.expires_at),
  };
}
