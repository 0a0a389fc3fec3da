import { createHash } from 'node:crypto';
import type { Context } from '../../contracts/service.ts';
import type { ProviderSettings } from '../dns-providers/create-provider.ts';
import { DnsProviderError, type DnsProvider, type TxtRecord } from '../dns-providers/provider.ts';
import { arePublished } from '../dns-providers/propagation.ts';
import { CertificateFailure, type FailureCode } from './failure.ts';
import type { OrderStore } from './order-store.ts';
import { poll } from './polling.ts';

const failures: Readonly<Record<DnsProviderError['kind'], FailureCode>> = {
  token: 'acme.dns_token',
  zone: 'acme.dns_zone',
  failed: 'acme.dns_failed',
};

/** Title of the provider in messages. */
export interface RecordProvider {
  readonly title: string;
  /** Undefined for records that the owner creates. */
  readonly provider: DnsProvider | undefined;
  /** DNS servers to ask; empty for the authoritative ones. */
  readonly resolvers: readonly string[];
  readonly propagationMs: number;
  /** Settings with which the records can be deleted, even after they were changed. */
  readonly settings: ProviderSettings;
}

/** Creates, checks and deletes the TXT records of an order. The store knows each record before it exists. */
export class DnsRecords {
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #store: OrderStore;
  readonly #options: RecordProvider;

  constructor(context: Pick<Context, 'clock' | 'log'>, store: OrderStore, options: RecordProvider) {
    this.#context = context;
    this.#store = store;
    this.#options = options;
  }

  /** The provider stores only one record of a name, so that names are confirmed one after another. */
  get isSingleValue(): boolean {
    return this.#options.provider?.isSingleValue === true;
  }

  /** True when the owner creates the records. */
  get isManual(): boolean {
    return this.#options.provider === undefined;
  }

  /** Creates records, and deletes those of earlier attempts. */
  async create(records: readonly TxtRecord[], signal: AbortSignal): Promise<void> {
    const isNew = (record: TxtRecord): boolean => records.some(({ value }) => value === record.value);
    const { records: existing = [] } = (await this.#store.find()) ?? {};
    await this.removeEach(
      existing.filter((record) => !isNew(record)),
      signal,
    );
    await this.#store.update({ records, provider: this.#options.settings });
    for (const record of records) await this.#try(() => this.#options.provider?.create(record, signal));
  }

  /**
   * Waits until the DNS servers answer with the records.
   * @returns false for records of the owner that do not exist yet
   */
  async waitUntilPublished(records: readonly TxtRecord[], signal: AbortSignal): Promise<boolean> {
    const { resolvers, propagationMs } = this.#options;
    const check = async (): Promise<true | undefined> => ((await arePublished(records, resolvers)) ? true : undefined);
    if (this.isManual) return (await check()) === true;
    const { clock } = this.#context;
    if ((await poll(check, { clock, signal, limitMs: propagationMs })) === true) return true;
    throw new CertificateFailure('acme.propagation', { host: this.#options.title, name: records[0]?.name ?? '' });
  }

  /** Deletes the records of the current order, and returns those that could not be deleted. */
  async removeAll(signal: AbortSignal): Promise<readonly TxtRecord[]> {
    const order = await this.#store.find();
    if (order === undefined) return [];
    const failed = await this.removeEach(order.records, signal);
    await this.#store.update({ records: [], provider: null });
    return failed;
  }

  /**
   * Deletes records, and returns those that could not be deleted. Failures are logged, because the result of the order
   * matters more.
   */
  async removeEach(records: readonly TxtRecord[], signal: AbortSignal): Promise<readonly TxtRecord[]> {
    const failed: TxtRecord[] = [];
    for (const record of records) {
      try {
        await this.#options.provider?.remove(record, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        failed.push(record);
        this.#context.log.warn('TXT record not deleted', { name: record.name, error });
      }
    }
    return failed;
  }

  async #try(work: () => Promise<void> | undefined): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error;
      const { kind, reason, retryAfterMs } = error;
      const options = { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      const name = kind === 'zone' ? reason : '';
      throw new CertificateFailure(failures[kind], { host: this.#options.title, reason, name }, options);
    }
  }
}

/** Returns the TXT record of a DNS challenge (RFC 8555, 8.4). */
export function toTxtRecord(domain: string, keyAuthorization: string): TxtRecord {
  const value = createHash('sha256').update(keyAuthorization).digest('base64url');
  return { name: `_acme-challenge.${domain}`, value };
}
