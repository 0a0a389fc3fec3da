import type { Context } from '../../contracts/service.ts';
import type { TxtRecord } from '../dns-providers/provider.ts';
import type { AcmeClient } from './client.ts';
import { toTxtRecord, type DnsRecords } from './dns-records.ts';
import { CertificateFailure, type FailureCode } from './failure.ts';
import type { HttpChallenges } from './http-challenges.ts';
import type { OrderStore } from './order-store.ts';
import { poll } from './polling.ts';
import type { Authorization, Challenge, Order } from './protocol.ts';

const validationLimitMs = 5 * 60_000;

interface ValidationDependencies {
  readonly context: Pick<Context, 'clock'>;
  readonly client: AcmeClient;
  readonly store: OrderStore;
  /** Undefined for a validation over HTTP. */
  readonly records: DnsRecords | undefined;
  readonly httpChallenges: HttpChallenges;
  readonly onPhase: () => void;
}

interface PendingName {
  readonly url: string;
  readonly name: string;
  readonly challenge: Challenge;
  readonly keyAuthorization: string;
}

/** Proves control of the names of an order. */
export class Validation {
  readonly #deps: ValidationDependencies;

  constructor(deps: ValidationDependencies) {
    this.#deps = deps;
  }

  /**
   * Validates the pending names.
   * @returns false while a record of the owner does not exist yet
   * @throws CertificateFailure
   */
  async run({ authorizations }: Order, signal: AbortSignal): Promise<boolean> {
    const pending: PendingName[] = [];
    for (const url of authorizations) {
      const name = await this.#findPending(url);
      if (name !== undefined) pending.push(name);
    }
    const { records } = this.#deps;
    const groups = records?.isSingleValue === true ? pending.map((each) => [each]) : [pending];
    for (const group of groups) {
      if (group.length > 0 && !(await this.#validate(group, signal))) return false;
    }
    return true;
  }

  async #findPending(url: string): Promise<PendingName | undefined> {
    const { client, records } = this.#deps;
    const authorization = await client.getAuthorization(url);
    if (authorization.status === 'valid') return undefined;
    if (authorization.status !== 'pending') throw this.#explain(authorization);
    const type = records === undefined ? 'http-01' : 'dns-01';
    const challenge = authorization.challenges.find((each) => each.type === type);
    const { token } = challenge ?? {};
    if (challenge === undefined || token === undefined || !/^[A-Za-z0-9_-]{16,512}$/.test(token))
      throw new CertificateFailure('acme.bad_reply', { host: client.host });
    const keyAuthorization = await client.getKeyAuthorization(token);
    return { url, name: authorization.identifier.value, challenge, keyAuthorization };
  }

  async #validate(group: readonly PendingName[], signal: AbortSignal): Promise<boolean> {
    const { records, httpChallenges } = this.#deps;
    if (records === undefined) {
      using answers = new DisposableStack();
      for (const { challenge, keyAuthorization } of group)
        answers.use(httpChallenges.add(challenge.token ?? '', keyAuthorization));
      await this.#enter('validation');
      await this.#respond(group, signal);
      return true;
    }
    const txtRecords = group.map(({ name, keyAuthorization }) => toTxtRecord(name, keyAuthorization));
    if (!(await this.#publish(records, txtRecords, signal))) return false;
    await this.#enter('validation');
    await this.#respond(group, signal);
    await records.removeAll(signal);
    return true;
  }

  async #publish(records: DnsRecords, txtRecords: readonly TxtRecord[], signal: AbortSignal): Promise<boolean> {
    await this.#enter('records');
    await records.create(txtRecords, signal);
    await this.#enter('propagation');
    return records.waitUntilPublished(txtRecords, signal);
  }

  async #respond(group: readonly PendingName[], signal: AbortSignal): Promise<void> {
    const { client, context } = this.#deps;
    for (const { challenge } of group) {
      // A challenge that an interrupted attempt responded to is being validated already.
      if (challenge.status === 'pending') await client.respond(challenge.url);
    }
    for (const { url } of group) {
      const check = async (): Promise<true | undefined> => {
        const authorization = await client.getAuthorization(url);
        if (authorization.status === 'pending') return undefined;
        if (authorization.status === 'valid') return true;
        throw this.#explain(authorization);
      };
      const { clock } = context;
      if ((await poll(check, { clock, signal, limitMs: validationLimitMs })) !== true)
        throw new CertificateFailure('acme.order_invalid', { host: client.host, reason: 'timeout' });
    }
  }

  /** Builds the failure of an authorization from the error of its challenge. */
  #explain({ identifier, challenges, status }: Authorization): CertificateFailure {
    const error = challenges.find((each) => each.error !== undefined)?.error;
    const values = { host: this.#deps.client.host, name: identifier.value };
    if (error === undefined) return new CertificateFailure('acme.order_invalid', { ...values, reason: status });
    const { failure, retryAfterMs } = this.#deps.client.explain(error);
    const isGeneral = failure === 'acme.caa' || failure === 'acme.rate_limited' || failure === 'acme.domain_rejected';
    const wrongAnswer: FailureCode = this.#deps.records === undefined ? 'acme.validation_http' : 'acme.validation_dns';
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    return new CertificateFailure(
      isGeneral ? failure : wrongAnswer,
      { ...values, reason: error.detail.slice(0, 500) },
      options,
    );
  }

  async #enter(phase: 'records' | 'propagation' | 'validation'): Promise<void> {
    await this.#deps.store.update({ phase });
    this.#deps.onPhase();
  }
}
