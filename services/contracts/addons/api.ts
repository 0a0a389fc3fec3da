import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead, mayWrite } from '../route-access.ts';

/**
 * A configuration of the aggregator, in the peer's shape: `presets`, `services`, `formatter`, `sortCriteria`, filters. The
 * service itself reads it; members it does not know survive.
 */
const AddonConfiguration = z.record(z.string(), z.unknown()).meta({ id: 'AddonConfiguration' });

/** A configuration that the page looks after, as it is listed. */
export const AddonProfile = z
  .object({
    uuid: z.string(),
    name: z.string(),
    /** Names of the addons that are switched on. */
    addons: z.array(z.string()),
    /** Names of the services that are switched on. */
    services: z.array(z.string()),
    /** Below the service's own address; it is the credential at once. */
    installPath: z.string(),
    updatedAt: z.number().describe('ms since the epoch'),
    /** By players, since the service was started; counted in the last day. */
    asked: z.object({
      lists: z.int().describe('Lists of streams.'),
      lastAt: z.number().nullable(),
      players: z.array(z.object({ userAgent: z.string(), at: z.number() })).describe('The latest first.'),
    }),
  })
  .meta({ id: 'AddonProfile' });
export type AddonProfile = z.infer<typeof AddonProfile>;

const Kind = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** It needs an address. */
  needsAddress: z.boolean(),
  /** What configurations from elsewhere call it. */
  alsoCalled: z.array(z.string()),
});
const ServiceKind = z.object({
  id: z.string(),
  name: z.string(),
  /** Where its credentials are found. */
  help: z.string(),
  credentials: z.array(z.object({ id: z.string(), name: z.string(), secret: z.boolean() })),
});
/** What a configuration can be made of. */
export const AddonKinds = z.object({
  kinds: z.array(Kind),
  services: z.array(ServiceKind),
  formats: z.array(z.string()),
  /** Where players reach the service, where the settings say so. */
  publicUrl: z.string().nullable(),
});
export type AddonKinds = z.infer<typeof AddonKinds>;

/** What came of asking an addon for its manifest. */
export const AddonCheck = z.object({
  works: z.boolean(),
  /** Why not, or what it has. */
  sentence: z.string(),
});
export type AddonCheck = z.infer<typeof AddonCheck>;

const PreviewStream = z.object({
  name: z.string(),
  description: z.string(),
  addon: z.string(),
  /** Why it stands where it does, or why it is hidden. */
  why: z.string(),
});
/** What players would show for a title. */
export const AddonPreview = z.object({
  shown: z.array(PreviewStream),
  hidden: z.array(PreviewStream),
  errors: z.array(z.object({ title: z.string(), sentence: z.string() })),
});
export type AddonPreview = z.infer<typeof AddonPreview>;

/** A catalog as its addon has it. */
export const AddonCatalog = z.object({
  /** With its addon's id before its own. */
  id: z.string(),
  type: z.string(),
  name: z.string(),
  /** The addon's name. */
  addon: z.string(),
});
export type AddonCatalog = z.infer<typeof AddonCatalog>;

/** How a debrid service has been doing. */
export const ProviderHealthView = z.object({
  id: z.string(),
  name: z.string(),
  requests: z.int(),
  failures: z.int(),
  /** Moving average, ms. */
  responseMs: z.number().nullable(),
  /** Moving average, 0 to 1. */
  successRate: z.number().nullable(),
  lastError: z.string().nullable(),
  lastErrorAt: z.number().nullable(),
  /** It is not asked before, ms since the epoch. */
  disabledUntil: z.number().nullable(),
});
export type ProviderHealthView = z.infer<typeof ProviderHealthView>;

/** What the service has been doing since it was started; where it counts, in the last day. */
export const AddonOverview = z.object({
  configurations: z.int(),
  since: z.number().describe('When the service was started, and counting began; ms since the epoch'),
  /** Lists of streams that players asked for in the last day. */
  lists: z.int(),
  hours: z.array(z.object({ from: z.number(), lists: z.int() })).describe('Those lists by the hour, this one last.'),
  lastListAt: z.number().nullable(),
  plays: z.int(),
  lastPlayAt: z.number().nullable(),
  /** What each addon said when a player asked for streams last, the latest first. */
  addons: z.array(
    z.object({
      name: z.string(),
      /** Why it could not be asked; null where it answered. */
      trouble: z.string().nullable(),
      streams: z.int(),
      /** Null where its answer took no time, since it was still known, and where there was none. */
      ms: z.number().nullable(),
      at: z.number().describe('ms since the epoch'),
    }),
  ),
});
export type AddonOverview = z.infer<typeof AddonOverview>;

