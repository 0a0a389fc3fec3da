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
    description: 'Only these of what it has.',
    type: 'multi-select',
    options: toChoices(['stream', 'subtitles', 'catalog', 'meta', 'addon_catalog']),
  },
  {
    id: 'mediaTypes',
    name: 'Media types',
    description: 'Streams only for these.',
    type: 'multi-select',
    options: toChoices(['movie', 'series', 'anime']),
  },
  {
    id: 'pinPosition',
    name: 'Place',
    description: 'Of its streams among the others.',
    type: 'select',
    options: toChoices(['top', 'bottom']),
  },
  { id: 'libraryAddon', name: 'Library', description: 'Its streams count as in the library.', type: 'boolean' },
  { id: 'formatPassthrough', name: 'Own texts', description: 'Its own texts stay.', type: 'boolean' },
  { id: 'resultPassthrough', name: 'Unfiltered', description: 'Its streams pass all filters.', type: 'boolean' },
].map((option) => ({ ...option, required: false }));

function buildPresetOptions(kind: string, timeout: number): readonly Readonly<Record<string, unknown>>[] {
  const isCustom = kind === 'custom';
  const address = isCustom
    ? { id: 'manifestUrl', name: 'Manifest URL', description: 'The address of its manifest.' }
    : { id: 'url', name: 'Address', description: 'Of another instance.' };
  return [
    { id: 'name', name: 'Name', description: 'What to call this addon', type: 'string', required: isCustom },
    { ...address, type: 'url', required: isCustom },
    {
      id: 'timeout',
      name: 'Timeout (ms)',
      description: 'How long it is waited for.',
      type: 'number',
      default: timeout,
      constraints: { min: 1000, max: 50_000 },
    },
    ...commonOptions,
  ];
}
