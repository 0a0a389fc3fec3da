import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { mayRead, mayWrite } from '../route-access.ts';
import { Tag } from './manage.ts';
import { HeartbeatStatus, MonitorConfig } from './monitor.ts';
import {
  ApiKey,
  Heartbeat,
  CertificateChain,
  ChartPoint,
  DockerHost,
  Incident,
  Monitor,
  MonitorRow,
  NewDockerHost,
  TestResult,
  UptimeHour,
  UptimeOptions,
} from './views.ts';

/** Published when monitors changed their status, or were added, changed or removed; pages reload what they show. */
export const uptimeChanged = defineTopic(
  'uptime.changed',
  z.object({ ids: z.array(z.int()).describe('If empty, many monitors have changed.'), at: z.number() }),
);
/** Published when checks were made; at most once in two seconds. */
export const uptimeActivity = defineTopic('uptime.worked', z.object({ at: z.number() }));

const Done = z.object({ ok: z.literal(true) });
const read = mayRead('uptime');
const write = mayWrite('uptime');
/** Monitor ids, at most a hundred. */
const ids = z.string().regex(/^\d{1,10}(,\d{1,10}){0,99}$/);
const limit = (usual: number, max: number) => z.coerce.number().int().min(1).max(max).default(usual);

/**
 * Routes below `/api/uptime` of the control listener for the pages, and below `/api` of the service's own port for
 * programs.
 */
