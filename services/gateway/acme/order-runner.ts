import { readFile } from 'node:fs/promises';
import type { Context } from '../../contracts/service.ts';
import { createProvider, isSameProvider, selectProviderSettings } from '../dns-providers/create-provider.ts';
import { findDirectory, type Stage } from './authorities.ts';
import { AuthorityError } from './authority-errors.ts';
import { AcmeClient } from './client.ts';
import { DnsRecords } from './dns-records.ts';
import { confirmationTitles } from './fields.ts';
import { CertificateFailure } from './failure.ts';
import type { HttpChallenges } from './http-challenges.ts';
import { createRequest, generateKey } from './keys.ts';
import type { OrderStore } from './order-store.ts';
import type { AcmeSettings } from './plan.ts';
import { poll } from './polling.ts';
import type { Order } from './protocol.ts';
import { Validation } from './validation.ts';
import { verifyChain, type VerifiedCertificate } from './verify-chain.ts';

const issuanceLimitMs = 5 * 60_000;

interface RunnerDependencies {
  readonly context: Context;
  readonly store: OrderStore;
  readonly httpChallenges: HttpChallenges;
  /** Called when a phase of the order begins. */
  readonly onPhase: () => void;
}

/** Order to perform. */
export interface OrderPlan {
  readonly settings: Readonly<AcmeSettings>;
  readonly stage: Stage;
  readonly names: readonly string[];
}

/** Result of an attempt: a verified certificate with its key, or a record that the owner has to create. */
export type OrderResult =
  | { readonly is: 'issued'; readonly certificate: VerifiedCertificate; readonly key: string }
  | { readonly is: 'waiting' };

/**
 * Performs one attempt at an order, and continues an order that an earlier attempt began. Each step is stored before
 * its effect, so that an interruption at any point neither loses the order nor leaves records behind.
 */
