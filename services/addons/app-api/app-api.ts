import { findOwn } from '../../contracts/find-own.ts';
import { addonsApi, type AddonCheck, type AddonProfile } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Asker } from '../aggregate/request-context.ts';
import type { AddonConfig } from '../domain/config.ts';
import { debridService, debridServices, type ServiceId } from '../domain/debrid-services.ts';
import { formatterOf, predefinedFormats } from '../domain/format/predefined.ts';
import { mergeConfig } from '../domain/merge-config.ts';
import { toOutput } from '../domain/pipeline/output.ts';
import { otherNamesOf, presetKind, presetKinds } from '../domain/presets.ts';
import { readConfig } from '../domain/read-config.ts';
import { ruleProblems } from '../domain/rule-problems.ts';
import { sampleStream } from '../domain/sample-stream.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { unsupportedOf } from '../domain/unsupported-features.ts';
import { withoutCredentials } from '../domain/without-credentials.ts';
import type { OwnProfile } from '../profiles/profiles.ts';
import { Easynews } from '../providers/easynews.ts';
import { ProviderError } from '../providers/provider.ts';
import { explainStream } from '../aggregate/sort-explanation.ts';
import type { RouteParts } from '../stremio-api/route-dependencies.ts';
import { catalogsOf } from '../stremio-api/search.ts';
import { withoutNotes } from '../stremio-api/users.ts';

const passwordLength = 32;
const mostPreviewed = 200;

/** Labels of the resources of an addon. */
const resourceWords: Readonly<Record<string, string>> = {
  stream: 'streams',
  meta: 'descriptions',
  addon_catalog: 'lists of addons',
};

