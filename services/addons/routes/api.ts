import { addonsApi, type AddonCheck, type AddonProfile } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Asker } from '../aggregate/aggregator.ts';
import type { AddonConfig } from '../domain/config.ts';
import { debridService, debridServices, type ServiceId } from '../domain/debrid-services.ts';
import { formatterOf, predefinedFormats } from '../domain/format/predefined.ts';
import { toOutput } from '../domain/pipeline/output.ts';
import { presetKinds } from '../domain/presets.ts';
import { readConfig } from '../domain/read-config.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { unsupportedOf } from '../domain/unsupported.ts';
import { parseRelease } from '../domain/release.ts';
import type { Profile } from '../profiles/profiles.ts';
import { Easynews } from '../providers/easynews.ts';
import { ProviderError } from '../providers/provider.ts';
import { explainStream } from '../wire/why.ts';
import type { RouteParts } from './parts.ts';
import { catalogsOf } from './tools.ts';

const passwordLength = 32;
const mostPreviewed = 200;

/** The service's part of our own API: the page makes and looks after configurations. */
export function addonsHandlers(parts: RouteParts): readonly ApiHandler[] {
  const { activity, context, settings, profiles, aggregator, pool, upstream } = parts;
  const checked = async (config: unknown, uuid?: string): Promise<AddonConfig> => {
    const read = readConfig(config);
    await aggregator.verify({ config: read, uuid, marks: [] });
    return read;
  };
  return [
    implement(addonsApi.overview, async () => ({
      configurations: await profiles.count(),
      ...activity.view(),
    })),
    implement(addonsApi.profiles, async () => {
      const kept = await profiles.kept();
      return {
        profiles: await Promise.all(
          kept.map(async ({ uuid, password, updatedAt }) => shown(await profiles.open(uuid, password), updatedAt)),
        ),
      };
    }),
    implement(addonsApi.profile, async ({ params: { uuid = '' } }) => {
      const { own, config } = await profiles.open(uuid, await profiles.keptPassword(uuid));
      return { config: own, notes: [...unsupportedOf(config)] };
    }),
    implement(addonsApi.create, async ({ body }) => {
      const { uuid: _uuid, ...config } = body.config;
      const made = await profiles.create(await checked(config), context.random.text(passwordLength), { keep: true });
      return shown(made, context.clock.now());
    }),
    implement(addonsApi.save, async ({ params: { uuid = '' }, query, body }) => {
      const password = await profiles.keptPassword(uuid);
      const before = (await profiles.open(uuid, password)).own;
      const config = await checked(query.merge === 'yes' ? { ...before, ...body.config } : body.config, uuid);
      return shown(await profiles.save(uuid, password, config), context.clock.now());
    }),
    implement(addonsApi.remove, async ({ params: { uuid = '' } }) => {
      await profiles.keptPassword(uuid);
      await profiles.remove(uuid);
      return {};
    }),
    implement(addonsApi.kinds, () => ({
      kinds: presetKinds.map(({ id, name, description }) => ({ id, name, description, needsAddress: id === 'custom' })),
      services: debridServices.map(({ id, name, help, credentials }) => ({
        ...{ id, name, help },
        credentials: credentials.map((field) => ({
          id: field.id,
          name: field.name,
          secret: field.type === 'password',
        })),
      })),
      formats: Object.keys(predefinedFormats),
      publicUrl: settings.baseUrl === '' ? null : settings.baseUrl,
    })),
    implement(addonsApi.check, async ({ body }): Promise<AddonCheck> => {
      const config = readConfig({
        presets: [body.preset],
        formatter: { id: 'torrentio' },
        sortCriteria: { global: [] },
      });
      const { addons, problems } = aggregator.configured({ config, uuid: undefined, marks: [] });
      const [addon] = addons;
      if (addon === undefined) return { works: false, sentence: problems[0]?.sentence ?? 'It is switched off.' };
      const told = await upstream.manifest(addon, { fresh: true, timeoutMs: 10_000 });
      if ('failure' in told) return { works: false, sentence: told.failure.message };
      const { resources, catalogs } = told.value;
      const has = resources.map(({ name }) => name).filter((name) => name !== 'catalog');
      const lists =
        catalogs.length === 0 ? [] : [`${String(catalogs.length)} ${catalogs.length === 1 ? 'catalog' : 'catalogs'}`];
      return { works: true, sentence: `It works, and has ${[...new Set(has), ...lists].join(', ') || 'nothing yet'}.` };
    }),
    implement(addonsApi.testService, async ({ body: { id, credentials } }): Promise<AddonCheck> => {
      const service = debridService(id);
      if (service === undefined) throw new Problem('addons.unknown_service', 404, 'There is no such service.');
      pool.health.forgive(service.id, pool.fingerprint(service.id, credentials));
      try {
        return { works: true, sentence: await whose(parts, service.id, credentials) };
      } catch (error) {
        if (error instanceof ProviderError) return { works: false, sentence: error.message };
        throw error;
      }
    }),
    implement(addonsApi.preview, async ({ body }) => {
      const config = readConfig(body.config);
      const baseUrl = settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
      const asker: Asker = {
        ...{
          config,
          baseUrl,
          uuid: undefined,
          marks: [],
          revision: 'preview',
          configureUrl: `${baseUrl}/stremio/configure`,
        },
        ...{ withData: false, trusted: true, proxy: (result) => result },
      };
      const found = await aggregator.search(asker, { resource: 'stream', type: body.type, id: body.id, extra: {} });
      const output = {
        ...{ config, addonId: settings.addonId, addonName: config.addonName || settings.addonName, withData: false },
        formatter: aggregator.formatterFor(config),
      };
      const texts = (stream: ParsedStream): { name: string; description: string; addon: string } => {
        const { name, description } = toOutput(stream, output);
        return { name: String(name), description: String(description), addon: stream.addon.name };
      };
      return {
        shown: found.shown
          .slice(0, mostPreviewed)
          .map((stream) => ({ ...texts(stream), why: explainStream(stream, config) })),
        hidden: found.hidden.slice(0, mostPreviewed).map(({ stream, removal }) => ({
          ...texts(stream),
          why: removal === undefined ? '' : `${removal.rule}: ${removal.value}`,
        })),
        errors: [...found.errors],
      };
    }),
    implement(addonsApi.catalogs, async ({ body }) => {
      const baseUrl = settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
      const config = readConfig(body.config);
      const catalogs = await catalogsOf(parts, { config, uuid: undefined, marks: [], baseUrl });
      return {
        catalogs: catalogs.map(({ id, type, name, addonName }) => ({ id, type, name: name ?? id, addon: addonName })),
      };
    }),
    implement(addonsApi.format, ({ body: { id, name, description } }) => {
      const formatter = formatterOf({ id, definitions: { custom: { name, description } } });
      const values = { stream: sample, addonName: settings.addonName };
      return { name: formatter.name(values), description: formatter.description(values) };
    }),
    implement(addonsApi.providers, () => ({
      providers: pool.health.list().map((one) => ({
        ...{ id: one.id, name: debridService(one.id)?.name ?? one.id, requests: one.requests, failures: one.failures },
        responseMs: one.responseMs ?? null,
        successRate: one.successRate ?? null,
        lastError: one.lastError ?? null,
        lastErrorAt: one.lastErrorAt ?? null,
        disabledUntil: one.disabledUntil ?? null,
      })),
    })),
  ];

  function shown({ uuid, encryptedPassword, own }: Profile, updatedAt: number): AddonProfile {
    const kindName = (type: string): string => presetKinds.find(({ id }) => id === type)?.name ?? type;
    return {
      uuid,
      name: own.addonName || settings.addonName,
      addons: own.presets.filter(({ enabled }) => enabled).map(({ type, options }) => options.name || kindName(type)),
      services: (own.services ?? [])
        .filter(({ enabled }) => enabled !== false)
        .map(({ id }) => debridService(id)?.name ?? id),
      installPath: `/stremio/${uuid}/${encryptedPassword}/manifest.json`,
      updatedAt,
    };
  }
}