export class OrderRunner {
  readonly #deps: RunnerDependencies;

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
  }

  /** @throws CertificateFailure */
  async run(plan: OrderPlan, signal: AbortSignal): Promise<OrderResult> {
    try {
      return await this.#attempt(plan, signal);
    } catch (error) {
      if (!(error instanceof AuthorityError) || !isLostAccount(error)) throw error;
      // The authority deleted or deactivated the account; another one replaces it once.
      await this.#deps.store.removeAccount(getDirectory(plan));
      await this.#deps.store.forgetOrder();
      return this.#attempt(plan, signal);
    }
  }

  /** Deletes the records of the current order. */
  async removeRecords(settings: Readonly<AcmeSettings>, signal: AbortSignal): Promise<void> {
    await this.#removeFormerRecords(settings, signal);
    await this.#createRecords(settings).removeAll(signal);
  }

  /** Deletes records that another DNS provider or other credentials created before the settings were changed. */
  async #removeFormerRecords(settings: Readonly<AcmeSettings>, signal: AbortSignal): Promise<void> {
    const former = await this.#deps.store.findProvider();
    if (former === undefined || isSameProvider(former, settings)) return;
    const failed = await this.#createRecords({ ...settings, ...former }).removeAll(signal);
    // After a new token for the same provider, the former one can no longer delete records.
    await this.#createRecords(settings).removeEach(failed, signal);
  }

  async #attempt(plan: OrderPlan, signal: AbortSignal): Promise<OrderResult> {
    const { context, store, httpChallenges, onPhase } = this.#deps;
    await this.#removeFormerRecords(plan.settings, signal);
    const records = plan.settings.acmeConfirmation === 'http' ? undefined : this.#createRecords(plan.settings);
    const stored = await store.find();
    const requested = records?.isManual === true && stored !== undefined && stored.url !== '' ? stored.records : [];
    // The authority is asked only when the records of the owner exist.
    if (records !== undefined && requested.length > 0 && !(await records.waitUntilPublished(requested, signal)))
      return { is: 'waiting' };
    await this.#enter('account');
    const client = await this.#openClient(plan, signal);
    await this.#enter('order');
    try {
      const { url, order, isNew } = await this.#getOrder(client, plan.names);
      // Another order needs other records, which the owner has not seen.
      if (isNew && requested.length > 0)
        throw new CertificateFailure('acme.record_missing', { name: requested[0]?.name ?? '' });
      if (order.status === 'pending') {
        const validation = new Validation({ context, client, store, records, httpChallenges, onPhase });
        if (!(await validation.run(order, signal))) return { is: 'waiting' };
      }
      await records?.removeAll(signal);
      await this.#enter('certificate');
      return { is: 'issued', ...(await this.#issue(client, plan, url, signal)) };
    } catch (error) {
      if (signal.aborted) throw error;
      await records?.removeAll(signal);
      // An order that failed at the authority cannot be continued; one that could not be reached can.
      if (!(error instanceof CertificateFailure) || error.failure !== 'acme.authority_down') await store.forgetOrder();
      throw error;
    }
  }

  async #openClient(plan: OrderPlan, signal: AbortSignal): Promise<AcmeClient> {
    const { context, store } = this.#deps;
    const { settings } = plan;
    const directoryUrl = getDirectory(plan);
    const stored = await store.findAccount(directoryUrl);
    const key = stored?.key ?? generateKey();
    if (stored === undefined) await store.saveAccount(directoryUrl, '', key);
    const isOwnAuthority = settings.acmeAuthority === 'custom';
    const ca = isOwnAuthority ? await readCa(settings.acmeCaFile) : '';
    const url = stored?.url === '' ? undefined : stored?.url;
    const client = new AcmeClient(context, { directoryUrl, isOwnAuthority, ca, key, signal }, url);
    await client.open();
    if (url === undefined) {
      const { acmeKeyId: keyId, acmeHmacKey: hmacKey, acmeEmail } = settings;
      const external = keyId === '' || hmacKey === '' ? undefined : { keyId, hmacKey };
      await store.saveAccount(directoryUrl, await client.register(acmeEmail, external), key);
    }
    return client;
  }

  /** Continues the stored order, unless the authority no longer has it or it failed. */
  async #getOrder(
    client: AcmeClient,
    names: readonly string[],
  ): Promise<{ readonly url: string; readonly order: Order; readonly isNew: boolean }> {
    const { store } = this.#deps;
    const { url = '', hasKey = false } = (await store.find()) ?? {};
    if (url !== '') {
      const order = await client.getOrder(url).catch((error: unknown) => {
        if (error instanceof AuthorityError && error.failure === 'acme.authority_failed') return undefined;
        throw error;
      });
      const isUsable =
        order?.status === 'pending' || order?.status === 'ready' || (order?.status !== 'invalid' && hasKey);
      if (order !== undefined && isUsable) return { url, order, isNew: false };
    }
    await store.forgetOrder();
    const created = await client.createOrder(names);
    await store.update({ url: created.url });
    return { ...created, isNew: true };
  }

  async #issue(
    client: AcmeClient,
    { names }: OrderPlan,
    url: string,
    signal: AbortSignal,
  ): Promise<{ readonly certificate: VerifiedCertificate; readonly key: string }> {
    const { context, store } = this.#deps;
    const { clock } = context;
    const storedKey = await store.findKey();
    const key = storedKey ?? generateKey();
    if (storedKey === undefined) await store.saveKey(key);
    const finish = async (): Promise<string | undefined> => {
      const order = await client.getOrder(url);
      if (order.status === 'ready') await client.finalize(order, await createRequest(key, names));
      if (order.status === 'invalid' || order.status === 'pending') throw this.#toInvalidOrder(client, order);
      return order.status === 'valid' ? order.certificate : undefined;
    };
    const address = await poll(finish, { clock, signal, limitMs: issuanceLimitMs });
    if (address === undefined)
      throw new CertificateFailure('acme.authority_down', { host: client.host, reason: 'timeout' });
    const chain = await client.download(address);
    try {
      return { certificate: verifyChain(chain, { key, names, now: clock.now() }), key };
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CertificateFailure('acme.certificate_rejected', { host: client.host, reason }, { cause });
    }
  }

  #toInvalidOrder(client: AcmeClient, { error, status }: Order): CertificateFailure {
    if (error === undefined) return new CertificateFailure('acme.order_invalid', { host: client.host, reason: status });
    const { failure, values } = client.explain(error);
    return new CertificateFailure(failure === 'acme.account' ? 'acme.order_invalid' : failure, values);
  }

  #createRecords(settings: Readonly<AcmeSettings>): DnsRecords {
    const { context, store } = this.#deps;
    const title = confirmationTitles[settings.acmeConfirmation];
    return new DnsRecords(context, store, {
      title: typeof title === 'string' ? title : settings.acmeDnsServer,
      provider: createProvider(context, settings),
      resolvers: settings.acmeResolvers,
      propagationMs: settings.acmePropagationSeconds * 1000,
      settings: selectProviderSettings(settings),
    });
  }

  async #enter(phase: 'account' | 'order' | 'certificate'): Promise<void> {
    await this.#deps.store.update({ phase });
    this.#deps.onPhase();
  }
}

function getDirectory({ settings, stage }: OrderPlan): string {
  return findDirectory(settings, stage) ?? '';
}

/** Types of RFC 8555, 7.3.6, for an account that does not exist any more or was deactivated. */
function isLostAccount({ type }: AuthorityError): boolean {
  return type === 'accountDoesNotExist' || type === 'unauthorized';
}

async function readCa(file: string): Promise<string> {
  if (file === '') return '';
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CertificateFailure('acme.ca_file', { name: file }, { cause });
  }
}
