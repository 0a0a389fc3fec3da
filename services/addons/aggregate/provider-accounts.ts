import { usableServices, type AddonConfig, type ConfiguredService } from '../domain/config.ts';
import { debridService } from '../domain/debrid-services.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import type { UsableService } from '../providers/wrap-torrents.ts';
import { defaultCredentials, type Settings } from '../settings.ts';

interface AccountsOptions {
  readonly settings: Settings;
  readonly pool: Pick<ProviderPool, 'knows'>;
  /** Set for configurations created by another site, which must not use the accounts of the settings. */
  readonly foreign: boolean;
}

/** Returns the services of a configuration with credentials, which come from the configuration or the settings. */
export function accountsOf(
  config: AddonConfig,
  { settings, pool, foreign }: AccountsOptions,
): readonly UsableService[] {
  return usableServices(config, (service) => credentialsOf(service, foreign ? undefined : settings)).filter(({ id }) =>
    pool.knows(id),
  );
}

function credentialsOf(
  { id, credentials }: ConfiguredService,
  settings: Settings | undefined,
): Readonly<Record<string, string>> | undefined {
  const service = debridService(id);
  if (service === undefined) return undefined;
  const defaults = settings === undefined ? {} : defaultCredentials(settings, service);
  const found: Record<string, string> = {};
  for (const { id: name, required } of service.credentials) {
    const own = credentials[name];
    const value = own === null || own === undefined || own === '' ? defaults[name] : own;
    if (typeof value === 'string' && value !== '') found[name] = value;
    else if (required && name !== 'clientId') return undefined;
  }
  return found;
}
