import * as m from '#messages/addons-problems';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { AddonConfig } from '../domain/config.ts';
import { removeCredentials } from '../domain/without-credentials.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { mayReadCredentials } from './permissions.ts';

/** Caller that saves a configuration. */
export interface Editor {
  readonly identity: Identity | undefined;
  /** The stored configuration; undefined for a new one. */
  readonly before?: AddonConfig;
}

/**
 * Removes credentials that the caller may not read, also the password of the parent, with which its credentials can be
 * read.
 */
export async function redactFor(
  profiles: Profiles,
  identity: Identity | undefined,
  uuid: string,
  config: AddonConfig,
): Promise<AddonConfig> {
  if (!(await mayReadCredentials(profiles, identity, uuid))) return removeCredentials(config);
  const { parentConfig } = config;
  if (!parentConfig || (await mayReadCredentials(profiles, identity, parentConfig.uuid))) return config;
  return { ...config, parentConfig: { ...parentConfig, password: '' } };
}

/**
 * Adds the password of the parent configuration if it did not change, or if it is managed on the page and the caller may
 * read its credentials.
 *
 * @throws Problem `addons.parent_forbidden` (403)
 */
export async function addParentPassword(
  profiles: Profiles,
  config: AddonConfig,
  uuid: string | undefined,
  { identity, before }: Editor,
): Promise<AddonConfig> {
  const { parentConfig } = config;
  if (parentConfig === null || parentConfig === undefined) return config;
  if (parentConfig.uuid === uuid) throw new Problem('addons.invalid_config', 400, m.parentIsItself());
  const former = before?.parentConfig?.uuid === parentConfig.uuid ? before.parentConfig.password : '';
  const withPassword = (password: string): AddonConfig => ({ ...config, parentConfig: { ...parentConfig, password } });
  try {
    const password = await profiles.getManagedPassword(parentConfig.uuid);
    if (await mayReadCredentials(profiles, identity, parentConfig.uuid)) return withPassword(password);
  } catch (error) {
    if (error instanceof Problem && parentConfig.password !== '') return config;
    if (former === '') throw error;
  }
  if (parentConfig.password !== '') return config;
  if (former !== '') return withPassword(former);
  throw new Problem('addons.parent_forbidden', 403, m.parentForbidden());
}

/**
 * Refuses a change of what decides where the preserved credentials of a configuration are sent, by a caller who may not
 * read them.
 *
 * @throws Problem `addons.destination_forbidden` (403)
 */
export function refuseNewDestinations(before: AddonConfig, after: AddonConfig): void {
  if (JSON.stringify(removeCredentials(before)) === JSON.stringify(before)) return;
  const existing = new Set(before.presets.map(({ instanceId }) => instanceId));
  if (JSON.stringify(getDestinations(before, existing)) === JSON.stringify(getDestinations(after, existing))) return;
  throw new Problem('addons.destination_forbidden', 403, m.destinationForbidden());
}

function getDestinations(config: AddonConfig, existing: ReadonlySet<string>): unknown {
  const { openposterdbParameters, openposterdbUrl, parentConfig, presets, proxy, variants } = removeCredentials(config);
  return {
    poster: [openposterdbUrl ?? '', openposterdbParameters ?? ''],
    parent: parentConfig?.uuid ?? '',
    proxy: [proxy?.id ?? '', proxy?.url ?? '', proxy?.publicUrl ?? ''],
    variants: variants ?? [],
    presets: Object.fromEntries(
      presets
        .filter(({ instanceId }) => existing.has(instanceId))
        .map(({ instanceId, type, options }) => [instanceId, [type, options.url ?? '', options.manifestUrl ?? '']]),
    ),
  };
}
