import * as m from '#messages/host-problems';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { ApiHandler } from '../../../services/contracts/api.ts';
import type { AccountData } from '../../../services/contracts/control/account-data.ts';
import type { Health } from '../../../services/contracts/health.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { readText } from '../../../services/contracts/text.ts';
import type { Context, Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { servicePartName } from '../backup/write.ts';
import type { ServiceSettings } from '../config/settings.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import { hasStoredKeys } from '../vault/has-stored-keys.ts';
import type { HostDependencies } from './host-parts.ts';

export interface UnloadedServiceOptions {
  readonly descriptor: ServiceDescriptor;
  readonly settings: ServiceSettings['settings'];
  /** See {@link Context.files}. */
  readonly files: string;
  /** Creates and starts the service. `created` is called with the service that is to be disposed at the end. */
  readonly open: (settings: unknown, signal: AbortSignal, created: (service: Service) => void) => Promise<Service>;
  readonly loaded: () => void;
  /** Called when the service could not be loaded, unless it was stopped before. */
  readonly failed: (error: unknown) => void;
}

/** Returns whether a service with these tables can wait for its first request. */
export async function canWaitForRequest(
  descriptor: ServiceDescriptor,
  parts: Pick<HostDependencies, 'storage' | 'identities'>,
  context: Pick<Context, 'children' | 'db' | 'engines' | 'files' | 'singleHost'>,
  settings: ServiceSettings['settings'],
): Promise<boolean> {
  const { id, loadOnDemand } = descriptor;
  if (loadOnDemand === undefined || existsSync(join(parts.storage.dataDir, id, servicePartName))) return false;
  // Other hosts can add data and jobs at any time, and this one continues their work when they end.
  if (!context.singleHost) return false;
  if (await parts.identities.releases.hasPending(id)) return false;
  // Unreadable keys are reported at the start.
  if (await hasStoredKeys(descriptor, context)) return false;
  const { rows } = await sql`select 1 from jobs where state <> 'done' limit 1`.execute(context.db);
  if (rows.length > 0) return false;
  const { children, db, engines, files } = context;
  return !(await loadOnDemand.isUsed({ children, db, engines, files, settings }));
}

/** Service whose code is loaded with its first request. After that it forwards all calls. */
export class UnloadedService implements Service {
  readonly #options: UnloadedServiceOptions;
  readonly #stopping = new AbortController();
  #settings: unknown;
  #loading: Promise<Service> | undefined;
  #created: Service | undefined;
  #loaded: Service | undefined;

  constructor(options: UnloadedServiceOptions) {
    this.#options = options;
    this.#settings = options.settings;
  }

  /**
   * Loads the service once for all callers.
   * @throws Problem `host.service_not_loaded` (503); the host then restarts the service, which loads it again.
   */
  load(): Promise<Service> {
    this.#loading ??= runOutsideRequests(() => this.#load());
    return this.#loading;
  }

  async #load(): Promise<Service> {
    const { descriptor, open, loaded, failed } = this.#options;
    try {
      this.#loaded = await open(this.#settings, this.#stopping.signal, (service) => (this.#created = service));
      loaded();
      return this.#loaded;
    } catch (cause) {
      if (!this.#stopping.signal.aborted) failed(cause);
      const service = descriptor.title;
      const detail = (): string =>
        cause instanceof Problem
          ? m.serviceNotLoaded({ service: readText(service), reason: cause.detail })
          : m.serviceNotLoadedSeeLog({ service: readText(service) });
      throw new Problem('host.service_not_loaded', 503, detail, { cause, retryable: true });
    }
  }

  get api(): readonly ApiHandler[] {
    return this.#loaded?.api ?? [];
  }

  get drain(): Service['drain'] {
    return this.#loaded?.drain;
  }

  get accountData(): AccountData {
    return {
      summary: async (account) => (await (await this.load()).accountData?.summary(account)) ?? [],
      release: async (account, disposition) => (await this.load()).accountData?.release(account, disposition),
    };
  }

  /** Undefined when the loaded service cannot apply settings, so that the host restarts it. */
  get reconfigure(): Service['reconfigure'] {
    if (this.#loaded !== undefined && this.#loaded.reconfigure === undefined) return undefined;
    return async (settings) => {
      this.#settings = settings;
      if (this.#loading === undefined) return;
      // A service that is being loaded was created with the former settings.
      const loaded = await this.#loading;
      if (loaded.reconfigure === undefined) throw new Error('The service applies settings only at its start.');
      await loaded.reconfigure(settings);
    };
  }

  get backup(): Service['backup'] {
    if (this.#loaded !== undefined && this.#loaded.backup === undefined) return undefined;
    return async (folder) => {
      if (this.#loading !== undefined || this.#hasExcludedFiles()) await (await this.load()).backup?.(folder);
    };
  }

  /** Returns whether there are files of an earlier use that only the loaded service can save. */
  #hasExcludedFiles(): boolean {
    const { descriptor, files } = this.#options;
    return descriptor.excludedFromCopy?.some((name) => existsSync(join(files, name))) === true;
  }

  async start(): Promise<void> {
    // Starts with the first request.
  }

  async health(): Promise<Health> {
    const { loadOnDemand } = this.#options.descriptor;
    if (this.#loaded === undefined && loadOnDemand !== undefined) return loadOnDemand.health;
    return (await this.load()).health();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loading?.catch(() => undefined);
    await this.#created?.[Symbol.asyncDispose]();
  }
}
