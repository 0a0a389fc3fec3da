import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { mayRead, mayWrite } from '../route-access.ts';
import { BeatStatus, MonitorConfig } from './monitor.ts';

/** One result of a check; names and the form of `time` are the peer's. */
export const Beat = z
  .object({
    monitorID: z.int(),
    status: BeatStatus,
    /** `YYYY-MM-DD HH:MM:SS.mmm` in UTC, without a zone: what the peer's clients read. */
    time: z.string(),
    msg: z.string(),
    /** ms */
    ping: z.number().nullable(),
    important: z.boolean(),
    /** Seconds since the beat before. */
    duration: z.number(),
    retries: z.int(),
  })
  .meta({ id: 'UptimeBeat' });
export type Beat = z.infer<typeof Beat>;

/** How a monitor stands, short enough for thousands of them. */
export const MonitorState = z
  .object({
    status: BeatStatus.nullable().describe('Null: not checked yet.'),
    msg: z.string(),
    ping: z.number().nullable(),
    /** Of the last beat; ms since the epoch. */
    time: z.number().nullable(),
    /** Since when it has this status; ms since the epoch. */
    since: z.number().nullable(),
    /** 0 to 1, by time; null: nothing is known. */
    uptime24h: z.number().nullable(),
    /** Days of the certificate; null: there is none. */
    certDays: z.int().nullable(),
    degraded: z.boolean(),
    flapping: z.boolean(),
  })
  .meta({ id: 'UptimeState' });
export type MonitorState = z.infer<typeof MonitorState>;

export const MonitorRow = z
  .object({
    id: z.int(),
    name: z.string(),
    type: z.string(),
    target: z.string().describe('What is checked, without credentials.'),
    active: z.boolean(),
    parent: z.int().nullable(),
    state: MonitorState,
  })
  .meta({ id: 'UptimeMonitorRow' });
export type MonitorRow = z.infer<typeof MonitorRow>;

/** A monitor with all its fields; secrets are only named. */
export const Monitor = z
  .looseObject({ id: z.int(), ...MonitorConfig.shape, state: MonitorState, secrets: z.array(z.string()) })
  .meta({ id: 'UptimeMonitor' });
export type Monitor = z.infer<typeof Monitor>;

/** A certificate of a chain, the server's own first. */
const Certificate = z.object({
  subject: z.string(),
  issuer: z.string(),
  validFrom: z.number(),
  validTo: z.number(),
  fingerprint256: z.string(),
  kind: z.enum(['server', 'self-signed', 'intermediate CA', 'root CA']),
  names: z.array(z.string()),
});
export const CertificateChain = z.object({
  trusted: z.boolean(),
  trouble: z.string().nullable(),
  chain: z.array(Certificate),
});
export type CertificateChain = z.infer<typeof CertificateChain>;

export const ChartPoint = z.object({
  /** Seconds since the epoch. */
  timestamp: z.int(),
  up: z.int(),
  down: z.int(),
  avgPing: z.number().nullable(),
  minPing: z.number().nullable(),
  maxPing: z.number().nullable(),
  p95: z.number().nullable(),
  maintenance: z.int().optional(),
});
export type ChartPoint = z.infer<typeof ChartPoint>;

export const Incident = z
  .object({
    id: z.int(),
    monitorIds: z.array(z.int()),
    startedAt: z.number().describe('ms since the epoch'),
    resolvedAt: z.number().nullable(),
    cause: z.string(),
    acknowledgedBy: z.string().nullable(),
    acknowledgedAt: z.number().nullable(),
    notes: z.array(z.object({ at: z.number(), by: z.string(), text: z.string() })),
  })
  .meta({ id: 'UptimeIncident' });
export type Incident = z.infer<typeof Incident>;

export const DockerHost = z
  .object({ id: z.int(), name: z.string(), dockerType: z.enum(['socket', 'tcp']), dockerDaemon: z.string() })
  .meta({ id: 'UptimeDockerHost' });
export type DockerHost = z.infer<typeof DockerHost>;
export const NewDockerHost = DockerHost.omit({ id: true }).extend({
  name: z.string().trim().min(1).max(255),
  dockerDaemon: z.string().min(1).max(255),
});

