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
      lists: z.int().describe('Number of requested stream lists.'),
      lastAt: z.number().nullable(),
      players: z.array(z.object({ userAgent: z.string(), at: z.number() })).describe('Newest first.'),
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
      index: z.int().describe('Position in UTF-16 code units from the start of the template.'),
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
  since: z.number().describe('Time when the service started and began counting, in ms since the epoch.'),
  /** Stream lists that players requested in the last day. */
  lists: z.int(),
  hours: z
    .array(z.object({ from: z.number(), lists: z.int() }))
    .describe('Stream lists per hour; the current hour is last.'),
  previousHours: z
    .array(z.int().nullable())
    .describe('Stream lists in the same hours of the previous day; null for hours before the service started.'),
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
    .describe('A configuration, a template, or a list of templates, of which the first one is used.'),
});

const importQuery = z
  .enum(['yes'])
  .optional()
  .describe(
    'The configuration comes from a file: addons that cannot be used are listed in its notes instead of ' +
      'causing an error.',
  );

/** Routes of the addons page. */
export const addonsApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/addons/overview',
    summary: "Returns the service's activity since it started, and the result of the latest request to each addon.",
    access: mayRead('addons'),
    reply: AddonOverview,
  }),
  profiles: defineRoute({
    method: 'GET',
    path: '/api/addons/profiles',
    summary: 'Lists the addon configurations with their install paths.',
    access: mayWrite('addons'),
    reply: z.object({ profiles: z.array(AddonProfile) }),
  }),
  profile: defineRoute({
    method: 'GET',
    path: '/api/addons/profiles/:uuid',
    summary: 'Returns a configuration with its credentials.',
    access: mayWrite('addons'),
    query: z.object({ without: z.enum(['keys']).optional().describe('Omits credentials.') }),
    reply: WithConfig.extend({
      notes: z.array(z.string()).describe('Sentences about the parts of the configuration that have no effect.'),
    }),
  }),
  create: defineRoute({
    method: 'POST',
    path: '/api/addons/profiles',
    summary:
      'Creates a configuration. Its password is generated and stored in the vault. A configuration that ' +
      "inherits from another one managed on the page does not need the other one's password.",
    access: mayWrite('addons'),
    query: z.object({ import: importQuery }),
    body: WithImport,
    reply: AddonProfile,
  }),
  importAddress: defineRoute({
    method: 'POST',
    path: '/api/addons/profiles/import',
    summary: 'Creates a configuration from an address: an installed configuration, a file, or an addon manifest.',
    access: mayWrite('addons'),
    body: z.object({
      address: z.string().min(1).max(4096),
      password: z.string().max(1000).default('').describe('Password of the installed configuration.'),
    }),
    reply: AddonProfile,
  }),
  save: defineRoute({
    method: 'PUT',
    path: '/api/addons/profiles/:uuid',
    summary: 'Replaces a configuration, or merges fields into it. Installed copies keep working.',
    access: mayWrite('addons'),
    query: z.object({
      merge: z.enum(['yes']).optional().describe('Keeps fields that the request does not contain.'),
      import: importQuery,
    }),
    body: WithImport,
    reply: AddonProfile,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/addons/profiles/:uuid',
    summary: 'Deletes a configuration. Installed copies stop working.',
    access: mayWrite('addons'),
    reply: z.object({}),
  }),
  kinds: defineRoute({
    method: 'GET',
    path: '/api/addons/kinds',
    summary: 'Lists the supported addon types, debrid services and formats.',
    access: mayRead('addons'),
    reply: AddonKinds,
  }),
  check: defineRoute({
    method: 'POST',
    path: '/api/addons/check',
    summary: 'Requests the manifest of an addon.',
    access: mayWrite('addons'),
    body: z.object({ preset: z.record(z.string(), z.unknown()) }),
    reply: AddonCheck,
  }),
  testService: defineRoute({
    method: 'POST',
    path: '/api/addons/services/test',
    summary: 'Checks credentials with a debrid service, and returns the account they belong to.',
    access: mayWrite('addons'),
    body: z.object({ id: z.string().max(40), credentials: z.record(z.string().max(60), z.string().max(4096)) }),
    reply: AddonCheck,
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/addons/preview',
    summary: 'Previews the streams that a saved or unsaved configuration lists for a title, and explains the result.',
    access: mayWrite('addons'),
    body: WithConfig.extend({ type: z.string().max(60), id: z.string().max(200) }),
    reply: AddonPreview,
  }),
  catalogs: defineRoute({
    method: 'POST',
    path: '/api/addons/catalogs',
    summary: 'Lists the catalogs provided by the addons of a saved or unsaved configuration.',
    access: mayWrite('addons'),
    body: WithConfig,
    reply: z.object({ catalogs: z.array(AddonCatalog) }),
  }),
  rules: defineRoute({
    method: 'POST',
    path: '/api/addons/rules',
    summary: 'Checks the expressions, conditions and variants of a saved or unsaved configuration.',
    access: mayWrite('addons'),
    body: WithConfig,
    reply: z.object({ problems: z.array(RuleProblem) }),
  }),
  format: defineRoute({
    method: 'POST',
    path: '/api/addons/format',
    summary: 'Formats sample streams, and reports the parts of the templates that could not be parsed.',
    access: mayRead('addons'),
    body: z.object({ id: z.string().max(60), name: FormatTemplate, description: FormatTemplate }),
    reply: FormatPreview,
  }),
  formats: defineRoute({
    method: 'GET',
    path: '/api/addons/formats',
    summary: 'Returns the templates of all formats, as a starting point for custom ones.',
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
    summary: 'Returns the recent availability of the debrid services, and when the plans of their accounts end.',
    access: mayRead('addons'),
    reply: z.object({
      providers: z.array(ProviderHealthView),
      plans: z.array(DebridPlan).describe('Ordered by end date, earliest first.'),
    }),
  }),
};
