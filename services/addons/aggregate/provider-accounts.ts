import { getUsableServices, type AddonConfig, type ConfiguredService } from '../domain/config.ts';
import { debridService } from '../domain/debrid-services.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import type { UsableService } from '../playback/wrap-torrents.ts';
import { getDefaultCredentials, type Settings } from '../settings.ts';

interface ProviderAccountsOptions {
  readonly settings: Settings;
  readonly pool: Pick<ProviderPool, 'isSupported'>;
  /** Set for configurations created by another site, which must not use the accounts of the settings. */
  readonly foreign: boolean;
}

/** Returns the services of a configuration with credentials, which come from the configuration or the settings. */
export function getProviderAccounts(
  config: AddonConfig,
  { settings, pool, foreign }: ProviderAccountsOptions,
): readonly UsableService[] {
  return getUsableServices(config, (service) => findCredentials(service, foreign ? undefined : settings)).filter(
    ({ id }) => pool.isSupported(id),
  );
}

function findCredentials(
  { id, credentials }: ConfiguredService,
  settings: Settings | undefined,
): Readonly<Record<string, string>> | undefined {
  const service = debridService(id);
  if (service === undefined) return undefined;
  const defaults = settings === undefined ? {} : getDefaultCredentials(settings, service);
  const resolved: Record<string, string> = {};
  for (const { id: name, required } of service.credentials) {
    const configured = credentials[name];
    const value = configured === null || configured === undefined || configured === '' ? defaults[name] : configured;
    if (typeof value === 'string' && value !== '') resolved[name] = value;
    else if (required && name !== 'clientId') return undefined;
  }
  return resolved;
}