/** Builds the handlers of our own API, which the page uses to manage configurations. */
export function addonsHandlers(parts: RouteParts): readonly ApiHandler[] {
  const { activity, context, settings, profiles, aggregator, pool, upstream } = parts;
  const checked = async (config: unknown, publicOnly: boolean, uuid?: string): Promise<AddonConfig> => {
    const read = await withParent(readConfig(withoutNotes(config)), uuid);
    await aggregator.verify({ config: read, uuid, marks: [], publicOnly });
    return read;
  };
  /** Returns true when the caller may read credentials: the owner of the configuration and administrators. */
  const maySeeKeys = async (identity: Identity | undefined, uuid: string): Promise<boolean> =>
    isAdministrator(identity) ||
    (identity !== undefined && identity.limited !== true && identity.account === (await profiles.ownerOf(uuid)));
  /** Adds the password of the parent configuration if it is managed on the page. */
  const withParent = async (config: AddonConfig, uuid: string | undefined): Promise<AddonConfig> => {
    const { parentConfig } = config;
    if (parentConfig === null || parentConfig === undefined) return config;
    if (parentConfig.uuid === uuid)
      throw new Problem('addons.invalid_config', 400, 'A configuration cannot inherit from itself.');
    try {
      return { ...config, parentConfig: { ...parentConfig, password: await profiles.keptPassword(parentConfig.uuid) } };
    } catch (error) {
      if (error instanceof Problem && parentConfig.password !== '') return config;
      throw error;
    }
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
          kept.map(async ({ uuid, password, updatedAt }) => shown(await profiles.own(uuid, password), updatedAt)),
        ),
      };
    }),
    implement(addonsApi.profile, async ({ params: { uuid = '' }, query, identity }) => {
      const password = await profiles.keptPassword(uuid);
      const { own } = await profiles.own(uuid, password);
      const notes = await profiles.open(uuid, password).then(
        ({ config }) => unsupportedOf(config),
        (error: unknown) => {
          // The configuration is returned as well, because it can only be fixed on this page.
          if (error instanceof Problem && error.code === 'addons.parent_gone')
            return [error.detail, ...unsupportedOf(own)];
          throw error;
        },
      );
      const hidden = query.without === 'keys' || !(await maySeeKeys(identity, uuid));
      return { config: hidden ? withoutCredentials(own) : own, notes: [...notes] };
    }),
    implement(addonsApi.create, async ({ body, identity }) => {
      const { uuid: _uuid, ...config } = body.config;
      const publicOnly = !isAdministrator(identity);
      const made = await profiles.create(await checked(config, publicOnly), context.random.text(passwordLength), {
        keep: true,
        publicOnly,
        ...(identity === undefined ? {} : { owner: identity.account }),
      });
      return shown(made, context.clock.now());
    }),
    implement(addonsApi.save, async ({ params: { uuid = '' }, query, body, identity }) => {
      const password = await profiles.keptPassword(uuid);
      const { own: before } = await profiles.own(uuid, password);
      const publicOnly = !isAdministrator(identity);
      // Callers without access to the credentials do not change them.
      const isMerged = query.merge === 'yes' || !(await maySeeKeys(identity, uuid));
      const config = await checked(isMerged ? mergeConfig(before, body.config) : body.config, publicOnly, uuid);
      return shown(await profiles.save(uuid, password, config, { publicOnly }), context.clock.now());
    }),
    implement(addonsApi.remove, async ({ params: { uuid = '' } }) => {
      await profiles.keptPassword(uuid);
      await profiles.remove(uuid);
      return {};
    }),
    implement(addonsApi.kinds, () => ({
      kinds: presetKinds.map(({ id, name, description }) => ({
        id,
        name,
        description,
        needsAddress: id === 'custom',
        alsoCalled: [...otherNamesOf(id)],
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
    implement(addonsApi.check, async ({ body, identity }): Promise<AddonCheck> => {
      const config = readConfig({
        presets: [body.preset],
        formatter: { id: 'torrentio' },
        sortCriteria: { global: [] },
      });
      const publicOnly = !isAdministrator(identity);
      const { addons, problems } = aggregator.configured({ config, uuid: undefined, marks: [], publicOnly });
      const [addon] = addons;
      if (addon === undefined) return { works: false, sentence: problems[0]?.sentence ?? 'It is switched off.' };
      const told = await upstream.manifest(addon, { fresh: true, timeoutMs: 10_000 });
      if ('failure' in told) return { works: false, sentence: told.failure.message };
      const { resources, catalogs } = told.value;
      const has = resources
        .map(({ name }) => findOwn(resourceWords, name) ?? name)
        .filter((name) => name !== 'catalog');
      const lists =
        catalogs.length === 0 ? [] : [`${String(catalogs.length)} ${catalogs.length === 1 ? 'catalog' : 'catalogs'}`];
      return {
        works: true,
        sentence: `It works, and offers ${[...new Set(has), ...lists].join(', ') || 'nothing yet'}.`,
      };
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
    implement(addonsApi.preview, async ({ body, identity }) => {
      const config = readConfig(body.config);
      const baseUrl = settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
      const asker: Asker = {
        config,
        baseUrl,
        uuid: undefined,
        marks: [],
        revision: 'preview',
        configureUrl: `${baseUrl}/stremio/configure`,
        withData: false,
        trusted: true,
        proxy: (result) => result,
        publicOnly: !isAdministrator(identity),
      };
      const found = await aggregator.search(asker, { resource: 'stream', type: body.type, id: body.id, extra: {} });
      const output = {
        config,
        addonId: settings.addonId,
        addonName: config.addonName || settings.addonName,
        withData: false,
        formatter: aggregator.formatterFor(config),
        context: found.formatContext,
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
    implement(addonsApi.catalogs, async ({ body, identity }) => {
      const baseUrl = settings.baseUrl || context.address('addons') || 'http://127.0.0.1';
      const config = readConfig(body.config);
      const catalogs = await catalogsOf(parts, {
        config,
        uuid: undefined,
        marks: [],
        baseUrl,
        publicOnly: !isAdministrator(identity),
      });
      return {
        catalogs: catalogs.map(({ id, type, name, addonName }) => ({ id, type, name: name ?? id, addon: addonName })),
      };
    }),
    implement(addonsApi.format, ({ body: { id, name, description } }) => {
      const formatter = formatterOf({ id, definitions: { custom: { name, description } } });
      const values = { stream: sampleStream, addonName: settings.addonName };
      return { name: formatter.name(values), description: formatter.description(values) };
    }),
    implement(addonsApi.rules, ({ body }) => ({ problems: [...ruleProblems(readConfig(body.config))] })),
    implement(addonsApi.providers, () => ({
      providers: pool.health.list().map((one) => ({
        id: one.id,
        name: debridService(one.id)?.name ?? one.id,
        requests: one.requests,
        failures: one.failures,
        responseMs: one.responseMs ?? null,
        successRate: one.successRate ?? null,
        lastError: one.lastError ?? null,
        lastErrorAt: one.lastErrorAt ?? null,
        disabledUntil: one.disabledUntil ?? null,
      })),
    })),
  ];

  function shown({ uuid, encryptedPassword, own }: OwnProfile, updatedAt: number): AddonProfile {
    const kindName = (type: string): string => presetKind(type)?.name ?? type;
    return {
      uuid,
      name: own.addonName || settings.addonName,
      addons: own.presets.filter(({ enabled }) => enabled).map(({ type, options }) => options.name || kindName(type)),
      services: (own.services ?? [])
        .filter(({ enabled }) => enabled !== false)
        .map(({ id }) => debridService(id)?.name ?? id),
      installPath: `/stremio/${uuid}/${encryptedPassword}/manifest.json`,
      updatedAt,
      asked: activity.of(uuid),
    };
  }
}

function isAdministrator(identity: Identity | undefined): boolean {
  return identity?.role === 'admin' && identity.limited !== true;
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
