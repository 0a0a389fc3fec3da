import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead, mayWrite } from '../route-access.ts';

/**
 * Configuration of the aggregator in the peer's format: `presets`, `services`, `formatter`, `sortCriteria` and
 * filters. The service parses it; unknown fields are preserved.
 */
const AddonConfiguration = z.record(z.string(), z.unknown()).meta({ id: 'AddonConfiguration' });

/** List entry of a configuration that is managed on the pages. */
export const AddonProfile = z
  .object({
    uuid: z.string(),
    name: z.string(),
    /** Names of the enabled addons. */
    addons: z.array(z.string()),
    /** Names of the enabled services. */
    services: z.array(z.string()),
    /** Path below the service's own address. It is a credential as well. */
    installPath: z.string(),
    updatedAt: z.number().describe('ms since the epoch'),
    /** Requests by players since the start of the service, and within the last day. */
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
  needsAddress: z.boolean(),
  /** Names of this addon in configurations of other programs. */
  alsoCalled: z.array(z.string()),
});
const ServiceKind = z.object({
  id: z.string(),
  name: z.string(),
  /** Address of the page on which the credentials can be found. */
  help: z.string(),
  credentials: z.array(z.object({ id: z.string(), name: z.string(), secret: z.boolean() })),
});
const FormatTemplate = z.string().max(20_000);
/** Sample streams in a format, with the parts of its templates that have no effect. */
export const FormatPreview = z.object({
  name: z.string(),
  description: z.string(),
  samples: z.array(
    z.object({
      kind: z.enum(['film', 'episode', 'torrent', 'message']),
      name: z.string(),
      description: z.string(),
    }),
  ),
  problems: z.array(
    z.object({
      part: z.enum(['name', 'description']),
      index: z.int().describe('In UTF-16 code units from the start of the template.'),
      length: z.int(),
      code: z.enum(['expression', 'field', 'modifier']),
      text: z.string(),
    }),
  ),
});
export type FormatPreview = z.infer<typeof FormatPreview>;

/** Addons, services and other building blocks of a configuration. */
export const AddonKinds = z.object({
  kinds: z.array(Kind),
  services: z.array(ServiceKind),
  formats: z.array(z.string()),
  /** Address at which players reach the service; null unless the settings define it. */
  publicUrl: z.string().nullable(),
});
export type AddonKinds = z.infer<typeof AddonKinds>;

/** Result of a request for an addon's manifest. */
export const AddonCheck = z.object({
  works: z.boolean(),
  /** Contents of the manifest, or the reason for the failure. */
  sentence: z.string(),
});
export type AddonCheck = z.infer<typeof AddonCheck>;

const PreviewStream = z.object({
  name: z.string(),
  description: z.string(),
  addon: z.string(),
  /** Reason for the position of the stream, or for hiding it. */
  why: z.string(),
});
/** Streams that players would show for a title. */
export const AddonPreview = z.object({
  shown: z.array(PreviewStream),
  hidden: z.array(PreviewStream),
  errors: z.array(z.object({ title: z.string(), sentence: z.string() })),
});
export type AddonPreview = z.infer<typeof AddonPreview>;

/** Catalog as its addon describes it. */
export const AddonCatalog = z.object({
  /** Id of the addon followed by the catalog's own id. */
  id: z.string(),
  type: z.string(),
  name: z.string(),
  addon: z.string(),
});
export type AddonCatalog = z.infer<typeof AddonCatalog>;

/** Response time, success rate and back-off state of a debrid service. */
export const ProviderHealthView = z.object({
  id: z.string(),
  name: z.string(),
  requests: z.int(),
  failures: z.int(),
  /** Moving average in ms. */
  responseMs: z.number().nullable(),
  /** Moving average, 0 to 1. */
  successRate: z.number().nullable(),
  lastError: z.string().nullable(),
  lastErrorAt: z.number().nullable(),
  /** End of the back-off, ms since the epoch. */
  disabledUntil: z.number().nullable(),
});
export type ProviderHealthView = z.infer<typeof ProviderHealthView>;

/** Plan of an account at a debrid service, which is read once a day. */
export const DebridPlan = z.object({
  /** Name of the service. */
  name: z.string(),
  plan: z.enum(['premium', 'trial', 'expired']),
  /** End of the plan, ms since the epoch; null when the service reports none. */
  endsAt: z.number().nullable(),
});
export type DebridPlan = z.infer<typeof DebridPlan>;

