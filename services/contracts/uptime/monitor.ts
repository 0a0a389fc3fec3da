import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { findOwn } from '../find-own.ts';

/** Status of a heartbeat, numbered as in Uptime Kuma. */
export const heartbeatStatus = { down: 0, up: 1, pending: 2, maintenance: 3 } as const;

/** Uptime Kuma's status of a heartbeat: 0 down, 1 up, 2 pending, 3 maintenance. */
export const HeartbeatStatus = z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]);
export type HeartbeatStatus = z.infer<typeof HeartbeatStatus>;

/** Accepts a number or its text, as forms send it. */
function numeric(least: number, max: number) {
  return z
    .union([
      z.number(),
      z
        .string()
        .trim()
        .regex(/^-?\d+(\.\d+)?$/, { error: m.numberInvalid })
        .transform(Number),
    ])
    .pipe(
      z
        .number()
        .min(least, { error: () => m.valueTooSmall({ min: String(least) }) })
        .max(max, { error: () => m.valueTooLarge({ max: String(max) }) }),
    );
}

/** Accepts booleans, and the 1 and 0 of Uptime Kuma's tables. */
const flag = z.union([z.boolean(), z.literal([0, 1]).transform((value) => value === 1)]);
const day = 86_400;
const longText = z.string().max(100_000).nullable().default(null);
const shortText = z.string().max(4096).nullable().default(null);
/** Accepts text, or the object that a client sends in place of its JSON. */
const jsonText = z
  .union([
    z.string().max(100_000),
    z.record(z.string(), z.unknown()).transform((value) => JSON.stringify(value, null, 2)),
  ])
  .nullable()
  .default(null);
const statusCode = z.string().regex(/^\d{3}(-\d{3})?$/, { error: m.statusCodeInvalid });

/** Thresholds of degraded performance; false disables the detection. */
export const Degradation = z.union([
  z.literal(false),
  z.object({
    /** Number of heartbeats whose median is compared. */
    window: z.int().min(3).max(99).default(9),
    /** Factor over the usual median. */
    ratio: z.number().min(1).max(100).default(1.5),
    /** Minimum difference to the usual median in ms. */
    floorMs: z.number().min(0).max(600_000).default(20),
    /** Consecutive heartbeats that begin or end the degradation. */
    openAfter: z.int().min(1).max(1000).default(3),
    closeAfter: z.int().min(1).max(1000).default(5),
    /** Minimum number of heartbeats for a usual median. */
    minSamples: z.int().min(10).max(100_000).default(100),
    /** Absolute limit in ms, independent of the usual median. */
    maxMs: z.number().min(1).max(600_000).nullable().default(null),
  }),
]);
export type Degradation = z.infer<typeof Degradation>;

/** Status changes within a period that count as flapping; false disables the detection. */
export const FlapThreshold = z.union([
  z.literal(false),
  z.object({
    changes: z.int().min(2).max(1000).default(6),
    withinSeconds: z.number().min(1).max(day).default(600),
  }),
]);
export type FlapThreshold = z.infer<typeof FlapThreshold>;

/**
 * Monitor as clients write it; field names are those of Uptime Kuma, for its clients and exports. Unknown fields are
 * preserved.
 */
