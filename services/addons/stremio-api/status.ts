import { readText } from '../../contracts/text.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxExpressions } from '../domain/config-expressions.ts';
import { maxScriptLength, maxVariants } from '../domain/config-variants.ts';
import { debridServices } from '../domain/debrid-services.ts';
import { presetKinds } from '../domain/presets.ts';
import { addonVersion } from '../version.ts';
import type { RouteDependencies } from './route-dependencies.ts';
import { sendEnvelope } from './response.ts';

const noProxy = {
  enabled: null,
  id: null,
  url: null,
  publicUrl: null,
  publicIp: null,
  credentials: null,
  proxiedServices: null,
};

/** Answers `/api/v1/status` with the capabilities of the service, for tools and pages of the peer. */
export async function handleStatus(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { settings, profiles } = dependencies;
  const { requestContexts } = dependencies.catalog;
  const level = ['none', 'trusted', 'all'].includes(settings.regexFilterAccess)
    ? settings.regexFilterAccess
    : 'trusted';
  await sendEnvelope(request, response, {
    status: 200,
    data: {
      version: addonVersion,
      tag: `v${addonVersion}`,
      channel: 'stable',
      commit: '',
      buildTime: '',
      commitTime: '',
      users: await profiles.count(),
      settings: {
        baseUrl: requestContexts.getBaseUrl(request),
        addonName: settings.addonName,
        alternateDesign: false,
        protected: settings.addonPassword !== '',
        oidc: { enabled: false, buttonLabel: '', autoRedirect: false, localLoginEnabled: true },
        tmdbApiAvailable: false,
        regexAccess: { level, patterns: [], urls: [] },
        // Expressions are not loaded from addresses.
        selSyncAccess: { level: 'none', trustedUrls: [] },
        variants: { access: 'all', max: maxVariants, maxScriptLength },
        loggingSensitiveInfo: settings.logSensitiveInfo,
        searchApiDisabled: false,
        nabApiDisabled: true,
        seanimeExtensionVersion: null,
        analyticsEnabled: false,
        userAnalyticsEnabled: false,
        forced: { proxy: { ...noProxy, disableProxiedAddons: false } },
        defaults: { proxy: noProxy, timeout: settings.timeout },
        presets: buildPresets(settings.timeout),
        services: buildServices(),
        limits: { maxAddons: settings.maxAddons, maxStreamExpressions: maxExpressions },
      },
    },
  });
}

function buildServices(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    debridServices.map(({ id, name, shortName, knownNames, help, credentials }) => [
      id,
      {
        id,
        name,
        shortName,
        knownNames,
        signUpText: help,
        credentials: credentials.map((field) => ({
          ...field,
          name: readText(field.name),
          description: help,
          default: null,
          forced: null,
        })),
      },
    ]),
  );
}

function buildPresets(timeout: number): readonly Readonly<Record<string, unknown>>[] {
  return presetKinds.map(({ id, name, description, resources, builtIn, category }) => ({
    ID: id,
    NAME: name,
    LOGO: '',
    DESCRIPTION: readText(description),
    SUPPORTED_RESOURCES: resources,
    SUPPORTED_STREAM_TYPES: [],
    SUPPORTED_SERVICES: [],
    OPTIONS: buildPresetOptions(id, timeout),
    BUILTIN: builtIn === true,
    CATEGORY: category,
  }));
}

const toChoices = (values: readonly string[]) => values.map((value) => ({ label: value, value }));
/** Options that every addon has, with the names of the peer. */
const commonOptions: readonly Readonly<Record<string, unknown>>[] = [
  {
    id: 'resources',
    name: 'Resources',
    description: 'Resources to request from this addon.',
    type: 'multi-select',
    options: toChoices(['stream', 'subtitles', 'catalog', 'meta', 'addon_catalog']),
  },
  {
    id: 'mediaTypes',
    name: 'Media types',
    description: 'Media types for which streams are requested.',
    type: 'multi-select',
    options: toChoices(['movie', 'series', 'anime']),
  },
  {
    id: 'pinPosition',
    name: 'Position',
    description: 'Position of its streams in the list.',
    type: 'select',
    options: toChoices(['top', 'bottom']),
  },
  { id: 'libraryAddon', name: 'Library', description: 'Treats its streams as library streams.', type: 'boolean' },
  {
    id: 'formatPassthrough',
    name: 'Original texts',
    description: 'Keeps the texts of its streams unchanged.',
    type: 'boolean',
  },
  {
    id: 'resultPassthrough',
    name: 'Unfiltered',
    description: 'Excludes its streams from all filters.',
    type: 'boolean',
  },
].map((option) => ({ ...option, required: false }));

function buildPresetOptions(kind: string, timeout: number): readonly Readonly<Record<string, unknown>>[] {
  const isCustom = kind === 'custom';
  const address = isCustom
    ? { id: 'manifestUrl', name: 'Manifest URL', description: 'URL of the addon’s manifest.' }
    : { id: 'url', name: 'Address', description: 'URL of another instance of the addon.' };
  return [
    { id: 'name', name: 'Name', description: 'Name of this addon.', type: 'string', required: isCustom },
    { ...address, type: 'url', required: isCustom },
    {
      id: 'timeout',
      name: 'Timeout (ms)',
      description: 'Maximum time to wait for a response.',
      type: 'number',
      default: timeout,
      constraints: { min: 1000, max: 50_000 },
    },
    ...commonOptions,
  ];
}