/** What is wrong with one rule of a configuration. */
const RuleProblem = z.object({
  /** Where it stands, such as `excludedStreamExpressions.0`, `groups.1` or `variants.0`. */
  at: z.string(),
  sentence: z.string(),
});

const WithConfig = z.object({ config: AddonConfiguration });

export const addonsApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/addons/overview',
    summary: 'What the aggregator has been doing since it was started, and how the addons answered.',
    access: mayRead('addons'),
    reply: AddonOverview,
  }),
  profiles: defineRoute({
    method: 'GET',
    path: '/api/addons/profiles',
    summary: 'Configurations of the addon aggregator, with their install paths.',
    access: mayWrite('addons'),
    reply: z.object({ profiles: z.array(AddonProfile) }),
  }),
  profile: defineRoute({
    method: 'GET',
    path: '/api/addons/profiles/:uuid',
    summary: 'One configuration, with its credentials.',
    access: mayWrite('addons'),
    query: z.object({ without: z.enum(['keys']).optional().describe('What opens accounts is left out.') }),
    reply: WithConfig.extend({ notes: z.array(z.string()).describe('What of it has no effect, in sentences.') }),
  }),
  create: defineRoute({
    method: 'POST',
    path: '/api/addons/profiles',
    summary:
      'Makes a configuration. Its password is made here and kept in the vault; one that inherits from another that the page looks after need not know its password.',
    access: mayWrite('addons'),
    body: WithConfig,
    reply: AddonProfile,
  }),
  save: defineRoute({
    method: 'PUT',
    path: '/api/addons/profiles/:uuid',
    summary: 'Replaces a configuration, or merges into it; what is installed goes on working.',
    access: mayWrite('addons'),
    query: z.object({ merge: z.enum(['yes']).optional().describe('Members that are not there stay.') }),
    body: WithConfig,
    reply: AddonProfile,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/addons/profiles/:uuid',
    summary: 'Removes a configuration; where it is installed it stops working.',
    access: mayWrite('addons'),
    reply: z.object({}),
  }),
  kinds: defineRoute({
    method: 'GET',
    path: '/api/addons/kinds',
    summary: 'Kinds of addons, debrid services and formats.',
    access: mayRead('addons'),
    reply: AddonKinds,
  }),
  check: defineRoute({
    method: 'POST',
    path: '/api/addons/check',
    summary: 'Asks an addon for its manifest.',
    access: mayWrite('addons'),
    body: z.object({ preset: z.record(z.string(), z.unknown()) }),
    reply: AddonCheck,
  }),
  testService: defineRoute({
    method: 'POST',
    path: '/api/addons/services/test',
    summary: 'Asks a debrid service whose account the credentials are.',
    access: mayWrite('addons'),
    body: z.object({ id: z.string().max(40), credentials: z.record(z.string().max(60), z.string().max(4096)) }),
    reply: AddonCheck,
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/addons/preview',
    summary: 'What a configuration, saved or not, makes of a title, and why.',
    access: mayWrite('addons'),
    body: WithConfig.extend({ type: z.string().max(60), id: z.string().max(200) }),
    reply: AddonPreview,
  }),
  catalogs: defineRoute({
    method: 'POST',
    path: '/api/addons/catalogs',
    summary: 'The catalogs that the addons of a configuration have, saved or not.',
    access: mayWrite('addons'),
    body: WithConfig,
    reply: z.object({ catalogs: z.array(AddonCatalog) }),
  }),
  rules: defineRoute({
    method: 'POST',
    path: '/api/addons/rules',
    summary: 'What is wrong with the expressions, conditions and variants of a configuration, saved or not.',
    access: mayWrite('addons'),
    body: WithConfig,
    reply: z.object({ problems: z.array(RuleProblem) }),
  }),
  format: defineRoute({
    method: 'POST',
    path: '/api/addons/format',
    summary: 'What a format makes of a stream that has everything.',
    access: mayRead('addons'),
    body: z.object({ id: z.string().max(60), name: z.string().max(5000), description: z.string().max(5000) }),
    reply: z.object({ name: z.string(), description: z.string() }),
  }),
  providers: defineRoute({
    method: 'GET',
    path: '/api/addons/providers',
    summary: 'How the debrid services have been doing.',
    access: mayRead('addons'),
    reply: z.object({ providers: z.array(ProviderHealthView) }),
  }),
};