export const MonitorConfig = z.looseObject({
  name: z.string().trim().min(1, { error: m.nameMissing }).max(150, { error: m.nameTooLong }),
  type: z.string().min(1).max(50),
  description: shortText,
  url: shortText,
  hostname: shortText,
  port: numeric(0, 65_535).nullable().default(null),
  active: flag.default(true),
  parent: z.int().nullable().default(null),
  weight: numeric(0, 1_000_000).nullable().default(null),
  interval: numeric(0.2, 365 * day).default(60),
  retryInterval: numeric(0.2, 365 * day)
    .nullable()
    .default(null),
  maxretries: numeric(0, 10_000).default(0),
  resendInterval: numeric(0, 1_000_000).default(0),
  timeout: numeric(0, day).nullable().default(null),
  method: z.string().max(20).nullable().default(null),
  headers: jsonText,
  body: jsonText,
  httpBodyEncoding: z.enum(['json', 'form', 'xml']).nullable().default(null),
  maxredirects: numeric(0, 100).default(10),
  accepted_statuscodes: z.array(statusCode).max(100).default(['200-299']),
  keyword: longText,
  invertKeyword: flag.nullable().default(null),
  jsonPath: z.string().max(10_000).nullable().default(null),
  jsonPathOperator: z.enum(['==', '!=', '>', '>=', '<', '<=', 'contains']).nullable().default(null),
  expectedValue: longText,
  authMethod: z.string().max(20).nullable().default(null),
  basic_auth_user: shortText,
  basic_auth_pass: longText,
  bearer_token: longText,
  tlsCert: longText,
  tlsKey: longText,
  tlsCa: longText,
  ignoreTls: flag.nullable().default(null),
  upsideDown: flag.nullable().default(null),
  expiryNotification: flag.nullable().default(null),
  cacheBust: flag.nullable().default(null),
  ipFamily: z.string().max(10).nullable().default(null),
  retryOnlyOnStatusCodeFailure: flag.nullable().default(null),
  dns_resolve_type: z.string().max(10).nullable().default(null),
  dns_resolve_server: shortText,
  docker_container: shortText,
  docker_host: z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
    .nullable()
    .default(null),
  proxyId: z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
    .nullable()
    .default(null),
  pushToken: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, { error: m.pushTokenInvalid })
    .nullable()
    .default(null),
  manual_status: HeartbeatStatus.nullable().default(null),
  degradation: Degradation.optional(),
  certWarnDays: z.array(z.int().min(0).max(3650)).max(20).nullable().default(null),
  flap: FlapThreshold.optional(),
  dependsOn: z.array(z.int()).max(100).nullable().default(null),
  notifyTag: z.string().max(500).nullable().default(null),
});
export type MonitorConfig = z.infer<typeof MonitorConfig>;

/** Fields that are sealed at rest and hidden from accounts that may not change monitors. */
export const secretFields = [
  'basic_auth_pass',
  'bearer_token',
  'tlsKey',
  'oauth_client_secret',
  'databaseConnectionString',
  'radiusPassword',
  'radiusSecret',
  'mqttPassword',
  'rabbitmqPassword',
  'gamedigToken',
  'pushToken',
  'snmp_v3_auth_password',
  'snmp_v3_priv_password',
] as const;

/**
 * Fields that may hold credentials among other things: sealed at rest like the secret ones, shown to accounts that
 * may change monitors, and redacted for all others.
 */
export const sensitiveFields = [
  'url',
  'hostname',
  'headers',
  'body',
  'tlsCert',
  'dns_resolve_server',
  'grpcUrl',
  'grpcBody',
  'grpcMetadata',
  'kafkaProducerBrokers',
  'kafkaProducerMessage',
  'kafkaProducerSaslOptions',
  'rabbitmqNodes',
  'mqttUsername',
  'radiusUsername',
  'rabbitmqUsername',
  'basic_auth_user',
  'oauth_client_id',
  'oauth_token_url',
] as const;

/** Required fields by monitor type. */
const targets: Readonly<Record<string, readonly string[]>> = {
  http: ['url'],
  keyword: ['url', 'keyword'],
  'json-query': ['url'],
  port: ['hostname', 'port'],
  docker: ['docker_container', 'docker_host'],
  ping: ['hostname'],
  dns: ['hostname'],
  smtp: ['hostname'],
  'websocket-upgrade': ['url'],
  mqtt: ['hostname', 'mqttTopic'],
  postgres: ['databaseConnectionString'],
  redis: ['databaseConnectionString'],
  ntp: ['hostname'],
};

/** Returns messages by field for missing required fields of the monitor's type. */
export function missingTarget(monitor: Readonly<Record<string, unknown>>): Record<string, string> {
  const needed = findOwn(targets, String(monitor['type'])) ?? [];
  const missingFields = needed.filter(
    (field) => monitor[field] === undefined || monitor[field] === null || monitor[field] === '',
  );
  return Object.fromEntries(missingFields.map((field) => [field, m.fieldMissing()]));
}