/** Activity of the service since its start; counters cover the last day. */
export const AddonOverview = z.object({
  configurations: z.int(),
  since: z.number().describe('When the service was started, and counting began; ms since the epoch'),
  /** Stream lists that players requested in the last day. */
  lists: z.int(),
  hours: z.array(z.object({ from: z.number(), lists: z.int() })).describe('Those lists by the hour, this one last.'),
  previousHours: z
    .array(z.int().nullable())
    .describe('Lists of the same hours a day earlier; null before the service was started.'),
  lastListAt: z.number().nullable(),
  plays: z.int(),
  lastPlayAt: z.number().nullable(),
  /** Result of the latest stream request to each addon, newest first. */
  addons: z.array(
    z.object({
      name: z.string(),
      /** Reason for the failure; null after a success. */
      error: z.string().nullable(),
      streams: z.int(),
      /** Null when the answer came from the cache or there was none. */
      ms: z.number().nullable(),
      at: z.number().describe('ms since the epoch'),
    }),
  ),
});
export type AddonOverview = z.infer<typeof AddonOverview>;

/** Error in one rule of a configuration. */
const RuleProblem = z.object({
  /** Path of the rule, such as `excludedStreamExpressions.0`, `groups.1` or `variants.0`. */
  at: z.string(),
  sentence: z.string(),
});

const WithConfig = z.object({ config: AddonConfiguration });

const WithImport = z.object({
  config: z
    .union([AddonConfiguration, z.array(AddonConfiguration).min(1).max(100)])
    .describe('A configuration, a template, or a list of templates, of which the first is used.'),
});

const importQuery = z
  .enum(['yes'])
  .optional()
  .describe('The configuration comes from a file: addons that cannot be used are listed in its notes, not refused.');

/** Routes of the addons page. */
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
      'Makes a configuration. Its password is made here and kept in the vault; one that inherits from another ' +
      'that the page looks after need not know its password.',
    access: mayWrite('addons'),
    query: z.object({ import: importQuery }),
    body: WithImport,
    reply: AddonProfile,
  }),
  importAddress: defineRoute({
    method: 'POST',
    path: '/api/addons/profiles/import',
    summary:
      'Creates a configuration from an address: an installed configuration, a file, or the manifest of an addon.',
    access: mayWrite('addons'),
    body: z.object({
      address: z.string().min(1).max(4096),
      password: z.string().max(1000).default('').describe('Password of an installed configuration.'),
    }),
    reply: AddonProfile,
  }),
  save: defineRoute({
    method: 'PUT',
    path: '/api/addons/profiles/:uuid',
    summary: 'Replaces a configuration, or merges into it; what is installed goes on working.',
    access: mayWrite('addons'),
    query: z.object({
      merge: z.enum(['yes']).optional().describe('Members that are not there stay.'),
      import: importQuery,
    }),
    body: WithImport,
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
    summary: 'Texts of sample streams in a format, and the parts of its templates that could not be read.',
    access: mayRead('addons'),
    body: z.object({ id: z.string().max(60), name: FormatTemplate, description: FormatTemplate }),
    reply: FormatPreview,
  }),
  formats: defineRoute({
    method: 'GET',
    path: '/api/addons/formats',
    summary: 'Templates of all formats, as a start for own texts.',
    access: mayRead('addons'),
    reply: z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), description: z.string() })) }),
  }),
  readFormat: defineRoute({
    method: 'POST',
    path: '/api/addons/formats/read',
    summary: 'Reads a shared format from JSON, or from the JSON at an address.',
    access: mayWrite('addons'),
    body: z.object({ text: z.string().max(200_000).default(''), address: z.string().max(2000).default('') }),
    reply: z.object({ name: z.string(), description: z.string() }),
  }),
  providers: defineRoute({
    method: 'GET',
    path: '/api/addons/providers',
    summary: 'How the debrid services have been doing, and when the plans of their accounts end.',
    access: mayRead('addons'),
    reply: z.object({
      providers: z.array(ProviderHealthView),
      plans: z.array(DebridPlan).describe('Those that end first come first.'),
    }),
  }),
};