const plans = { premium: 'a paid account', trial: 'a trial', expired: 'an account without a paid plan' } as const;

async function whose(
  { pool }: RouteParts,
  id: ServiceId,
  credentials: Readonly<Record<string, string>>,
): Promise<string> {
  const caller = id === 'easynews' ? pool.caller(id, credentials) : undefined;
  if (caller !== undefined) {
    await new Easynews(caller, credentials).user();
    return 'It works.';
  }
  const account = pool.account(id, credentials);
  if (account === undefined) throw new Problem('addons.unknown_service', 404, 'There is no such service.');
  const { name, plan, until } = await account.provider.user();
  const end = until === undefined ? '' : `, until ${new Date(until).toISOString().slice(0, 10)}`;
  return `It works: ${name === '' ? '' : `${name}, `}${plans[plan]}${end}.`;
}

/** A stream that has everything, for the format editor. */
const sampleName = 'The.Movie.2019.2160p.BluRay.REMUX.HEVC.DV.TrueHD.7.1.Atmos-GRP.mkv';
const sample: ParsedStream = {
  id: 'sample-0',
  addon: {
    ...{ instanceId: 'sample', presetType: 'custom', name: 'Torrentio', index: 0, manifestUrl: '', library: false },
    ...{ formatPassthrough: false, resultPassthrough: false, pinPosition: undefined },
  },
  upstream: {},
  hints: {},
  type: 'debrid',
  service: { id: 'torbox', cached: true },
  library: true,
  proxied: false,
  url: 'http://127.0.0.1/',
  infoHash: '2a4e0006f054296755b7cbed0127c0c941c854c4',
  fileIdx: 1,
  sources: undefined,
  filename: sampleName,
  folderName: undefined,
  size: 60_000_000_000,
  folderSize: undefined,
  seeders: 120,
  age: 48,
  duration: 7_200_000,
  indexer: 'Indexer',
  message: undefined,
  private: false,
  file: { ...parseRelease(sampleName), languages: ['English', 'French'] },
};
