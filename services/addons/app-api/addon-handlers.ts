import { defineDateFormat, formatList } from '../../../messages/format.ts';
import { readText } from '../../contracts/text.ts';
import * as t from '#messages/addons-texts';
import * as m from '#messages/addons-problems';
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
const resourceLabels: Readonly<Record<string, () => string>> = {
  stream: t.streams,
  meta: t.metadata,
  addon_catalog: t.addonLists,
};

const planLabels = { premium: t.paidPlan, trial: t.trialPlan, expired: t.noPlan } as const;

const formatDate = defineDateFormat({ dateStyle: 'medium', timeZone: 'UTC' });

/** Builds the handlers that list and test addons and debrid services. */
export function createAddonHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { settings } = dependencies;
  const { pool } = dependencies.playback;
  return [
    implement(addonsApi.kinds, () => ({
      kinds: presetKinds.map(({ id, name, description }) => ({
        id,
        name,
        description: readText(description),
        needsAddress: id === 'custom',
        alsoCalled: [...getPeerNames(id)],
      })),
      services: debridServices.map(({ id, name, help, credentials }) => ({
        id,
        name,
        help,
        credentials: credentials.map((field) => ({
          id: field.id,
          name: readText(field.name),
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
    implement(addonsApi.providers, async () => ({
      plans: (await dependencies.plans.list()).map(({ service, plan, ends_at }) => ({
        name: debridService(service)?.name ?? service,
        plan,
        endsAt: ends_at,
      })),
      providers: pool.health.list().map((health) => ({
        id: health.id,
        name: debridService(health.id)?.name ?? health.id,
        requests: health.requests,
        failures: health.failures,
        responseMs: health.responseMs ?? null,
        successRate: health.successRate ?? null,
        lastError: health.lastError === undefined ? null : readText(health.lastError),
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
  if (addon === undefined) return { works: false, sentence: problems[0]?.sentence ?? m.addonDisabled() };
  const result = await upstream.getManifest(addon, { bypassCache: true, timeoutMs: 10_000 });
  if ('failure' in result) return { works: false, sentence: result.failure.sentence };
  const { resources, catalogs } = result.value;
  const resourceNames = resources
    .map(({ name }) => [name, findOwn(resourceLabels, name)?.() ?? name] as const)
    .flatMap(([name, label]) => (name === 'catalog' ? [] : [label]));
  const catalogLabels = catalogs.length === 0 ? [] : [t.catalogs({ count: catalogs.length })];
  const offers = [...new Set(resourceNames), ...catalogLabels];
  return {
    works: true,
    sentence: offers.length === 0 ? t.addonWorksEmpty() : t.addonWorks({ offers: formatList(offers) }),
  };
}

async function checkService(
  dependencies: RouteDependencies,
  id: string,
  credentials: Readonly<Record<string, string>>,
): Promise<AddonCheck> {
  const { pool } = dependencies.playback;
  const service = debridService(id);
  if (service === undefined) throw new Problem('addons.unknown_service', 404, m.serviceNotFound());
  pool.health.reset(service.id, pool.fingerprint(service.id, credentials));
  try {
    return { works: true, sentence: await testCredentials(dependencies, service.id, credentials) };
  } catch (error) {
    if (error instanceof ProviderError) return { works: false, sentence: error.sentence };
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
    return t.serviceWorks();
  }
  const account = pool.getAccount(id, credentials);
  if (account === undefined) throw new Problem('addons.unknown_service', 404, m.serviceNotFound());
  const { name, plan, until } = await account.provider.user();
  const details = [name, planLabels[plan](), until === undefined ? '' : t.planEnd({ date: formatDate(until) })];
  return t.serviceWorksWithPlan({ details: details.filter((each) => each !== '').join(', ') });
}
