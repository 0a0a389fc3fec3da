import { addonsApi, type AddonProfile } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { AddonConfig } from '../domain/config.ts';
import { debridService } from '../domain/debrid-services.ts';
import { mergeConfig } from '../domain/merge-config.ts';
import { findPresetKind } from '../domain/presets.ts';
import { addImportNotes, readConfig } from '../domain/read-config.ts';
import { findUnsupportedFeatures } from '../domain/unsupported-features.ts';
import { removeCredentials } from '../domain/without-credentials.ts';
import type { Profiles, StoredProfile } from '../profiles/profiles.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import { withoutNotes } from '../stremio-api/users.ts';
import { isAdministrator, mayReadCredentials } from './permissions.ts';

const passwordLength = 32;

/** Builds the handlers that list, create, change and delete configurations. */
export function createProfileHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { activity, context, profiles } = dependencies;
  return [
    implement(addonsApi.overview, async () => ({
      configurations: await profiles.count(),
      ...activity.getOverview(),
    })),
    implement(addonsApi.profiles, async () => {
      const managedProfiles = await profiles.listManaged();
      return {
        profiles: await Promise.all(
          managedProfiles.map(async ({ uuid, password, updatedAt }) =>
            toAddonProfile(dependencies, await profiles.getStored(uuid, password), updatedAt),
          ),
        ),
      };
    }),
    implement(addonsApi.profile, ({ params: { uuid = '' }, query, identity }) =>
      readProfile(profiles, uuid, identity, query.without === 'keys'),
    ),
    implement(addonsApi.create, async ({ body, query, identity }) => {
      const { uuid: _uuid, ...config } = body.config;
      const publicOnly = !isAdministrator(identity);
      const profile = await profiles.create(
        await verifyConfig(dependencies, config, { publicOnly, isImported: query.import === 'yes' }),
        context.random.text(passwordLength),
        {
          isManaged: true,
          publicOnly,
          ...(identity === undefined ? {} : { owner: identity.account }),
        },
      );
      return toAddonProfile(dependencies, profile, context.clock.now());
    }),
    implement(addonsApi.save, async ({ params: { uuid = '' }, query, body, identity }) => {
      const password = await profiles.getManagedPassword(uuid);
      const { ownConfig } = await profiles.getStored(uuid, password);
      const publicOnly = !isAdministrator(identity);
      // Callers without access to the credentials do not change them.
      const isMerged = query.merge === 'yes' || !(await mayReadCredentials(profiles, identity, uuid));
      const config = await verifyConfig(dependencies, isMerged ? mergeConfig(ownConfig, body.config) : body.config, {
        publicOnly,
        uuid,
        isImported: query.import === 'yes',
      });
      return toAddonProfile(
        dependencies,
        await profiles.save(uuid, password, config, { publicOnly }),
        context.clock.now(),
      );
    }),
    implement(addonsApi.remove, async ({ params: { uuid = '' } }) => {
      await profiles.getManagedPassword(uuid);
      await profiles.remove(uuid);
      return {};
    }),
  ];
}

/** Returns a configuration with notes about its unsupported parts. */
async function readProfile(
  profiles: Profiles,
  uuid: string,
  identity: Identity | undefined,
  isWithoutKeys: boolean,
): Promise<{ config: AddonConfig; notes: string[] }> {
  const password = await profiles.getManagedPassword(uuid);
  const { ownConfig } = await profiles.getStored(uuid, password);
  const notes = await profiles.open(uuid, password).then(
    ({ config }) => findUnsupportedFeatures(config),
    (error: unknown) => {
      // The configuration is returned as well, because it can only be fixed on this page.
      if (error instanceof Problem && error.code === 'addons.parent_gone')
        return [error.detail, ...findUnsupportedFeatures(ownConfig)];
      throw error;
    },
  );
  const isRedacted = isWithoutKeys || !(await mayReadCredentials(profiles, identity, uuid));
  return { config: isRedacted ? removeCredentials(ownConfig) : ownConfig, notes: [...notes] };
}

/**
 * Reads a configuration and requests each of its addons. An imported configuration keeps addons that cannot be used,
 * with notes about them.
 */
async function verifyConfig(
  { aggregator, profiles }: RouteDependencies,
  config: unknown,
  { publicOnly, uuid, isImported }: VerificationOptions,
): Promise<AddonConfig> {
  const parsedConfig = await addParentPassword(profiles, readConfig(withoutNotes(config)), uuid);
  const requestContext = { config: parsedConfig, uuid, addressMarkers: [], publicOnly };
  if (!isImported) {
    await aggregator.verifyAddons(requestContext);
    return parsedConfig;
  }
  const problems = await aggregator.findAddonProblems(requestContext);
  return addImportNotes(parsedConfig, problems);
}

interface VerificationOptions {
  readonly publicOnly: boolean;
  readonly uuid?: string;
  readonly isImported: boolean;
}

/** Adds the password of the parent configuration if it is managed on the page. */
async function addParentPassword(
  profiles: Profiles,
  config: AddonConfig,
  uuid: string | undefined,
): Promise<AddonConfig> {
  const { parentConfig } = config;
  if (parentConfig === null || parentConfig === undefined) return config;
  if (parentConfig.uuid === uuid)
    throw new Problem('addons.invalid_config', 400, 'A configuration cannot inherit from itself.');
  try {
    const password = await profiles.getManagedPassword(parentConfig.uuid);
    return { ...config, parentConfig: { ...parentConfig, password } };
  } catch (error) {
    if (error instanceof Problem && parentConfig.password !== '') return config;
    throw error;
  }
}

function toAddonProfile(
  { activity, settings }: RouteDependencies,
  { uuid, encryptedPassword, ownConfig }: StoredProfile,
  updatedAt: number,
): AddonProfile {
  const getPresetName = (type: string): string => findPresetKind(type)?.name ?? type;
  return {
    uuid,
    name: ownConfig.addonName || settings.addonName,
    addons: ownConfig.presets
      .filter(({ enabled }) => enabled)
      .map(({ type, options }) => options.name || getPresetName(type)),
    services: (ownConfig.services ?? [])
      .filter(({ enabled }) => enabled !== false)
      .map(({ id }) => debridService(id)?.name ?? id),
    installPath: `/stremio/${uuid}/${encryptedPassword}/manifest.json`,
    updatedAt,
    asked: activity.getProfileActivity(uuid),
  };
}
