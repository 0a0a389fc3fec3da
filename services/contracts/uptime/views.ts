import { z } from 'zod';
import { CodedFailure } from './causes.ts';
import { HeartbeatStatus, MonitorConfig } from './monitor.ts';

/** Result of a check; field names and the format of `time` are those of Uptime Kuma. */
export const Heartbeat = z
  .object({
    monitorID: z.int(),
    status: HeartbeatStatus,
    /** `YYYY-MM-DD HH:MM:SS.mmm` in UTC without zone, as clients of Uptime Kuma expect. */
    time: z.string(),
    msg: z.string(),
    failure: CodedFailure.optional().describe('Failure code, with which the message can be shown in any language.'),
    /** Response time in ms. */
    ping: z.number().nullable(),
    important: z.boolean(),
    /** Seconds since the previous heartbeat. */
    duration: z.number(),
    retries: z.int(),
  })
  .meta({ id: 'UptimeBeat' });
export type Heartbeat = z.infer<typeof Heartbeat>;

/** Compact state of a monitor, for lists of thousands. */
export const MonitorState = z
  .object({
    status: HeartbeatStatus.nullable().describe('Null if the monitor has not been checked yet.'),
    msg: z.string(),
    failure: CodedFailure.optional().describe('Failure code, with which the message can be shown in any language.'),
    ping: z.number().nullable(),
    /** Time of the latest heartbeat, ms since the epoch. */
    time: z.number().nullable(),
    /** Time of the last change of status, ms since the epoch. */
    since: z.number().nullable(),
    /** Share of time, 0 to 1; null when unknown. */
    uptime24h: z.number().nullable(),
    /** Remaining days of the certificate; null for none. */
    certDays: z.int().nullable(),
    degraded: z.boolean(),
    flapping: z.boolean(),
    problems: z
      .array(z.string())
      .optional()
      .describe(
        'Configured checks that have no effect, and the reason why the monitor was paused. Missing if there are ' +
          'none.',
      ),
  })
  .meta({ id: 'UptimeState' });
export type MonitorState = z.infer<typeof MonitorState>;

/** Uptime of a monitor in one hour, 0 to 1; null when unknown. */
export const UptimeHour = z.union([z.number(), z.literal('maintenance')]).nullable();
export type UptimeHour = z.infer<typeof UptimeHour>;

/** Monitor in a list of thousands; fields with default values are omitted. */
export const MonitorRow = z
  .object({
    id: z.int(),
    name: z.string(),
    type: z.string(),
    target: z.string().describe('Target of the check, without credentials.'),
    active: z.boolean(),
    parent: z.int().optional(),
    weight: z
      .int()
      .optional()
      .describe('Position in the group: higher weights come first. If missing, the weight is 2000.'),
    tags: z.array(z.int()).optional().describe("IDs of the monitor's tags."),
    state: MonitorState.pick({ status: true, ping: true, since: true, uptime24h: true }).extend({
      msg: z.string().optional().describe('Present only if the monitor is not up.'),
      failure: CodedFailure.optional(),
      certDays: z.int().optional(),
      degraded: z.literal(true).optional(),
      flapping: z.literal(true).optional(),
    }),
  })
  .meta({ id: 'UptimeMonitorRow' });
export type MonitorRow = z.infer<typeof MonitorRow>;

/** Monitor with all fields; for secrets only whether they are set. */
export const Monitor = z
  .looseObject({ id: z.int(), ...MonitorConfig.shape, state: MonitorState, secrets: z.array(z.string()) })
  .meta({ id: 'UptimeMonitor' });
export type Monitor = z.infer<typeof Monitor>;

/** Result of a check whose configuration is not stored. */
export const TestResult = z.object({
  status: HeartbeatStatus,
  msg: z.string(),
  failure: CodedFailure.optional(),
  ping: z.number().nullable().describe('Response time in ms.'),
});
export type TestResult = z.infer<typeof TestResult>;

/** Certificate of a chain, the server's own first. */
const Certificate = z.object({
  subject: z.string(),
  issuer: z.string(),
  validFrom: z.number(),
  validTo: z.number(),
  fingerprint256: z.string(),
  kind: z.enum(['server', 'self-signed', 'intermediate CA', 'root CA']),
  names: z.array(z.string()),
});

/** Certificates that a monitored server presented, leaf first. */
export const CertificateChain = z.object({
  trusted: z.boolean(),
  error: z.string().nullable(),
  chain: z.array(Certificate),
});
export type CertificateChain = z.infer<typeof CertificateChain>;

/** Aggregated heartbeats of a period of the response time chart. */
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

/** Outage of one or more monitors. */
export const Incident = z
  .object({
    id: z.int(),
    monitorIds: z.array(z.int()),
    startedAt: z.number().describe('ms since the epoch'),
    resolvedAt: z.number().nullable(),
    cause: z.string(),
    failure: CodedFailure.optional(),
    acknowledgedBy: z.string().nullable(),
    acknowledgedAt: z.number().nullable(),
    notes: z.array(z.object({ at: z.number(), by: z.string(), text: z.string() })),
  })
  .meta({ id: 'UptimeIncident' });
export type Incident = z.infer<typeof Incident>;

/** Docker or Podman engine whose containers can be monitored. */
export const DockerHost = z
  .object({ id: z.int(), name: z.string(), dockerType: z.enum(['socket', 'tcp']), dockerDaemon: z.string() })
  .meta({ id: 'UptimeDockerHost' });
export type DockerHost = z.infer<typeof DockerHost>;

/** Fields of a Docker host to create. */
export const NewDockerHost = DockerHost.omit({ id: true }).extend({
  name: z.string().trim().min(1).max(255),
  dockerDaemon: z.string().min(1).max(255),
});

/** API key for the metrics page, without its secret. */
export const ApiKey = z
  .object({
    id: z.int(),
    name: z.string(),
    createdAt: z.number(),
    expires: z.number().nullable().describe('ms since the epoch; null if it never expires.'),
    active: z.boolean(),
  })
  .meta({ id: 'UptimeApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** Options that can be changed while the service runs; the service's settings define their defaults. */
export const UptimeOptions = z
  .object({
    notifyUrl: z.string().max(2000).describe('URL to which events are posted instead of Delivery; empty for Delivery.'),
    notifyTag: z.string().max(500),
    tlsExpiryNotifyDays: z.array(z.int().min(0).max(3650)).min(1).max(20),
    keepDataPeriodDays: z.int().min(1).max(36_500),
    publicUrl: z.string().max(2000),
    timezone: z.string().max(100),
  })
  .meta({ id: 'UptimeOptions' });
export type UptimeOptions = z.infer<typeof UptimeOptions>;
