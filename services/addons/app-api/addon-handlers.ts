import { findOwn } from '../../contracts/find-own.ts';
import { addonsApi, type AddonCheck } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { debridService, debridServices, type ServiceId } from '../domain/debrid-services.ts';
import { predefinedFormats } from '../domain/format/predefined.ts';
import { getPeerNames, presetKinds } from '../domain/presets.ts';
import { readConfig } from '../domain/read-config.ts';
import { Easynews } from '../providers/easynews.ts';
import { ProviderError } from '../domain/provider-error.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import { isAdministrator } from './permissions.ts';

/** Labels of the resources of an addon. */
const resourceLabels: Readonly<Record<string, string>> = {
  stream: 'streams',
  meta: 'descriptions',
  addon_catalog: 'lists of addons',
};

const planLabels = { premium: 'a paid account', trial: 'a trial', expired: 'an account without a paid plan' } as const;

/** Builds the handlers that list and test addons and debrid services. */
export function createAddonHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { settings } = dependencies;
  const { pool } = dependencies.playback;
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

async function checkAddon(
  { catalog: { aggregator, upstream } }: RouteDependencies,
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
  const { pool } = dependencies.playback;
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

async function testCredentials(
  { playback: { pool } }: RouteDependencies,
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