export const uptimeApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/uptime/overview',
    summary: 'Returns a compact list of all monitors with their current status.',
    access: read,
    reply: z.object({ rows: z.array(MonitorRow), dockerHosts: z.array(DockerHost), tags: z.array(Tag) }),
  }),
  recent: defineRoute({
    method: 'GET',
    path: '/api/uptime/recent',
    summary: 'Returns the latest heartbeats of some monitors, oldest first.',
    access: read,
    query: z.object({ ids, count: limit(30, 100) }),
    reply: z.record(z.string(), z.array(z.tuple([HeartbeatStatus, z.number().nullable(), z.number()]))),
  }),
  hours: defineRoute({
    method: 'GET',
    path: '/api/uptime/hours',
    summary:
      'Returns the uptime of some monitors in each of the last 24 hours, oldest first; the current hour is ' + 'last.',
    access: read,
    query: z.object({ ids }),
    reply: z.record(z.string(), z.array(UptimeHour)),
  }),
  favicons: defineRoute({
    method: 'GET',
    path: '/api/uptime/favicons',
    summary: 'Returns the icons of monitored websites as data URLs, for those that are available within a few seconds.',
    access: read,
    query: z.object({ ids }),
    reply: z.record(z.string(), z.string()),
  }),
  monitors: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors',
    summary: 'Lists monitors, ordered by ID. For the next page, set `cursor`.',
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
    summary: 'Adds a monitor. It is checked immediately.',
    access: write,
    query: z.object({ strict: z.stringbool().optional() }),
    body: MonitorConfig,
    reply: Monitor,
  }),
  addMany: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/bulk',
    summary: 'Adds up to 1,000 monitors in one transaction. Invalid monitors are listed in the response.',
    access: write,
    body: z.object({ items: z.array(z.record(z.string(), z.unknown())).min(1).max(1000) }),
    reply: z.object({ items: z.array(z.object({ id: z.int().optional(), error: z.string().optional() })) }),
  }),
  monitor: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id',
    summary: 'Returns a monitor.',
    access: read,
    reply: Monitor,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/uptime/monitors/:id',
    summary: 'Changes the fields in the request. Null clears a field.',
    access: write,
    body: z.record(z.string(), z.unknown()),
    reply: Monitor,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: '/api/uptime/monitors/:id',
    summary: 'Replaces all fields. Secrets that are missing from the request are kept.',
    access: write,
    body: MonitorConfig,
    reply: Monitor,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/monitors/:id',
    summary: 'Deletes a monitor and its history. The monitors in a group are kept unless the request says otherwise.',
    access: write,
    query: z.object({ deleteChildren: z.stringbool().optional() }),
    reply: Done,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/pause',
    summary: 'Pauses a monitor.',
    access: write,
    reply: Done,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/resume',
    summary: 'Resumes a monitor. It is checked immediately.',
    access: write,
    reply: Done,
  }),
  check: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/check',
    summary: 'Checks a monitor now, and returns the heartbeat.',
    access: write,
    reply: Heartbeat,
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/test',
    summary:
      'Runs one check with a configuration, without storing it. With `id`, missing fields are taken from that ' +
      'monitor.',
    access: write,
    body: z.object({ id: z.int().optional(), config: z.record(z.string(), z.unknown()) }),
    reply: TestResult,
  }),
  duplicate: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/duplicate',
    summary: 'Adds a paused copy of a monitor, including its secrets.',
    access: write,
    reply: Monitor,
  }),
  beats: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/beats',
    summary: 'Lists heartbeats, newest first. For the next page, set `before` to the cursor of the previous response.',
    access: read,
    query: z.object({
      limit: limit(100, 1000),
      before: z.coerce.number().int().optional(),
      important: z.stringbool().optional(),
    }),
    reply: z.object({ items: z.array(Heartbeat), nextCursor: z.int().nullable() }),
  }),
  chart: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/chart',
    summary:
      'Returns response times, oldest first: per minute for up to a day, per hour for up to 30 days, otherwise ' +
      'per day.',
    access: read,
    query: z.object({ hours: z.coerce.number().int().min(1).max(8784).default(24) }),
    reply: z.object({
      items: z.array(ChartPoint),
      previous: z
        .array(ChartPoint)
        .describe(
          'Values for the preceding period of the same length, as far as they are stored: per hour for up to 30 ' +
            'days, otherwise per day.',
        ),
      usual: z.object({ median: z.number(), threshold: z.number() }).nullable(),
    }),
  }),
  facts: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/facts',
    summary: 'Returns the uptime, the certificate and the problems of a monitor.',
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
      pushPath: z.string().nullable().describe('Path at which a push monitor receives reports from its program.'),
      description: z.string().nullable(),
      dependsOn: z.array(z.int()).describe('Monitors whose outage suppresses the alerts of this one.'),
      problems: z
        .array(z.string())
        .describe('Configured checks that have no effect, and the reason why the monitor was paused.'),
    }),
  }),
  incidents: defineRoute({
    method: 'GET',
    path: '/api/uptime/incidents',
    summary: 'Lists outages, newest first.',
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
    summary: 'Returns an outage.',
    access: read,
    reply: Incident,
  }),
  acknowledge: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/ack',
    summary: 'Acknowledges an outage. Its notifications are no longer repeated.',
    access: write,
    reply: Incident,
  }),
  note: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/notes',
    summary: 'Adds a note to the timeline of an outage.',
    access: write,
    body: z.object({ text: z.string().trim().min(1).max(10_000) }),
    reply: Incident,
  }),
  resolve: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/resolve',
    summary: 'Resolves an outage manually.',
    access: write,
    reply: Incident,
  }),
  dockerHosts: defineRoute({
    method: 'GET',
    path: '/api/uptime/docker-hosts',
    summary: 'Lists the container engines that monitors can use.',
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
    summary: 'Removes a container engine. Monitors that used it no longer have an engine.',
    access: write,
    reply: Done,
  }),
  testDockerHost: defineRoute({
    method: 'POST',
    path: '/api/uptime/docker-hosts/test',
    summary: 'Lists the containers of a container engine.',
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
    summary: 'Lists the API keys, without their secrets.',
    access: write,
    reply: z.object({ items: z.array(ApiKey) }),
  }),
  addApiKey: defineRoute({
    method: 'POST',
    path: '/api/uptime/api-keys',
    summary: 'Creates an API key. The key is returned only in this response.',
    access: write,
    body: z.object({ name: z.string().trim().min(1).max(255), expires: z.number().nullish() }),
    reply: z.object({ id: z.int(), key: z.string() }),
  }),
  removeApiKey: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/api-keys/:id',
    summary: 'Deletes an API key. It stops working immediately.',
    access: write,
    reply: Done,
  }),
  options: defineRoute({
    method: 'GET',
    path: '/api/uptime/settings',
    summary: 'Returns the settings that can be changed while the service is running.',
    access: read,
    reply: UptimeOptions,
  }),
  setOptions: defineRoute({
    method: 'PUT',
    path: '/api/uptime/settings',
    summary: 'Changes the settings in the request.',
    access: write,
    body: UptimeOptions.partial(),
    reply: UptimeOptions,
  }),
};
