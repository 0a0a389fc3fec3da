import type { Kysely } from 'kysely';
import { z } from 'zod';
import { parseJson } from '../../contracts/parse-json.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { ProviderSettings } from '../dns-providers/create-provider.ts';
import type { TxtRecord } from '../dns-providers/provider.ts';
import type { AcmeOrderRow, CertificateRow, Tables } from '../store/tables.ts';
import type { CertificateFailure, FailureValues } from './failure.ts';
import type { VerifiedCertificate } from './verify-chain.ts';

const accountPurpose = 'gateway.acme-account';
const certificatePurpose = 'gateway.acme';
const providerPurpose = 'gateway.acme-provider';

const Records = z.array(z.object({ name: z.string(), value: z.string() })).catch([]);
const StoredFailure = z
  .object({ code: z.string(), values: z.record(z.string(), z.string()) })
  .optional()
  .catch(undefined);

/** Changes of an order. */
export type OrderChange = Partial<
  Pick<
    AcmeOrderRow,
    'stage' | 'phase' | 'state' | 'url' | 'failures' | 'issued_by' | 'next_at' | 'made_at' | 'settings'
  >
> & {
  readonly records?: readonly TxtRecord[];
  /** Settings of the DNS provider that has the records; `null` without records. */
  readonly provider?: Readonly<ProviderSettings> | null;
  readonly failure?: CertificateFailure | undefined;
};

/** Stored order. */
export interface StoredOrder extends Omit<AcmeOrderRow, 'id' | 'key' | 'provider' | 'records' | 'failure'> {
  readonly hasKey: boolean;
  readonly records: readonly TxtRecord[];
  readonly failure: { readonly code: string; readonly values: FailureValues } | undefined;
}

/** Certificate of a public authority with its key. */
export interface StoredCertificate {
  readonly cert: string;
  readonly key: string;
  readonly names: readonly string[];
  readonly madeAt: number;
  readonly expiresAt: number;
}

