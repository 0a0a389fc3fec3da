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
import { addParentPassword, redactFor, refuseNewDestinations, type Editor } from './credential-access.ts';
import { isAdministrator, mayReadCredentials } from './permissions.ts';
import { readSharedConfig } from './address-import.ts';
import { isRecord } from '../../contracts/is-record.ts';

const passwordLength = 32;

/** Request of the route that saves a configuration. */
interface SaveRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: { readonly merge?: 'yes' | undefined; readonly import?: 'yes' | undefined };
  readonly body: { readonly config?: unknown };
  readonly identity: Identity | undefined;
}

/** Builds the handlers that list, create, change and delete configurations. */
export function createProfileHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { activity, profiles, settings } = dependencies;
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
    implement(addonsApi.create, ({ body, query, identity }) =>
      createProfile(dependencies, body.config, { identity, isImported: query.import === 'yes' }),
    ),
    implement(addonsApi.importAddress, async ({ body, identity }) => {
      const trust = isAdministrator(identity) && settings.allowPrivateAddresses ? 'owner' : 'other';
      const config = await readSharedConfig(dependencies, { ...body, trust });
      return createProfile(dependencies, config, { identity, isImported: true });
    }),
    implement(addonsApi.save, (request) => saveProfile(dependencies, request)),
    implement(addonsApi.remove, async ({ params: { uuid = '' } }) => {
      await profiles.getManagedPassword(uuid);
      await profiles.remove(uuid);
      return {};
    }),
  ];
}

/** Creates a configuration that is managed on the page. */
async function createProfile(
  dependencies: RouteDependencies,
  config: unknown,
  { identity, isImported }: { readonly identity: Identity | undefined; readonly isImported: boolean },
): Promise<AddonProfile> {
  const { context, profiles } = dependencies;
  const parsedConfig = readConfig(withoutNotes(withoutUuid(config)));
  const profile = await profiles.create(
    await verifyConfig(dependencies, parsedConfig, { identity, isImported }),
    context.random.text(passwordLength),
    {
      isManaged: true,
      publicOnly: !isAdministrator(identity),
      ...(identity === undefined ? {} : { owner: identity.account }),
    },
  );
  return toAddonProfile(dependencies, profile, context.clock.now());
}

/** Saves a configuration. Callers without access to its credentials do not change them. */
async function saveProfile(
  dependencies: RouteDependencies,
  { params: { uuid = '' }, query, body, identity }: SaveRequest,
): Promise<AddonProfile> {
  const { context, profiles } = dependencies;
  const password = await profiles.getManagedPassword(uuid);
  const { ownConfig } = await profiles.getStored(uuid, password);
  const publicOnly = !isAdministrator(identity);
  const mayReadKeys = await mayReadCredentials(profiles, identity, uuid);
  const change =
    query.merge === 'yes' || !mayReadKeys ? mergeConfig(ownConfig, body.config) : readConfig(withoutNotes(body.config));
  if (!mayReadKeys) refuseNewDestinations(ownConfig, change);
  const isImported = query.import === 'yes';
  const config = await verifyConfig(dependencies, change, { identity, before: ownConfig, uuid, isImported });
  return toAddonProfile(dependencies, await profiles.save(uuid, password, config, { publicOnly }), context.clock.now());
}

function withoutUuid(config: unknown): unknown {
  if (!isRecord(config)) return config;
  const { uuid: _uuid, ...rest } = config;
  return rest;
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
  const config = isWithoutKeys ? removeCredentials(ownConfig) : await redactFor(profiles, identity, uuid, ownConfig);
  return { config, notes: [...notes] };
}

/**
 * Completes a configuration and requests each of its addons. An imported configuration keeps addons that cannot be used,
 * with notes about them.
 */
async function verifyConfig(
  { catalog: { aggregator }, profiles }: RouteDependencies,
  config: AddonConfig,
  { uuid, isImported, ...editor }: VerificationOptions,
): Promise<AddonConfig> {
  const completeConfig = await addParentPassword(profiles, config, uuid, editor);
  const publicOnly = !isAdministrator(editor.identity);
  const requestContext = { config: completeConfig, uuid, addressMarkers: [], publicOnly };
  if (!isImported) {
    await aggregator.verifyAddons(requestContext);
    return completeConfig;
  }
  const problems = await aggregator.findAddonProblems(requestContext);
  return addImportNotes(completeConfig, problems);
}

interface VerificationOptions extends Editor {
  readonly uuid?: string;
  readonly isImported: boolean;
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
