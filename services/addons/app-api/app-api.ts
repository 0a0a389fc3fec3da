import { findOwn } from '../../contracts/find-own.ts';
import { addonsApi, type AddonCheck, type AddonProfile } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { RequestContext } from '../aggregate/request-context.ts';
import type { AddonConfig } from '../domain/config.ts';
import { debridService, debridServices, type ServiceId } from '../domain/debrid-services.ts';
import { compileFormat, predefinedFormats } from '../domain/format/predefined.ts';
import { mergeConfig } from '../domain/merge-config.ts';
import { toClientStream } from '../domain/pipeline/output.ts';
import { getPeerNames, findPresetKind, presetKinds } from '../domain/presets.ts';
import { addImportNotes, readConfig } from '../domain/read-config.ts';
import { findRuleProblems } from '../domain/rule-problems.ts';
import { sampleStream } from '../domain/sample-stream.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { findUnsupportedFeatures } from '../domain/unsupported-features.ts';
import { removeCredentials } from '../domain/without-credentials.ts';
import { isRecord } from '../domain/variants/path.ts';
import type { Profiles, StoredProfile } from '../profiles/profiles.ts';
import { Easynews } from '../providers/easynews.ts';
import { ProviderError } from '../providers/provider.ts';
import { explainPosition } from '../aggregate/sort-explanation.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import { listConfigurationCatalogs } from '../stremio-api/search.ts';
import { withoutNotes } from '../stremio-api/users.ts';

const passwordLength = 32;
const maxPreviewedStreams = 200;

/** Labels of the resources of an addon. */
const resourceLabels: Readonly<Record<string, string>> = {
  stream: 'streams',
  meta: 'descriptions',
  addon_catalog: 'lists of addons',
};

/** Builds the handlers of our own API, which the page uses to manage configurations. */
export function createAppApiHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  return [
    ...createProfileHandlers(dependencies),
    ...createAddonHandlers(dependencies),
    ...createResultHandlers(dependencies),
  ];
}

function createProfileHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
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
      const publicOnly = !isAdministrator(identity);
      const profile = await profiles.create(
        await verifyConfig(dependencies, withoutNotes(withoutUuid(body.config)), {
          publicOnly,
          isImported: query.import === 'yes',
        }),
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
      const change = isMerged ? mergeConfig(ownConfig, body.config) : withoutNotes(body.config);
      const config = await verifyConfig(dependencies, change, {
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

function createAddonHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { pool, settings } = dependencies;
  return [
    implement(addonsApi.kinds, () => ({
      kinds: presetKinds.map(({ id, name, description }) => ({
        id,
        name,
        description,
        needsAddress: id === 'custom',
        alsoCalled: [...getPeerNames(id)],
      })),
      services: debridServices.map(({ id, name, help, credentials }) => ({
        id,
        name,
        help,
        credentials: credentials.map((field) => ({
          id: field.id,
          name: field.name,
          secret: field.type === 'password',
        })),
      })),
      formats: Object.keys(predefinedFormats),
      publicUrl: settings.baseUrl === '' ? null : settings.baseUrl,
    })),
    implement(addonsApi.check, ({ body, identity }) =>
      checkAddon(dependencies, body.preset, !isAdministrator(identity)),
    ),
    implement(addonsApi.testService, ({ body: { id, credentials } }) => checkService(dependencies, id, credentials)),
    implement(addonsApi.providers, () => ({
      providers: pool.health.list().map((health) => ({
        id: health.id,
        name: debridService(health.id)?.name ?? health.id,
        requests: health.requests,
        failures: health.failures,
        responseMs: health.responseMs ?? null,
        successRate: health.successRate ?? null,
        lastError: health.lastError ?? null,
        lastErrorAt: health.lastErrorAt ?? null,
        disabledUntil: health.disabledUntil ?? null,
      })),
    })),
  ];
}

function createResultHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { context, settings } = dependencies;
  return [
    implement(addonsApi.preview, ({ body, identity }) =>
      previewStreams(dependencies, body, !isAdministrator(identity)),
    ),
    implement(addonsApi.catalogs, async ({ body, identity }) => {
      const baseUrl = settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
      const config = readConfig(body.config);
      const catalogs = await listConfigurationCatalogs(dependencies, {
        config,
        uuid: undefined,
        addressMarkers: [],
        baseUrl,
        publicOnly: !isAdministrator(identity),
      });
      return {
        catalogs: catalogs.map(({ id, type, name, addonName }) => ({ id, type, name: name ?? id, addon: addonName })),
      };
    }),
    implement(addonsApi.format, ({ body: { id, name, description } }) => {
      const formatter = compileFormat({ id, definitions: { custom: { name, description } } });
      const values = { stream: sampleStream, addonName: settings.addonName };
      return { name: formatter.name(values), description: formatter.description(values) };
    }),
    implement(addonsApi.rules, ({ body }) => ({ problems: [...findRuleProblems(readConfig(body.config))] })),
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

function withoutUuid(config: unknown): unknown {
  if (!isRecord(config)) return config;
  const { uuid: _uuid, ...rest } = config;
  return rest;
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
  const parsedConfig = await addParentPassword(profiles, readConfig(config), uuid);
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

/** Returns true when the caller may read credentials: the owner of the configuration and administrators. */
async function mayReadCredentials(profiles: Profiles, identity: Identity | undefined, uuid: string): Promise<boolean> {
  if (isAdministrator(identity)) return true;
  return identity !== undefined && identity.limited !== true && identity.account === (await profiles.getOwner(uuid));
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

async function checkAddon(
  { aggregator, upstream }: RouteDependencies,
  preset: unknown,
  publicOnly: boolean,
): Promise<AddonCheck> {
  const config = readConfig({
    presets: [preset],
    formatter: { id: 'torrentio' },
    sortCriteria: { global: [] },
  });
  const { addons, problems } = aggregator.resolveAddons({
    config,
    uuid: undefined,
    addressMarkers: [],
    publicOnly,
  });
  const [addon] = addons;
  if (addon === undefined) return { works: false, sentence: problems[0]?.sentence ?? 'It is switched off.' };
  const result = await upstream.getManifest(addon, { bypassCache: true, timeoutMs: 10_000 });
  if ('failure' in result) return { works: false, sentence: result.failure.message };
  const { resources, catalogs } = result.value;
  const resourceNames = resources
    .map(({ name }) => findOwn(resourceLabels, name) ?? name)
    .filter((name) => name !== 'catalog');
  const catalogLabels =
    catalogs.length === 0 ? [] : [`${String(catalogs.length)} ${catalogs.length === 1 ? 'catalog' : 'catalogs'}`];
  return {
    works: true,
    sentence: `It works, and offers ${[...new Set(resourceNames), ...catalogLabels].join(', ') || 'nothing yet'}.`,
  };
}

async function checkService(
  dependencies: RouteDependencies,
  id: string,
  credentials: Readonly<Record<string, string>>,
): Promise<AddonCheck> {
  const { pool } = dependencies;
  const service = debridService(id);
  if (service === undefined) throw new Problem('addons.unknown_service', 404, 'There is no such service.');
  pool.health.reset(service.id, pool.fingerprint(service.id, credentials));
  try {
    return { works: true, sentence: await testCredentials(dependencies, service.id, credentials) };
  } catch (error) {
    if (error instanceof ProviderError) return { works: false, sentence: error.message };
    throw error;
  }
}

async function previewStreams(
  { aggregator, context, settings }: RouteDependencies,
  body: { readonly config: unknown; readonly type: string; readonly id: string },
  publicOnly: boolean,
) {
  const config = readConfig(body.config);
  const baseUrl = settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
  const requestContext: RequestContext = {
    config,
    baseUrl,
    uuid: undefined,
    addressMarkers: [],
    revision: 'preview',
    configureUrl: `${baseUrl}/stremio/configure`,
    withData: false,
    trusted: true,
    proxy: (result) => result,
    publicOnly,
  };
  const searchResult = await aggregator.search(requestContext, {
    resource: 'stream',
    type: body.type,
    id: body.id,
    extra: {},
  });
  const output = {
    config,
    addonId: settings.addonId,
    addonName: config.addonName || settings.addonName,
    withData: false,
    formatter: aggregator.getFormatter(config),
    context: searchResult.formatContext,
  };
  const formatStream = (stream: ParsedStream): { name: string; description: string; addon: string } => {
    const { name, description } = toClientStream(stream, output);
    return { name: String(name), description: String(description), addon: stream.addon.name };
  };
  return {
    shown: searchResult.visible
      .slice(0, maxPreviewedStreams)
      .map((stream) => ({ ...formatStream(stream), why: explainPosition(stream, config) })),
    hidden: searchResult.hidden.slice(0, maxPreviewedStreams).map(({ stream, removal }) => ({
      ...formatStream(stream),
      why: removal === undefined ? '' : `${removal.rule}: ${removal.value}`,
    })),
    errors: [...searchResult.errors],
  };
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

function isAdministrator(identity: Identity | undefined): boolean {
  return identity?.role === 'admin' && identity.limited !== true;
}

const planLabels = { premium: 'a paid account', trial: 'a trial', expired: 'an account without a paid plan' } as const;

async function testCredentials(
  { pool }: RouteDependencies,
  id: ServiceId,
  credentials: Readonly<Record<string, string>>,
): Promise<string> {
  const httpClient = id === 'easynews' ? pool.createHttpClient(id, credentials) : undefined;
  if (httpClient !== undefined) {
    await new Easynews(httpClient, credentials).verifyCredentials();
    return 'It works.';
  }
  const account = pool.getAccount(id, credentials);
  if (account === undefined) throw new Problem('addons.unknown_service', 404, 'There is no such service.');
  const { name, plan, until } = await account.provider.user();
  const planEnd = until === undefined ? '' : `, until ${new Date(until).toISOString().slice(0, 10)}`;
  return `It works: ${name === '' ? '' : `${name}, `}${planLabels[plan]}${planEnd}.`;
}