/** Stores accounts, the current order and the certificate. Keys are sealed with the vault. */
export class OrderStore {
  readonly #context: Pick<Context, 'commit' | 'db' | 'vault'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'commit' | 'db' | 'vault'>) {
    this.#context = context;
    this.#db = context.db as Kysely<Tables>;
  }

  /** Returns the account of a directory; undefined without one whose key can be read. */
  async findAccount(directory: string): Promise<{ readonly url: string; readonly key: string } | undefined> {
    const row = await this.#db
      .selectFrom('acme_accounts')
      .selectAll()
      .where('directory', '=', directory)
      .executeTakeFirst();
    const key = row && this.#open(row.key, accountPurpose);
    return row === undefined || key === undefined ? undefined : { url: row.url, key };
  }

  async saveAccount(directory: string, url: string, key: string): Promise<void> {
    const row = { directory, url, key: this.#context.vault.seal(key, accountPurpose) };
    await this.#write(async (db) => {
      const insert = db.insertInto('acme_accounts').values(row);
      await insert.onConflict((conflict) => conflict.column('directory').doUpdateSet(row)).execute();
    });
  }

  async removeAccount(directory: string): Promise<void> {
    await this.#write((db) => db.deleteFrom('acme_accounts').where('directory', '=', directory).execute());
  }

  /** Returns the current order. */
  async find(): Promise<StoredOrder | undefined> {
    const row = await this.#findRow();
    if (row === undefined) return undefined;
    const { id: _id, key, provider: _provider, records, failure, ...rest } = row;
    return {
      ...rest,
      next_at: rest.next_at === null ? null : Number(rest.next_at),
      made_at: Number(rest.made_at),
      hasKey: key !== '',
      records: Records.parse(parseJson(records)),
      failure: StoredFailure.parse(parseJson(failure)),
    };
  }

  /** Returns the settings of the DNS provider that has the records; undefined without records. */
  async findProvider(): Promise<ProviderSettings | undefined> {
    const row = await this.#findRow();
    const text = row === undefined || row.provider === '' ? undefined : this.#open(row.provider, providerPurpose);
    return text === undefined ? undefined : (JSON.parse(text) as ProviderSettings);
  }

  /** Replaces the current order with a new one, and preserves its records until they are deleted. */
  async begin(order: Pick<AcmeOrderRow, 'settings' | 'stage' | 'made_at'>): Promise<void> {
    const previous = await this.find();
    const provider = (await this.#findRow())?.provider ?? '';
    const row: AcmeOrderRow = {
      ...order,
      id: 'current',
      phase: 'account',
      state: 'due',
      url: '',
      key: '',
      records: JSON.stringify(previous?.records ?? []),
      provider,
      failures: 0,
      failure: '',
      issued_by: previous?.issued_by ?? '',
      next_at: order.made_at,
    };
    await this.#write(async (db) => {
      const insert = db.insertInto('acme_orders').values(row);
      await insert.onConflict((conflict) => conflict.column('id').doUpdateSet(row)).execute();
    });
  }

  async update({ records, provider, failure, ...change }: OrderChange): Promise<void> {
    const set = {
      ...change,
      ...(provider === undefined ? {} : { provider: provider === null ? '' : this.#sealProvider(provider) }),
      ...(records === undefined ? {} : { records: JSON.stringify(records) }),
      ...(failure === undefined ? {} : { failure: JSON.stringify({ code: failure.failure, values: failure.values }) }),
    };
    await this.#write((db) => db.updateTable('acme_orders').set(set).where('id', '=', 'current').execute());
  }

  #sealProvider(provider: Readonly<ProviderSettings>): string {
    return this.#context.vault.seal(JSON.stringify(provider), providerPurpose);
  }

  /** Stores the key for the certificate request. */
  async saveKey(key: string): Promise<void> {
    const sealed = this.#context.vault.seal(key, certificatePurpose);
    await this.#write((db) => db.updateTable('acme_orders').set({ key: sealed }).where('id', '=', 'current').execute());
  }

  /** Returns the key for the certificate request; undefined without a readable one. */
  async findKey(): Promise<string | undefined> {
    const row = await this.#findRow();
    return row === undefined || row.key === '' ? undefined : this.#open(row.key, certificatePurpose);
  }

  /** Forgets the order at the authority, so that the next attempt creates another one. */
  async forgetOrder(): Promise<void> {
    await this.#write((db) =>
      db.updateTable('acme_orders').set({ url: '', key: '' }).where('id', '=', 'current').execute(),
    );
  }

  async remove(): Promise<void> {
    await this.#write((db) => db.deleteFrom('acme_orders').execute());
  }

  /** Stores a certificate and completes its order in one transaction. */
  async complete(
    certificate: VerifiedCertificate,
    { key, names, change }: { readonly key: string; readonly names: readonly string[]; readonly change: OrderChange },
  ): Promise<void> {
    const row: CertificateRow = {
      kind: 'acme',
      certificate: certificate.chain,
      key: this.#context.vault.seal(key, certificatePurpose),
      names: JSON.stringify(names),
      made_at: certificate.madeAt,
      expires_at: certificate.expiresAt,
    };
    const { records: _records, provider: _provider, failure: _failure, ...columns } = change;
    await this.#write(async (db) => {
      const insert = db.insertInto('certificates').values(row);
      await insert.onConflict((conflict) => conflict.column('kind').doUpdateSet(row)).execute();
      const set = { ...columns, url: '', key: '', failure: '' };
      await db.updateTable('acme_orders').set(set).where('id', '=', 'current').execute();
    });
  }

  /** Returns the certificate; undefined without one whose key can be read. */
  async findCertificate(): Promise<StoredCertificate | undefined> {
    const row = await this.#db.selectFrom('certificates').selectAll().where('kind', '=', 'acme').executeTakeFirst();
    const key = row && this.#open(row.key, certificatePurpose);
    if (row === undefined || key === undefined) return undefined;
    const names = JSON.parse(row.names) as readonly string[];
    return { cert: row.certificate, key, names, madeAt: Number(row.made_at), expiresAt: Number(row.expires_at) };
  }

  async #findRow(): Promise<AcmeOrderRow | undefined> {
    return this.#db.selectFrom('acme_orders').selectAll().executeTakeFirst();
  }

  async #write(work: (db: Kysely<Tables>) => Promise<unknown>): Promise<void> {
    await this.#context.commit(async (transaction) => void (await work(transaction as Kysely<Tables>)));
  }

  /** Returns undefined for a key that cannot be read: an authority issues another certificate at any time. */
  #open(sealed: string, purpose: string): string | undefined {
    try {
      return this.#context.vault.open(sealed, purpose);
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }
}
