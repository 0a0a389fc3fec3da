import { z } from 'zod';
import type { PublicCertificateState } from '../../contracts/gateway/certificate-api.ts';
import { defineJob } from '../../contracts/jobs.ts';
import type { LeaseCandidacy } from '../../contracts/leases.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';
import type { PresentedCertificate } from '../certificates/certificates.ts';
import { findAddresses } from '../dns-providers/propagation.ts';
import { findDirectory } from './authorities.ts';
import { CertificateFailure, isFinalFailure } from './failure.ts';
import type { HttpChallenges } from './http-challenges.ts';
import { CertificateNotifications, type Occasion } from './notifications.ts';
import { OrderRunner, type OrderPlan } from './order-runner.ts';
import { OrderStore, type StoredCertificate, type StoredOrder } from './order-store.ts';
import { describeOrder, getFirstStage, isConfigured, listNames, type AcmeSettings } from './plan.ts';
import { getRenewalTime, getRetryTime, isExpiringSoon } from './schedule.ts';
import { buildState } from './state.ts';

const checkIntervalMs = 30_000;
/** Interval at which records of the owner are looked up. */
const recordIntervalMs = 60_000;
/** Failed attempts at a renewal, after which a notification is sent. */
const notifiedFailures = 3;

/** Attempt at the current order. Only one runs at a time, also with several hosts. */
const orderJob = defineJob('gateway.order-certificate', z.object({}), {
  concurrency: 1,
  timeoutMs: 4 * 3_600_000,
  maxAgeMs: 30 * 24 * 3_600_000,
  deleteWhenDone: true,
});

interface PublicCertificateDependencies {
  readonly context: Context;
  readonly settings: Readonly<AcmeSettings>;
  readonly httpChallenges: HttpChallenges;
  /** Returns the ids of the shared services, which have names below the domain. */
  readonly shared: () => readonly string[];
  /** Returns the addresses of this computer on the network. */
  readonly addresses: () => readonly string[];
  /** Called when the certificate was replaced. */
  readonly onReplaced: () => void;
  /** Called when the state changed. */
  readonly onChanged: () => void;
}

/** Obtains the certificate of a public authority for the domain, renews it and reports failures. */
export class PublicCertificates implements AsyncDisposable {
  readonly #deps: PublicCertificateDependencies;
  readonly #store: OrderStore;
  readonly #runner: OrderRunner;
  readonly #notifications: CertificateNotifications;
  readonly #checks = new SerialQueue();
  readonly #running = new AsyncDisposableStack();
  readonly #stop = new AbortController();
  /** Candidacy for the work of one of the hosts with the same tables, while a domain is set on this one. */
  #candidacy: LeaseCandidacy | undefined;
  #attempt: { readonly controller: AbortController; readonly ended: Promise<void> } | undefined;
  #certificate: StoredCertificate | undefined;
  #order: StoredOrder | undefined;
  #resolves = false;

  constructor(deps: PublicCertificateDependencies) {
    this.#deps = deps;
    const { context, httpChallenges } = deps;
    this.#store = new OrderStore(context);
    this.#runner = new OrderRunner({ context, store: this.#store, httpChallenges, onPhase: () => void this.#reload() });
    this.#notifications = new CertificateNotifications(context);
  }