export const ApiKey = z
  .object({
    id: z.int(),
    name: z.string(),
    createdAt: z.number(),
    expires: z.number().nullable().describe('ms since the epoch; null: never'),
    active: z.boolean(),
  })
  .meta({ id: 'UptimeApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** What is set while the service runs; the settings of the service are what it begins with. */
export const UptimeOptions = z
  .object({
    notifyUrl: z.string().max(2000).describe('Events are posted here in place of Delivery; empty: Delivery.'),
    notifyTag: z.string().max(500),
    tlsExpiryNotifyDays: z.array(z.int().min(0).max(3650)).min(1).max(20),
    keepDataPeriodDays: z.int().min(1).max(36_500),
    publicUrl: z.string().max(2000),
    timezone: z.string().max(100),
  })
  .meta({ id: 'UptimeOptions' });
export type UptimeOptions = z.infer<typeof UptimeOptions>;

/** Monitors changed their status, or were added, changed or removed; pages read again what they show. */
export const uptimeChanged = defineTopic(
  'uptime.changed',
  z.object({ ids: z.array(z.int()).describe('Empty: many.'), at: z.number() }),
);
/** Checks were made since the last of these; at most one in two seconds. */
export const uptimeWorked = defineTopic('uptime.worked', z.object({ at: z.number() }));

const Done = z.object({ ok: z.literal(true) });
const read = mayRead('uptime');
const write = mayWrite('uptime');
const limit = (usual: number, most: number) => z.coerce.number().int().min(1).max(most).default(usual);

/** Below `/api/uptime` of the control listener for the pages; the same below `/api` of the service's own port for programs. */
export const uptimeApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/uptime/overview',
    summary: 'All monitors and how they stand, as briefly as possible.',
    access: read,
    reply: z.object({ rows: z.array(MonitorRow), dockerHosts: z.array(DockerHost) }),
  }),
  recent: defineRoute({
    method: 'GET',
    path: '/api/uptime/recent',
    summary: 'The last beats of some monitors, oldest first: pairs of status and ping.',
    access: read,
    query: z.object({ ids: z.string().regex(/^\d{1,10}(,\d{1,10}){0,99}$/), count: limit(30, 100) }),
    reply: z.record(z.string(), z.array(z.tuple([BeatStatus, z.number().nullable(), z.number()]))),
  }),
  monitors: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors',
    summary: 'Monitors in the order of their ids; page on with `cursor`.',
    access: read,
    query: z.object({
      limit: limit(100, 1000),
      cursor: z.coerce.number().int().optional(),
      status: z.enum(['up', 'down', 'pending', 'maintenance', 'paused']).optional(),
      parent: z.coerce.number().int().optional(),
      q: z.string().optional(),
    }),
    reply: z.object({ items: z.array(Monitor), nextCursor: z.int().nullable(), total: z.int() }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors',
    summary: 'Adds a monitor; it is checked at once.',
    access: write,
    query: z.object({ strict: z.stringbool().optional() }),
    body: MonitorConfig,
    reply: Monitor,
  }),
  addMany: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/bulk',
    summary: 'Adds up to 1,000 monitors in one transaction; those that do not fit are named.',
    access: write,
    body: z.object({ items: z.array(z.record(z.string(), z.unknown())).min(1).max(1000) }),
    reply: z.object({ items: z.array(z.object({ id: z.int().optional(), error: z.string().optional() })) }),
  }),
  monitor: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id',
    summary: 'One monitor.',
    access: read,
    reply: Monitor,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/uptime/monitors/:id',
    summary: 'Changes the named fields; null empties one.',
    access: write,
    body: z.record(z.string(), z.unknown()),
    reply: Monitor,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: '/api/uptime/monitors/:id',
    summary: 'Replaces all fields; secrets that are not named stay.',
    access: write,
    body: MonitorConfig,
    reply: Monitor,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/monitors/:id',
    summary: 'Removes a monitor with its history; those of a group stay unless told otherwise.',
    access: write,
    query: z.object({ deleteChildren: z.stringbool().optional() }),
    reply: Done,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/pause',
    summary: 'Checks no more until it is resumed.',
    access: write,
    reply: Done,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/resume',
    summary: 'Checks again, at once.',
    access: write,
    reply: Done,
  }),
  check: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/check',
    summary: 'Checks now and answers with the beat.',
    access: write,
    reply: Beat,
  }),
  beats: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/beats',
    summary: 'Beats, newest first; `before` is the cursor of the page before.',
    access: read,
    query: z.object({
      limit: limit(100, 1000),
      before: z.coerce.number().int().optional(),
      important: z.stringbool().optional(),
    }),
    reply: z.object({ items: z.array(Beat), nextCursor: z.int().nullable() }),
  }),
  chart: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/chart',
    summary: 'Response times: by minutes up to a day, by hours up to 30 days, else by days; oldest first.',
    access: read,
    query: z.object({ hours: z.coerce.number().int().min(1).max(8784).default(24) }),
    reply: z.object({
      items: z.array(ChartPoint),
      usual: z.object({ median: z.number(), threshold: z.number() }).nullable(),
    }),
  }),
  facts: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/facts',
    summary: 'Its uptime over time and its certificate.',
    access: read,
    reply: z.object({
      uptime: z.object({
        day: z.number().nullable(),
        week: z.number().nullable(),
        month: z.number().nullable(),
        year: z.number().nullable(),
      }),
      avgPing24h: z.number().nullable(),
      certificate: CertificateChain.nullable(),
      pushPath: z.string().nullable().describe('Where a push monitor hears from its program.'),
    }),
  }),
  incidents: defineRoute({
    method: 'GET',
    path: '/api/uptime/incidents',
    summary: 'Outages, newest first.',
    access: read,
    query: z.object({
      open: z.stringbool().optional(),
      monitor: z.coerce.number().int().optional(),
      limit: limit(50, 500),
      before: z.coerce.number().int().optional(),
    }),
    reply: z.object({ items: z.array(Incident), nextCursor: z.int().nullable() }),
  }),
  incident: defineRoute({
    method: 'GET',
    path: '/api/uptime/incidents/:id',
    summary: 'One outage.',
    access: read,
    reply: Incident,
  }),
  acknowledge: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/ack',
    summary: 'Somebody knows: repeats stop.',
    access: write,
    reply: Incident,
  }),
  note: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/notes',
    summary: 'Writes a note into its timeline.',
    access: write,
    body: z.object({ text: z.string().trim().min(1).max(10_000) }),
    reply: Incident,
  }),
  resolve: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/resolve',
    summary: 'Ends it by hand.',
    access: write,
    reply: Incident,
  }),
  dockerHosts: defineRoute({
    method: 'GET',
    path: '/api/uptime/docker-hosts',
    summary: 'Container engines that monitors may name.',
    access: read,
    reply: z.object({ items: z.array(DockerHost) }),
  }),
  addDockerHost: defineRoute({
    method: 'POST',
    path: '/api/uptime/docker-hosts',
    summary: 'Adds a container engine: a socket, or an address such as tcp://nas:2375.',
    access: write,
    body: NewDockerHost,
    reply: DockerHost,
  }),
  removeDockerHost: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/docker-hosts/:id',
    summary: 'Removes a container engine; its monitors have none then.',
    access: write,
    reply: Done,
  }),
  testDockerHost: defineRoute({
    method: 'POST',
    path: '/api/uptime/docker-hosts/test',
    summary: 'Asks a container engine for its containers.',
    access: write,
    body: NewDockerHost.extend({ name: z.string().max(255).default('') }),
    reply: z.object({
      ok: z.literal(true),
      count: z.int(),
      containers: z.array(
        z.object({ id: z.string(), name: z.string(), image: z.string(), state: z.string(), health: z.string() }),
      ),
    }),
  }),
  apiKeys: defineRoute({
    method: 'GET',
    path: '/api/uptime/api-keys',
    summary: 'Keys for programs, without their texts.',
    access: write,
    reply: z.object({ items: z.array(ApiKey) }),
  }),
  addApiKey: defineRoute({
    method: 'POST',
    path: '/api/uptime/api-keys',
    summary: 'Makes a key; its text is shown this once.',
    access: write,
    body: z.object({ name: z.string().trim().min(1).max(255), expires: z.number().nullish() }),
    reply: z.object({ id: z.int(), key: z.string() }),
  }),
  removeApiKey: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/api-keys/:id',
    summary: 'Removes a key; it opens nothing any more.',
    access: write,
    reply: Done,
  }),
  options: defineRoute({
    method: 'GET',
    path: '/api/uptime/settings',
    summary: 'What is set while the service runs.',
    access: read,
    reply: UptimeOptions,
  }),
  setOptions: defineRoute({
    method: 'PUT',
    path: '/api/uptime/settings',
    summary: 'Sets what is named.',
    access: write,
    body: UptimeOptions.partial(),
    reply: UptimeOptions,
  }),
};
