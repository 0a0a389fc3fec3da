import { z } from 'zod';
import { defineDateFormat } from '../../../messages/format.ts';
import * as t from '#messages/addons-texts';
import { planWarningMs } from '../../contracts/addons/plan-warning.ts';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationOffer, notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { SingleFlight } from '../../kit/single-flight.ts';
import { getProviderAccounts } from '../aggregate/provider-accounts.ts';
import { debridService, type ServiceId } from '../domain/debrid-services.ts';
import { ProviderError } from '../domain/provider-error.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { Settings } from '../settings.ts';
import { PlanStore, type StoredPlan } from '../store/plans.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';

const hourMs = 3_600_000;
/** Time after the start until the first check, so that it does not delay the first requests. */
const firstCheckMs = 60_000;
/** Minimum age of a stored plan before the service is asked again. */
const maxPlanAgeMs = 20 * hourMs;
/** Second notification, shortly before the end. */
const lastWarningMs = 24 * hourMs;

const formatDate = defineDateFormat({ dateStyle: 'medium', timeZone: 'UTC' });

/** Publishes a notification before the plan of an account ends, and after it ended. */
const notifyJob = defineJob('addons.plan-ends', z.object({ key: z.string(), service: z.string(), endsAt: z.number() }));

type Credentials = Readonly<Record<string, string>>;

/** Asks the debrid services once a day when the plans of the accounts end, and notifies before the end. */
export class PlanMonitor {
  readonly #context: Context;
  readonly #profiles: Profiles;
  readonly #pool: ProviderPool;
  readonly #settings: Settings;
  readonly #flight = new SingleFlight(async () => await this.#checkAll());

  constructor(context: Context, deps: { profiles: Profiles; pool: ProviderPool; settings: Settings }) {
    this.#context = context;
    this.#profiles = deps.profiles;
    this.#pool = deps.pool;
    this.#settings = deps.settings;
  }

  /** Starts the checks and the delivery of notifications. */
  async start(): Promise<AsyncDisposable> {
    const { clock, jobs, leases, log } = this.#context;
    await using open = new AsyncDisposableStack();
    const check = (): void => {
      this.check().catch((error: unknown) => log.warn('debrid plans not checked', { error }));
    };
    open.use(jobs.handle(notifyJob, async ({ payload }) => await this.#notify(payload)));
    const startChecks = (): Disposable => {
      const timers = new DisposableStack();
      timers.use(clock.after(firstCheckMs, check));
      timers.use(clock.every(hourMs, check));
      return timers;
    };
    open.use(await leases.hold('plans', startChecks));
    return open.move();
  }

  /** Returns the stored plans, those that end first first. */
  async list(): Promise<readonly StoredPlan[]> {
    return await new PlanStore(this.#context.db).list();
  }

  /**
   * Asks the services for the accounts of all configurations whose plans are not known or were read a day ago. Joins a
   * check that is running.
   */
  async check(): Promise<void> {
    await this.#flight.run();
  }

  async #checkAll(): Promise<void> {
    const { clock, log } = this.#context;
    const stored = new Map((await this.list()).map((plan) => [`${plan.service} ${plan.credential}`, plan]));
    const accounts = await this.#listAccounts();
    for (const [key, { id, credentials }] of accounts) {
      const checkedAt = stored.get(key)?.checked_at ?? 0;
      if (clock.now() - checkedAt < maxPlanAgeMs) continue;
      try {
        await this.read(id, credentials);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        log.debug('debrid plan not read', { service: id, error });
      }
    }
    for (const [key, { service, credential }] of stored) {
      if (!accounts.has(key)) {
        await this.#context.commit(async (db) => await new PlanStore(db).remove(service, credential));
      }
    }
  }

  /**
   * Asks a service for the plan of an account and stores it.
   * @throws ProviderError
   */
  async read(id: ServiceId, credentials: Credentials): Promise<void> {
    const { clock, commit, jobs } = this.#context;
    const account = this.#pool.getAccount(id, credentials);
    if (account === undefined) return;
    const { plan, until } = await account.provider.user();
    const now = clock.now();
    const credential = this.#pool.fingerprint(id, credentials);
    const stage = until === undefined ? undefined : getStage(until - now);
    await commit(async (db) => {
      await new PlanStore(db).save({ service: id, credential, plan, ends_at: until ?? null, checked_at: now });
      if (until === undefined || stage === undefined) return;
      const key = `addons:plan:${id}:${credential}:${String(until)}:${stage}`;
      await jobs.enqueue(db, notifyJob, { key, service: id, endsAt: until }, { key });
    });
  }

  /** Lists the accounts of the configurations that are managed on the pages, each once. */
  async #listAccounts(): Promise<ReadonlyMap<string, { readonly id: ServiceId; readonly credentials: Credentials }>> {
    const accounts = new Map<string, { readonly id: ServiceId; readonly credentials: Credentials }>();
    for (const { uuid, password } of await this.#profiles.listManaged()) {
      const profile = await this.#profiles.open(uuid, password).catch((error: unknown) => {
        if (error instanceof Problem) return undefined;
        throw error;
      });
      if (profile === undefined) continue;
      const options = { settings: this.#settings, pool: this.#pool, foreign: profile.foreign };
      for (const { id, credentials } of getProviderAccounts(profile.config, options)) {
        accounts.set(`${id} ${this.#pool.fingerprint(id, credentials)}`, { id, credentials });
      }
    }
    return accounts;
  }

  async #notify({ key, service, endsAt }: { key: string; service: string; endsAt: number }): Promise<void> {
    const { appPages, clock, handovers, inHostLanguage, log } = this.#context;
    const name = debridService(service)?.name ?? service;
    const hasEnded = endsAt <= clock.now();
    const text = await inHostLanguage(() => ({
      title: hasEnded ? t.planEndedTitle({ name }) : t.planEndsTitle({ name }),
      body: hasEnded ? t.planEndedText({ date: formatDate(endsAt) }) : t.planEndsText({ date: formatDate(endsAt) }),
    }));
    const page = appPages.forMessages();
    const link = page === undefined ? {} : { link: `${page}/addons/services` };
    const notice = { ...text, ...link, type: 'warning', tags: ['addons', 'plan'], source: 'addons' };
    try {
      await handovers.pass(notificationOffered, key, NotificationOffer.parse({ notice }));
    } catch (error) {
      // Notifications are disabled: drop this one instead of retrying it later.
      if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
      log.debug('notification dropped: notifications are disabled', { key });
    }
  }
}

/** Returns the notification that is due at this time before the end; each is sent once for the same end. */
function getStage(remainingMs: number): 'week' | 'day' | 'ended' | undefined {
  // A plan that ended long ago is not news: the account may be unused.
  if (remainingMs < -planWarningMs) return undefined;
  if (remainingMs <= 0) return 'ended';
  if (remainingMs <= lastWarningMs) return 'day';
  return remainingMs <= planWarningMs ? 'week' : undefined;
}