  /** Loads the certificate, continues an interrupted order and starts the checks. */
  async start(): Promise<void> {
    const { clock, log } = this.#deps.context;
    await this.#reload();
    this.#running.use(this.#notifications.handle());
    this.#running.defer(() => this.#candidacy?.[Symbol.asyncDispose]());
    const onError = (error: unknown): void => log.error('certificate check failed', { error });
    const task = this.#running.use(
      new RepeatingTask(() => this.check(), { clock, intervalMs: checkIntervalMs, onError }),
    );
    task.trigger();
  }

  /** Certificate for the domain in the settings; undefined without one. */
  get current(): PresentedCertificate | undefined {
    const { acmeDomain } = this.#deps.settings;
    if (acmeDomain === '' || this.#certificate?.names.includes(acmeDomain) !== true) return undefined;
    const { cert, key, names, expiresAt } = this.#certificate;
    return { source: 'public', cert, key, names, expiresAt };
  }

  /** Returns whether the names of the domain lead to this computer. */
  get resolves(): boolean {
    return this.current !== undefined && this.#resolves;
  }

  /** Failure that requires the owner; undefined while the certificate is renewed in time. */
  get problem(): StoredOrder['failure'] {
    if (this.#deps.settings.acmeDomain === '') return undefined;
    return this.#order?.state === 'stopped' || this.#isExpiring() ? this.#order?.failure : undefined;
  }

  /** Compares the settings with the certificate, and enqueues an order that is due. */
  check(): Promise<void> {
    return this.#checks.run(() => this.#check());
  }

  /** Starts the next attempt now, after the owner changed something outside of Homeport. */
  async retry(): Promise<void> {
    const { clock } = this.#deps.context;
    if ((await this.#store.find()) === undefined) return this.check();
    await this.#store.update({ state: 'due', failures: 0, next_at: clock.now() });
    await this.check();
  }

  /** Returns the state for the pages. */
  state(): PublicCertificateState {
    const { settings, shared } = this.#deps;
    const certificate = this.current === undefined ? undefined : this.#certificate;
    return buildState({
      settings,
      resolves: this.resolves,
      order: this.#order,
      certificate,
      names: listNames(settings, shared()),
    });
  }

  async #check(): Promise<void> {
    const { context, settings, shared } = this.#deps;
    if (this.#stop.signal.aborted) return;
    await this.#reload();
    if (!isConfigured(settings)) return this.#leave();
    const isOwner = await this.#apply();
    if (!isOwner) return this.#resolve();
    const names = listNames(settings, shared());
    const fingerprint = context.vault.fingerprint(describeOrder(settings, names), 'gateway.acme-settings');
    const now = context.clock.now();
    if (this.#order?.settings !== fingerprint) {
      if (this.#isStillValid(names)) await this.#store.update({ settings: fingerprint });
      else {
        await this.#cancel();
        await this.#store.begin({ settings: fingerprint, stage: getFirstStage(settings), made_at: now });
      }
    } else if (this.#order.state === 'done' && (this.current === undefined || (this.#order.next_at ?? now) <= now))
      await this.#store.begin({ settings: fingerprint, stage: 'production', made_at: now });
    await this.#reload();
    await this.#warn();
    if (this.#isDue()) await this.#enqueue();
    await this.#resolve();
  }

  /** Applies for the work. Returns whether this host does it. */
  async #apply(): Promise<boolean> {
    const { jobs, leases } = this.#deps.context;
    this.#candidacy ??= await leases.hold('certificate', () =>
      jobs.handle(orderJob, ({ signal }) => this.#run(signal)),
    );
    return this.#candidacy.lease !== undefined;
  }

  /**
   * Ends the work after the domain was removed from the settings. A host that never had a domain does not touch the
   * order, which may belong to another host.
   */
  async #leave(): Promise<void> {
    const candidacy = this.#candidacy;
    if (candidacy === undefined) return;
    if (candidacy.lease !== undefined) await this.#clear();
    this.#candidacy = undefined;
    await candidacy[Symbol.asyncDispose]();
  }

  /** Returns whether the certificate also satisfies changed settings, such as another token of the provider. */
  #isStillValid(names: readonly string[]): boolean {
    const { settings } = this.#deps;
    const covered = this.current?.names;
    return (
      this.#order?.state === 'done' &&
      this.#order.issued_by === findDirectory(settings, 'production') &&
      covered !== undefined &&
      names.every((name) => covered.includes(name))
    );
  }

  /** Enqueues an attempt, once for its time: the job of the previous one may still be stored. */
  async #enqueue(): Promise<void> {
    const { commit, jobs } = this.#deps.context;
    const key = String(this.#order?.next_at ?? 0);
    await commit((db) => jobs.enqueue(db, orderJob, {}, { key, orderKey: 'current' }));
  }

  /** Deletes the order after the domain was removed from the settings. */
  async #clear(): Promise<void> {
    if (this.#order === undefined) return;
    await this.#cancel();
    await this.#runner.removeRecords(this.#deps.settings, this.#stop.signal);
    await this.#store.remove();
    await this.#reload();
  }

  #isDue(): boolean {
    const { state, next_at: nextAt } = this.#order ?? {};
    const isActive = state !== undefined && state !== 'done' && state !== 'stopped';
    return isActive && (nextAt ?? Infinity) <= this.#deps.context.clock.now();
  }

  #isExpiring(): boolean {
    const certificate = this.current === undefined ? undefined : this.#certificate;
    return certificate !== undefined && isExpiringSoon(certificate, this.#deps.context.clock.now());
  }

  /** Ends the attempt in progress, whose settings are outdated. */
  async #cancel(): Promise<void> {
    this.#attempt?.controller.abort();
    await this.#attempt?.ended;
  }

  /** Runs an attempt, and another one when the settings changed in between. */
  async #run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const controller = new AbortController();
      const stop = AbortSignal.any([signal, this.#stop.signal, controller.signal]);
      const attempt = this.#runAttempt(stop);
      const ended = attempt.catch(() => undefined);
      this.#attempt = { controller, ended };
      await ended;
      this.#attempt = undefined;
      if (!controller.signal.aborted) return attempt;
      await this.#checks.settled();
    }
  }

  async #runAttempt(stop: AbortSignal): Promise<void> {
    const { settings, shared, context } = this.#deps;
    await this.#reload();
    if (!isConfigured(settings) || !this.#isDue() || this.#order === undefined) return;
    const order = this.#order;
    const fixed = { ...settings };
    const plan: OrderPlan = { settings: fixed, stage: order.stage, names: listNames(fixed, shared()) };
    await this.#store.update({ state: 'running' });
    try {
      if (fixed.acmeConfirmation === 'http' && shared().length === 0)
        throw new CertificateFailure('acme.nothing_shared');
      await this.#perform(plan, stop);
    } catch (error) {
      if (stop.aborted) throw error;
      context.log.warn('certificate order failed', { domain: fixed.acmeDomain, stage: plan.stage, error });
      await this.#fail(order, toFailure(error));
    }
    await this.#reload();
    await this.#warn();
  }

  async #perform(plan: OrderPlan, signal: AbortSignal): Promise<void> {
    const { context, onReplaced } = this.#deps;
    const { clock, log } = context;
    const result = await this.#runner.run(plan, signal);
    if (result.is === 'waiting') {
      await this.#store.update({ state: 'waiting', next_at: clock.now() + recordIntervalMs });
      return;
    }
    if (plan.stage === 'staging') {
      log.info('staging certificate issued', { domain: plan.settings.acmeDomain });
      await this.#store.forgetOrder();
      await this.#store.update({ stage: 'production', phase: 'account' });
      return this.#perform({ ...plan, stage: 'production' }, signal);
    }
    const { certificate, key } = result;
    const renewAt = getRenewalTime(certificate, this.#getRandom());
    const change = { phase: 'done', state: 'done', failures: 0, next_at: renewAt } as const;
    const issuedBy = findDirectory(plan.settings, 'production') ?? '';
    await this.#store.complete(certificate, { key, names: plan.names, change: { ...change, issued_by: issuedBy } });
    log.info('certificate issued', { domain: plan.settings.acmeDomain, expiresAt: certificate.expiresAt });
    await this.#reload();
    await this.#resolve();
    onReplaced();
  }

  async #fail(order: StoredOrder, failure: CertificateFailure): Promise<void> {
    const now = this.#deps.context.clock.now();
    const failures = order.failures + 1;
    const { retryAfterMs } = failure;
    const certificate = this.current === undefined ? undefined : this.#certificate;
    const needsOwner = certificate === undefined && isFinalFailure(failure.failure);
    const nextAt = needsOwner
      ? undefined
      : getRetryTime({ now, failures, retryAfterMs }, certificate, this.#getRandom());
    const state = nextAt === undefined ? 'stopped' : 'failed';
    await this.#store.update({ state, failures, failure, next_at: nextAt ?? null });
  }

  /** Sends the notifications that are due. */
  async #warn(): Promise<void> {
    const order = this.#order;
    const { acmeDomain: domain } = this.#deps.settings;
    if (order === undefined || domain === '') return;
    const expiresAt = this.current?.expiresAt ?? 0;
    const send = async (occasion: Occasion, cause: number): Promise<void> => {
      const failure =
        order.failure === undefined ? {} : { failure: { ...order.failure, values: { ...order.failure.values } } };
      await this.#notifications.send({ occasion, domain, expiresAt, ...failure }, cause);
    };
    const isRenewal = this.current !== undefined;
    if (isRenewal && this.#isExpiring()) await send('expires', expiresAt);
    const hasFailed = order.state === 'stopped' || (isRenewal && order.failures >= notifiedFailures);
    const isFinal = isRenewal && order.failures > 0 && isFinalFailure(order.failure?.code ?? '');
    if (hasFailed || isFinal) await send('failed', order.made_at);
    if (isRenewal && order.state === 'waiting') await send('record', order.made_at);
  }

  /** Looks up a service below the domain. */
  async #resolve(): Promise<void> {
    const { settings, shared, addresses, onChanged } = this.#deps;
    const [service] = shared();
    if (this.current === undefined || service === undefined) return;
    const resolved = await findAddresses(`${service}.${settings.acmeDomain}`, settings.acmeResolvers);
    const resolves = addresses().some((address) => resolved.includes(address));
    if (resolves === this.#resolves) return;
    this.#resolves = resolves;
    onChanged();
  }

  async #reload(): Promise<void> {
    const before = JSON.stringify(this.#order);
    this.#order = await this.#store.find();
    const certificate = await this.#store.findCertificate();
    if (certificate?.cert !== this.#certificate?.cert) {
      this.#certificate = certificate;
      this.#deps.onReplaced();
    }
    if (JSON.stringify(this.#order) !== before) this.#deps.onChanged();
  }

  #getRandom(): number {
    return (this.#deps.context.random.bytes(1)[0] ?? 0) / 255;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running.disposeAsync();
    await this.#checks.settled();
  }
}

function toFailure(error: unknown): CertificateFailure {
  if (error instanceof CertificateFailure) return error;
  const reason = error instanceof Problem ? error.detail : error instanceof Error ? error.message : String(error);
  return new CertificateFailure('acme.unexpected', { reason }, { cause: error });
}
